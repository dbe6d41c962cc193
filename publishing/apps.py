"""The package as a Django app."""

from __future__ import annotations

from django.apps import AppConfig
from django.core.checks import register
from django.utils.translation import gettext_lazy as _

from publishing.checks import check_settings


class PublishingConfig(AppConfig):
    """Its models, admin, checks and translations."""

    name = "publishing"
    verbose_name = _("Publishing")

    def ready(self) -> None:
        """Register the checks."""
        register(check_settings)
