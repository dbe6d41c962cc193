"""The project as a Django app, so that its templates, static files and translations are found."""

from __future__ import annotations

from django.apps import AppConfig


class PortalConfig(AppConfig):
    """Templates, static files and the groups of spec 40."""

    name = "portal"
