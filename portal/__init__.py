"""The Django project: what the packages share when they run together."""

from portal.celery import app as celery_app

__all__ = ["celery_app"]
