"""The package as a Django app."""

from __future__ import annotations

from django.apps import AppConfig
from django.utils.translation import gettext_lazy as _


class EvidenceConfig(AppConfig):
    """Its models, admin and translations."""

    name = "evidence"
    verbose_name = _("Evidence")

    def ready(self) -> None:
        """Plug the adapters in."""
        from evidence import wiring  # Django's rule: models can be imported only from here on.

        wiring.plug_in()
