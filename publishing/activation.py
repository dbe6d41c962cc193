"""Move the one pointer: to a candidate that passed, or back to a retained generation."""

from __future__ import annotations

from typing import Final
from uuid import UUID

from django.db import IntegrityError, transaction
from django.utils import timezone

from evidence.faults import CuratorFault, OperatorFault, OutsideFault
from evidence.messages import Message, gettext_noop
from evidence.ports import Actor
from publishing import permissions, transitions
from publishing.domain.digests import PointsSummary
from publishing.domain.lifecycle import ApprovalState, GenerationState
from publishing.generations import stored
from publishing.leases import Hold
from publishing.models import Approval, Generation, PublicationEvent
from publishing.parts import check_embedder
from publishing.ports import Embedder, VectorStore
from publishing.transitions import ApprovalClosed, Cause

_S = GenerationState
NO_REASON: Final = Message(gettext_noop("Say why you roll back."))


class PointsDiffer(OperatorFault):
    """The store does not hold what the build wrote, by count or by digest."""

    code = "points_differ"
    hint = gettext_noop("Approve the revision again; it is built afresh.")


class ApprovalOvertaken(CuratorFault):
    """The approval is not for this revision, or a later approval was activated before it."""

    code = "approval_overtaken"


class PointerMoved(OutsideFault):
    """Another generation became active at the same moment; the next try sees it."""

    code = "pointer_moved"


class RollbackRefused(CuratorFault):
    """There is no such generation to go back to, or no reason was given."""

    code = "rollback_refused"


def activate(*, hold: Hold, store: VectorStore) -> None:
    """Make a ready candidate the one that answers, in one short transaction (spec 50, Activate).

    Raises `PointsDiffer`, `ApprovalClosed`, `ApprovalOvertaken`, `PointerMoved`, `GenerationMoved`.
    """
    generation = hold.generation
    approval = generation.approval
    if approval is None:
        raise ApprovalClosed(Message(gettext_noop("The approval was taken back.")))
    _check_points(generation, store.summary(stored(generation), beat=hold.keep))
    cause = Cause(actor=approval.approved_by, at=hold.clock(), reason=approval.note)
    with transaction.atomic():
        _check_approval(approval, generation)
        transitions.close_approval(approval, ApprovalState.ACTIVATED, cause=cause)
        _point_at(generation, cause=cause, worker=hold.worker)
        _check_unrolled(approval, generation)


def roll_back(
    *,
    workspace: str,
    to: UUID | None,
    actor: Actor,
    note: str,
    store: VectorStore,
    embedder: Embedder,
) -> UUID:
    """Point at a retained generation again, without a build, and give its id (spec 50, Rollback).

    `to` None means the one that answered before the active one first did. One whose vectors are
    another embedder's could answer nothing. Raises `NotPermitted`, `RollbackRefused`,
    `EmbedderChanged`, `PointsDiffer`, `PointerMoved`, and what store and embedder raise.
    """
    permissions.require(actor)
    if not note.strip():
        raise RollbackRefused(NO_REASON)
    target = _target(workspace, to)
    check_embedder(target, embedder)
    _check_points(target, store.summary(stored(target)))
    cause = Cause(actor=actor.username, at=timezone.now(), reason=note.strip())
    with transaction.atomic():
        _point_at(target, cause=cause, worker=None)
    return target.pk


def _point_at(generation: Generation, *, cause: Cause, worker: str | None) -> None:
    """Supersede what is active and put `generation` in its place; the unique index decides."""
    before = Generation.objects.filter(
        workspace=generation.workspace, state=GenerationState.ACTIVE
    ).first()
    try:
        with transaction.atomic():
            if before is not None:
                transitions.move(before, GenerationState.SUPERSEDED, cause=cause)
            transitions.move(generation, GenerationState.ACTIVE, cause=cause, worker=worker)
    except IntegrityError as error:
        raise PointerMoved(
            Message(gettext_noop("Another generation became active at the same moment."))
        ) from error


def _target(workspace: str, to: UUID | None) -> Generation:
    retained = Generation.objects.filter(workspace=workspace, state=GenerationState.SUPERSEDED)
    found = retained.filter(pk=to).first() if to is not None else _answered_before(workspace)
    if found is None:
        raise RollbackRefused(
            Message(gettext_noop("There is no such retained generation to go back to."))
        )
    return found


def _answered_before(workspace: str) -> Generation | None:
    """Give the retained generation that answered last before the active one first did.

    The log knows: a rehearsal may have been made long before it was approved, and one that was
    gone back to answered later than the one that it took over from.
    """
    answers = PublicationEvent.objects.filter(workspace=workspace, to_state=GenerationState.ACTIVE)
    first = answers.filter(generation__state=GenerationState.ACTIVE).order_by("pk").first()
    if first is None:
        return None
    earlier = answers.filter(generation__state=GenerationState.SUPERSEDED, pk__lt=first.pk)
    last = earlier.select_related("generation").order_by("-pk").first()
    return last.generation if last else None


def _check_approval(approval: Approval, generation: Generation) -> None:
    later = Approval.objects.filter(
        workspace=approval.workspace, state=ApprovalState.ACTIVATED, pk__gt=approval.pk
    )
    bound = (approval.revision, approval.content_digest)
    if bound != (generation.revision, generation.content_digest) or later.exists():
        raise _overtaken(generation)


def _check_unrolled(approval: Approval, generation: Generation) -> None:
    """Refuse an approval that a roll back followed: it was given knowing another active revision.

    Its release preview, its order and its authors were judged from that one. Asked after the
    pointer moved, in the same transaction: whoever moved it earlier is seen, whoever would move it
    later finds another generation active.
    """
    events = PublicationEvent.objects.filter(workspace=approval.workspace)
    opened = events.filter(approval=approval, to_state=ApprovalState.OPEN).order_by("pk").first()
    moved = events.filter(to_state=_S.ACTIVE).exclude(generation=generation)
    if opened is not None and moved.filter(pk__gt=opened.pk).exists():
        raise ApprovalOvertaken(
            Message(
                gettext_noop(
                    "Somebody rolled back after this revision was approved. Look at what it"
                    " changes now, and approve it again."
                )
            )
        )


def _check_points(generation: Generation, found: PointsSummary) -> None:
    expected = PointsSummary(count=generation.point_count, digest=generation.points_digest)
    if found != expected:
        raise PointsDiffer(
            Message(
                gettext_noop(
                    "The store holds %(found)s fragments of generation %(id)s, or other ones;"
                    " %(expected)s were written."
                ),
                found=found.count,
                expected=expected.count,
                id=str(generation),
            )
        )


def _overtaken(generation: Generation) -> ApprovalOvertaken:
    return ApprovalOvertaken(
        Message(
            gettext_noop("No approval in force allows generation %(id)s to become active."),
            id=str(generation),
        )
    )
