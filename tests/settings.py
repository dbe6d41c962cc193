"""The portal's own settings in a temporary home, on SQLite or on the PostgreSQL that is named."""

from __future__ import annotations

import atexit
import os
import shutil
import tempfile
from pathlib import Path

HOME = Path(tempfile.mkdtemp(prefix="portal-tests-"))
atexit.register(shutil.rmtree, HOME, ignore_errors=True)
for name in [name for name in os.environ if name.startswith("PORTAL_")]:
    del os.environ[name]
(HOME / "static").mkdir()  # WhiteNoise warns where it is missing
os.environ["PORTAL_HOME"] = str(HOME)
if url := os.environ.get("TEST_DATABASE_URL"):
    os.environ["PORTAL_DATABASE_URL"] = url

from portal.settings import *  # noqa: E402, F403
from portal.settings import DATABASES, PUBLISHING, SEARCH_API  # noqa: E402

# A file, not memory: threads of one test must see one database, as processes do in production.
DATABASES["default"]["TEST"] = (
    {} if os.environ.get("TEST_DATABASE_URL") else {"NAME": str(HOME / "test.sqlite3")}
)
# Tests change the pointer and keys and ask at once; what is remembered has tests of its own.
PUBLISHING |= {"remember_s": 0}
SEARCH_API |= {"remember_s": 0}
SEARCH_API["log_at_once"] = True  # a thread is outside the test's transaction
PASSWORD_HASHERS = ["django.contrib.auth.hashers.MD5PasswordHasher"]
STORAGES = {
    "default": {"BACKEND": "django.core.files.storage.FileSystemStorage"},
    "staticfiles": {"BACKEND": "django.contrib.staticfiles.storage.StaticFilesStorage"},
}
