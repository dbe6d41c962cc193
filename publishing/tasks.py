"""Deliveries of the queue: each takes an id, makes one call, and may come twice."""

from __future__ import annotations

from uuid import UUID

from celery import shared_task
from django.utils import timezone

from publishing import leases, publication, wiring


@shared_task
def advance_generation(generation_id: str) -> str:
    """Take one candidate as far as it goes and give the state it reached."""
    state = publication.advance(
        UUID(generation_id), worker=leases.worker_name(), parts=wiring.parts()
    )
    return state.value


@shared_task
def wake_generations() -> int:
    """Wake every candidate without a live lease, so that a lost message only delays (spec 50)."""
    waiting = leases.due(timezone.now())
    for generation_id in waiting:
        advance_generation.delay(str(generation_id))
    publication.tidy(parts=wiring.parts())
    return len(waiting)
