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
        # Django's rule: models can be imported only from here on.
        from evidence import wiring  # noqa: PLC0415

        wiring.plug_in()
