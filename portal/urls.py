"""Where everything is served."""

from __future__ import annotations

from django.contrib import admin
from django.urls import include, path
from django.views.generic import RedirectView

from portal import health
from search_api.api import api

urlpatterns = [
    path("", RedirectView.as_view(pattern_name="admin:index")),
    path("healthz", health.alive),
    path("api/v1/", api.urls),
    path("i18n/", include("django.conf.urls.i18n")),
    path("admin/", admin.site.urls),
]

handler500 = "portal.failures.server_error"
