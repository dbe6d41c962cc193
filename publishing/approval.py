"""A person's word for one revision, and the candidate that it starts or takes over."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final
from uuid import UUID

from django.db import IntegrityError, transaction
from django.db.models import QuerySet
from django.utils import timezone

from evidence import overview
from evidence.faults import CuratorFault
from evidence.messages import Message, gettext_noop
from evidence.overview import RevisionSummary
from evidence.ports import Actor
from publishing import eligibility, four_eyes, permissions, retention, transitions
from publishing.domain.lifecycle import UNFINISHED, ApprovalState, GenerationState
from publishing.models import Approval, Generation
from publishing.transitions import Cause


class ApprovalOpen(CuratorFault):
    """Somebody approved before; the message says who and when."""

    code = "approval_open"
    hint = gettext_noop("Wait until it ends, or cancel it.")


@dataclass(frozen=True, slots=True)
class Approved:
    """An open approval and the candidate that it will activate."""

    approval: int
    generation: UUID


def approve(
    *,
    workspace: str,
    revision: str,
    content_digest: str,
    actor: Actor,
    note: str,
    head: str | None = None,
) -> Approved:
    """Record that `actor` approves this revision, and start or take over its candidate.

    `head` is the newest revision that the approver saw, when a page showed one. A rehearsed
    generation of the revision is taken over as it is. Raises `NotPermitted`, `RevisionUnknown`,
    `RevisionMoved`, `NotPublishable`, `OlderThanActive`, `AuthorMayNotApprove`, `AuthorUnknown`,
    `ApprovalOpen` (spec 50, Approval). The caller sends the task on commit.
    """
    permissions.require(actor)
    summary = eligibility.publishable(workspace, revision)
    active = eligibility.active_revision(workspace)
    four_eyes.check(workspace=workspace, active=active, revision=summary.commit, approver=actor)
    plan = _plan(workspace, summary)
    cause = Cause(actor=actor.username, at=timezone.now(), reason=note.strip())
    with transaction.atomic():
        eligibility.check_unmoved(workspace, summary, content_digest, head)
        eligibility.check_order(workspace, summary, active)
        approval = _open(workspace, summary, cause)
        generation = _take_over(plan, approval) or transitions.create(
            Generation(**plan, approval=approval), cause=cause
        )
    return Approved(approval=approval.pk, generation=generation.pk)


def rehearse(*, workspace: str, revision: str, actor: Actor) -> UUID:
    """Start the build and exam of a revision without an approval, and give its generation.

    A rehearsal of the same revision that runs or waits is given back. Raises `RevisionUnknown`,
    `NotPublishable`.
    """
    summary = eligibility.publishable(workspace, revision)
    plan = _plan(workspace, summary)
    cause = Cause(actor=actor.username, at=timezone.now())
    with transaction.atomic():
        existing = _unapproved(plan).first()
        generation = existing or transitions.create(Generation(**plan), cause=cause)
    return generation.pk


def cancel(*, workspace: str, actor: Actor, reason: str, only: int | None = None) -> None:
    """Take an open approval back; its candidate goes on as a rehearsal.

    `only` is the key of the approval that a page showed: another one, opened since, stays open.
    Raises `NotPermitted`, `ApprovalClosed` when none is open, or not that one any more.
    """
    permissions.require(actor)
    cause = Cause(actor=actor.username, at=timezone.now(), reason=reason.strip())
    with transaction.atomic():
        approval = _first_open(workspace)
        if approval is None or only not in (None, approval.pk):
            raise transitions.ApprovalClosed(Message(_NOT_OPEN if only else _NONE_OPEN))
        transitions.close_approval(
            approval, ApprovalState.CANCELLED, cause=cause, outcome=cause.reason
        )
        approval.generations.filter(state__in=_CANDIDATES).update(approval=None)
        retention.mark_rehearsals(workspace=workspace, cause=cause)


_CANDIDATES = UNFINISHED | {GenerationState.READY}
_NONE_OPEN: Final = gettext_noop("No approval is open.")
_NOT_OPEN: Final = gettext_noop("This approval is not open any more.")


def _plan(workspace: str, summary: RevisionSummary) -> Mapping[str, object]:
    """Give the columns that the revision decides; reads Git, so before any transaction."""
    file = overview.workspace_file(workspace, summary.commit)
    return {
        "workspace": workspace,
        "revision": summary.commit,
        "content_digest": summary.content_digest,
        "collection": file.collection(os.environ),
        "language": file.language,
        "fusion": file.retrieval.fusion,
        "prefetch": file.retrieval.prefetch,
    }


def _open(workspace: str, summary: RevisionSummary, cause: Cause) -> Approval:
    """Insert the approval; the partial unique index decides between two at once."""
    approval = Approval(
        workspace=workspace,
        revision=summary.commit,
        content_digest=summary.content_digest,
        approved_by=cause.actor,
        approved_at=cause.at,
        note=cause.reason,
    )
    try:
        return transitions.open_approval(approval, cause=cause)
    except IntegrityError as error:
        raise _already_open(_first_open(workspace)) from error


def _take_over(plan: Mapping[str, object], approval: Approval) -> Generation | None:
    """Bind a rehearsal of the same revision to the approval, unless it was just deleted."""
    for generation in _unapproved(plan):
        rows = Generation.objects.filter(
            pk=generation.pk, state__in=_CANDIDATES, approval__isnull=True
        )
        if rows.update(approval=approval, tries=0):
            return generation
    return None


def _unapproved(plan: Mapping[str, object]) -> QuerySet[Generation]:
    return Generation.objects.filter(**plan, approval__isnull=True, state__in=_CANDIDATES).order_by(
        "-created_at"
    )


def _first_open(workspace: str) -> Approval | None:
    return Approval.objects.filter(workspace=workspace, state=ApprovalState.OPEN).first()


def _already_open(first: Approval | None) -> ApprovalOpen:
    if first is None:
        return ApprovalOpen(Message(gettext_noop("Another approval was open at that moment.")))
    return ApprovalOpen(
        Message(
            gettext_noop("%(user)s already approved revision %(revision)s at %(at)s."),
            user=first.approved_by,
            revision=first.revision[:12],
            at=timezone.localtime(first.approved_at).strftime("%Y-%m-%d %H:%M:%S"),
        )
    )
