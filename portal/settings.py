"""Django's settings, all derived from the typed environment in `portal.env`."""

from __future__ import annotations

from typing import Any

from csp.constants import NONE, SELF, UNSAFE_EVAL, UNSAFE_INLINE
from django.utils.translation import gettext_lazy as _

from evidence.environment import CHECKOUT
from portal import broker, databases, logs
from portal.env import load
from portal.navigation import UNFOLD  # noqa: F401  (Unfold reads it from here)

ENV = load()

SECRET_KEY = ENV.django_secret_key
DEBUG = ENV.debug
ALLOWED_HOSTS = list(ENV.allowed_hosts)
ROOT_URLCONF = "portal.urls"
WSGI_APPLICATION = "portal.wsgi.application"
DEFAULT_AUTO_FIELD = "django.db.models.BigAutoField"

INSTALLED_APPS = [
    "portal.apps.PortalConfig",
    "unfold",
    "unfold.contrib.filters",
    "unfold.contrib.forms",
    "django.contrib.admin",
    "django.contrib.auth",
    "django.contrib.contenttypes",
    "django.contrib.sessions",
    "django.contrib.messages",
    "whitenoise.runserver_nostatic",
    "django.contrib.staticfiles",
    "axes",
    "ninja",
    "django_structlog",
    "csp",
    "evidence.apps.EvidenceConfig",
    "publishing.apps.PublishingConfig",
    "search_api.apps.SearchApiConfig",
]

MIDDLEWARE = [
    "django.middleware.security.SecurityMiddleware",
    "whitenoise.middleware.WhiteNoiseMiddleware",
    "csp.middleware.CSPMiddleware",
    "django.contrib.sessions.middleware.SessionMiddleware",
    "django.middleware.locale.LocaleMiddleware",
    "django.middleware.common.CommonMiddleware",
    "django.middleware.csrf.CsrfViewMiddleware",
    "django.contrib.auth.middleware.AuthenticationMiddleware",
    "django.contrib.messages.middleware.MessageMiddleware",
    "django.middleware.clickjacking.XFrameOptionsMiddleware",
    "django_structlog.middlewares.RequestMiddleware",
    "axes.middleware.AxesMiddleware",
]

TEMPLATES = [
    {
        "BACKEND": "django.template.backends.django.DjangoTemplates",
        "APP_DIRS": True,
        "OPTIONS": {
            "context_processors": [
                "django.template.context_processors.request",
                "django.contrib.auth.context_processors.auth",
                "django.contrib.messages.context_processors.messages",
            ]
        },
    }
]

DATABASES = {"default": databases.database(ENV.database_url, ENV.home)}

AUTHENTICATION_BACKENDS = [
    "axes.backends.AxesStandaloneBackend",
    "django.contrib.auth.backends.ModelBackend",
]
AUTH_PASSWORD_VALIDATORS = [
    {"NAME": f"django.contrib.auth.password_validation.{name}"}
    for name in (
        "UserAttributeSimilarityValidator",
        "MinimumLengthValidator",
        "CommonPasswordValidator",
        "NumericPasswordValidator",
    )
]
AXES_VERBOSE = False
AXES_FAILURE_LIMIT = 8
AXES_COOLOFF_TIME = 0.25
AXES_LOCKOUT_TEMPLATE = "portal/locked.html"
AXES_LOCKOUT_PARAMETERS = [["username", "ip_address"]]
LOGIN_URL = "admin:login"
LOGIN_REDIRECT_URL = "admin:index"

LANGUAGE_CODE = "en"
LANGUAGES = [("it", _("Italian")), ("en", _("English"))]
LOCALE_PATHS = [CHECKOUT / "portal" / "locale"]
FORMAT_MODULE_PATH = "portal.formats"
USE_TZ = True
TIME_ZONE = "Europe/Rome"

STATIC_URL = "static/"
STATIC_ROOT = ENV.home / "static"
WHITENOISE_USE_FINDERS = True
WHITENOISE_AUTOREFRESH = False

SECURE_CONTENT_TYPE_NOSNIFF = True
SECURE_REFERRER_POLICY = "same-origin"
X_FRAME_OPTIONS = "DENY"
SESSION_COOKIE_HTTPONLY = True
if ENV.profile == "server":
    SECURE_SSL_REDIRECT = True
    SECURE_PROXY_SSL_HEADER = ("HTTP_X_FORWARDED_PROTO", "https")
    SECURE_HSTS_SECONDS = 31_536_000
    SECURE_HSTS_INCLUDE_SUBDOMAINS = True
    SECURE_HSTS_PRELOAD = True
    SESSION_COOKIE_SECURE = True
    CSRF_COOKIE_SECURE = True
CONTENT_SECURITY_POLICY = {
    # Unfold's Alpine evaluates expressions and sets styles; see dependencies, "Unfold".
    "DIRECTIVES": {
        "default-src": [NONE],
        "script-src": [SELF, UNSAFE_EVAL],
        "style-src": [SELF, UNSAFE_INLINE],
        "img-src": [SELF, "data:"],
        "font-src": [SELF],
        "connect-src": [SELF],
        "form-action": [SELF],
        "base-uri": [NONE],
        "frame-ancestors": [NONE],
    }
}

EVIDENCE = {
    "home": ENV.home,
    "restructurer": ENV.restructurer,
    "restructure_concurrency": ENV.restructure_concurrency,
    "pi": ENV.pi,
    "lease_s": max(600, int(2 * ENV.pi_timeout_s)),  # one call is shorter than the lease
    "git_paths": ENV.git_paths,
}
PUBLISHING: dict[str, object] = {
    "home": ENV.home,
    "vectors": ENV.vectors,
    "qdrant_url": ENV.qdrant_url,
    "qdrant_api_key": ENV.qdrant_api_key,
    "embedder": ENV.embedder,
    "embedder_url": ENV.embedder_url,
    "embedder_model": ENV.embedder_model,
    "embedder_api_key": ENV.embedder_api_key,
}
SEARCH_API: dict[str, Any] = {
    "rate_limit": ENV.rate_limit,
    "log_days": ENV.search_log_days,
    "log_text": ENV.search_log_text,
    "log_at_once": False,
}

CELERY_BROKER_URL = broker.url(ENV)

LOGGING = logs.LOGGING
logs.configure()
