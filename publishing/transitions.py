"""The only writer of generation and approval states: each step is conditional and logged."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Final

from django.db import transaction
from django.db.models import Q

from evidence.faults import CuratorFault
from evidence.messages import Message, gettext_noop
from publishing.domain.lifecycle import ApprovalState, GenerationState, check_transition
from publishing.models import Approval, Generation, PublicationEvent

_S = GenerationState
STAMPS: Final[dict[GenerationState, tuple[str, ...]]] = {
    _S.EVALUATING: ("built_at",),
    _S.READY: ("evaluated_at",),
    _S.REJECTED: ("evaluated_at", "ended_at"),
    _S.ACTIVE: ("activated_at",),
    _S.FAILED: ("ended_at",),
    _S.DELETED: ("ended_at",),
}
"""Which instants a state sets when it is entered."""

VOUCHED: Final = "vouched"
"""What the log says of an operator's word for a commit, which no generation or approval has."""


class GenerationMoved(CuratorFault):
    """Somebody else moved the generation meanwhile, or another worker holds it now."""

    code = "generation_moved"


class ApprovalClosed(CuratorFault):
    """The approval is not open any more, so it allows nothing."""

    code = "approval_closed"


@dataclass(frozen=True, slots=True)
class Cause:
    """Who moves something, when, and why: what the log keeps."""

    actor: str
    at: datetime
    reason: str = ""


def create(generation: Generation, *, cause: Cause) -> Generation:
    """Save a new candidate in its first state and log it."""
    generation.state = GenerationState.BUILDING
    with transaction.atomic():
        generation.save(force_insert=True)
        _log(generation, before="", after=GenerationState.BUILDING, cause=cause)
    return generation


def move(
    generation: Generation,
    to: GenerationState,
    *,
    cause: Cause,
    worker: str | None = None,
    only: Q | None = None,
    changes: Mapping[str, object] | None = None,
) -> None:
    """Take a generation one step along the table, and write `changes` to its row with it.

    The update is conditional on the state that the row object says, on the lease when a `worker`
    moves it, and on `only`, which may name columns of the row itself. The row object is brought up
    to date. Raises `TransitionRefused`, `GenerationMoved`; `IntegrityError` when the pointer is
    taken (the caller decides).
    """
    before = GenerationState(generation.state)
    check_transition(before, to)
    values: dict[str, object] = {
        "state": to.value,
        "tries": 0,
        **dict.fromkeys(STAMPS.get(to, ()), cause.at),
    }
    values |= changes or {}
    rows = Generation.objects.filter(only or Q(), pk=generation.pk, state=before)
    if worker is not None:
        rows = rows.filter(lease_owner=worker)
    with transaction.atomic():
        if rows.update(**values) != 1:
            raise GenerationMoved(
                Message(
                    gettext_noop("Generation %(id)s is not %(state)s any more."),
                    id=str(generation),
                    state=before.value,
                )
            )
        _log(generation, before=before, after=to, cause=cause)
    for name, value in values.items():
        setattr(generation, name, value)


def open_approval(approval: Approval, *, cause: Cause) -> Approval:
    """Save a new approval and log it; `IntegrityError` says that another one is open."""
    approval.state = ApprovalState.OPEN
    with transaction.atomic():
        approval.save(force_insert=True)
        _log_approval(approval, before="", after=ApprovalState.OPEN, cause=cause)
    return approval


def close_approval(
    approval: Approval, to: ApprovalState, *, cause: Cause, outcome: str = ""
) -> None:
    """End an open approval in the given way. Raises `ApprovalClosed` when it had ended before."""
    values: dict[str, object] = {"state": to.value, "closed_at": cause.at, "outcome": outcome}
    with transaction.atomic():
        rows = Approval.objects.filter(pk=approval.pk, state=ApprovalState.OPEN)
        if rows.update(**values) != 1:
            raise ApprovalClosed(
                Message(
                    gettext_noop("The approval of %(revision)s is not open any more."),
                    revision=str(approval),
                )
            )
        _log_approval(approval, before=ApprovalState.OPEN, after=to, cause=cause)
    for name, value in values.items():
        setattr(approval, name, value)


def log_vouch(workspace: str, commit: str, *, cause: Cause) -> None:
    """Log a word for a commit from outside: nothing moves by it, and it opens the way to a release.

    The reason logged begins with the commit, so that the log can be searched for it.
    """
    PublicationEvent.objects.create(
        workspace=workspace,
        at=cause.at,
        actor=cause.actor,
        to_state=VOUCHED,
        reason=f"{commit}: {cause.reason}",
    )


def _log(generation: Generation, *, before: str, after: str, cause: Cause) -> None:
    PublicationEvent.objects.create(
        workspace=generation.workspace,
        generation=generation,
        approval=generation.approval,
        at=cause.at,
        actor=cause.actor,
        from_state=before,
        to_state=after,
        reason=cause.reason,
    )


def _log_approval(approval: Approval, *, before: str, after: str, cause: Cause) -> None:
    PublicationEvent.objects.create(
        workspace=approval.workspace,
        approval=approval,
        at=cause.at,
        actor=cause.actor,
        from_state=before,
        to_state=after,
        reason=cause.reason,
    )
