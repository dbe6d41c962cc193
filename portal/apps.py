"""The project as a Django app, so that its templates, static files and translations are found."""

from __future__ import annotations

from django.apps import AppConfig

from portal.celery import app as celery_app


class PortalConfig(AppConfig):
    """Templates, static files and the groups of spec 40; with Django comes our Celery.

    Tasks are sent through whichever Celery app was made last: here, before any task is imported,
    and not in `portal/__init__.py`, where `tht evidence validate` would pay for it.
    """

    name = "portal"
    celery = celery_app

    def ready(self) -> None:
        """Fill the ports that look upward."""
        # Django's rule: models can be imported only from here on.
        from portal import wiring  # noqa: PLC0415

        wiring.plug_in()
