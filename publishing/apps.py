"""The package as a Django app."""

from __future__ import annotations

from django.apps import AppConfig
from django.utils.translation import gettext_lazy as _


class PublishingConfig(AppConfig):
    """Its models, admin and translations."""

    name = "publishing"
    verbose_name = _("Publishing")
