"""The portal's own settings for programs of robustness tests, over the test's own database."""

from __future__ import annotations

import os

from portal.settings import *  # noqa: F403
from portal.settings import DATABASES

if name := os.environ.get("DATABASE_NAME"):
    DATABASES["default"]["NAME"] = name
if os.environ.get("SEEDED_BUG") == "deferred":
    DATABASES["default"]["OPTIONS"]["transaction_mode"] = "DEFERRED"
