"""Deliveries of the queue: what is swept now and then; each may come twice."""

from __future__ import annotations

from celery import shared_task
from django.utils import timezone

from search_api import search_log


@shared_task
def sweep_search_log() -> int:
    """Forget searches and gaps that are older than the settings say."""
    return search_log.sweep(now=timezone.now())
