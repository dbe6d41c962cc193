"""What may go: old generations, spare rehearsals, failed candidates, and vectors nobody uses."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime
from typing import Final

import structlog
from django.db.models import Min, Q

from evidence.faults import Fault
from evidence.messages import Message, gettext_noop
from evidence.ports import Repository
from publishing import groundings, transitions
from publishing.domain.lifecycle import REHEARSED, GenerationState
from publishing.generations import stored
from publishing.models import EmbeddingRecord, Generation
from publishing.ports import VectorStore
from publishing.transitions import Cause, GenerationMoved

log = structlog.get_logger(__name__)
_S = GenerationState
_UNAPPROVED: Final = Q(approval__isnull=True)
_GONE: Final = frozenset({_S.DELETING, _S.DELETED})

TOO_OLD: Final = Message(gettext_noop("More generations than the workspace keeps."))
REPLACED: Final = Message(gettext_noop("A newer rehearsal is ready."))
OVER: Final = Message(gettext_noop("A later generation became active."))


def mark_after_activation(*, workspace: str, retained: int, cause: Cause) -> None:
    """Mark what is beyond the active generation and the `retained - 1` before it for deletion.

    Candidates that failed or were rejected go too; their rows and reports stay readable.
    """
    rows = Generation.objects.filter(workspace=workspace)
    older = rows.filter(state=_S.SUPERSEDED).order_by("-activated_at")
    for generation in older[max(retained - 1, 0) :]:
        _mark(generation, cause=_because(cause, TOO_OLD))
    for generation in rows.filter(state__in=(_S.FAILED, _S.REJECTED)):
        _mark(generation, cause=_because(cause, OVER))


def mark_rehearsals(*, workspace: str, cause: Cause) -> None:
    """Keep the newest ready generation that nobody approved, and mark the others."""
    waiting = Generation.objects.filter(_UNAPPROVED, workspace=workspace, state=_S.READY)
    for generation in waiting.order_by("-created_at")[1:]:
        _mark(generation, cause=_because(cause, REPLACED), only=_UNAPPROVED)


def remove_marked(
    *, store: VectorStore, repository: Callable[[str], Repository], cause: Cause
) -> int:
    """Delete the points of marked generations and give how many are gone; others wait for later."""
    removed = 0
    for generation in Generation.objects.filter(state=_S.DELETING):
        try:
            store.delete(stored(generation))
            groundings.forget(generation)
            repository(generation.workspace).unpin(pin_name(generation))
            transitions.move(generation, _S.DELETED, cause=cause)
        except Fault as fault:
            log.warning("generation_not_deleted", generation=str(generation.pk), code=fault.code)
        else:
            removed += 1
    return removed


def sweep_vectors() -> int:
    """Forget vectors that no kept generation uses, and give how many.

    A build touches every vector it wants, so one last used before the oldest kept generation was
    created belongs to none of them. A failed one counts as kept: its texts will be tried again.
    """
    kept = Generation.objects.exclude(state__in=_GONE)
    oldest = kept.aggregate(oldest=Min("created_at"))["oldest"]
    if oldest is None:
        return 0
    return EmbeddingRecord.objects.filter(used_at__lt=oldest).delete()[0]


def forget_questions(*, now: datetime) -> int:
    """Forget replayed questions that the search log forgot, or of what nobody decides on now."""
    over = Q(replay_until__lt=now) | ~Q(state__in=REHEARSED)
    rows = Generation.objects.filter(over, replay_until__isnull=False)
    return rows.update(replay={}, replay_until=None)


def pin_name(generation: Generation) -> str:
    """Give the name below `refs/evidence/` that keeps the generation's commit reachable."""
    return f"generations/{generation.pk}"


def _mark(generation: Generation, *, cause: Cause, only: Q | None = None) -> None:
    try:
        transitions.move(generation, _S.DELETING, cause=cause, only=only)
    except GenerationMoved as moved:
        log.info("generation_kept", generation=str(generation.pk), why=str(moved.message))


def _because(cause: Cause, reason: str) -> Cause:
    return Cause(actor=cause.actor, at=cause.at, reason=reason)
