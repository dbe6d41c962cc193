"""What pages, the command line and the search API may know about publication."""

from __future__ import annotations

from collections.abc import Mapping
from uuid import UUID

from django.db.models import OuterRef, Prefetch, QuerySet, Subquery

from evidence import overview as evidence_overview
from evidence.faults import CuratorFault
from evidence.messages import Message, gettext_noop
from evidence.ports import RevisionUnknown
from publishing import generations, summaries
from publishing.domain.lifecycle import UNFINISHED, ApprovalState, GenerationState
from publishing.generations import LiveGeneration
from publishing.models import Approval, Evaluation, Generation
from publishing.summaries import (
    EvaluationSummary,
    GenerationSummary,
    OpenApproval,
    PublicationStatus,
)

__all__ = [
    "EvaluationSummary",
    "GenerationSummary",
    "GenerationUnknown",
    "LiveGeneration",
    "OpenApproval",
    "PublicationStatus",
    "active",
    "evaluation_summaries",
    "generation_summaries",
    "generation_summary",
    "open_approval",
    "status",
]


class GenerationUnknown(CuratorFault):
    """The workspace has no such generation, or not one that may be asked."""

    code = "generation_unknown"


def active(workspace: str) -> LiveGeneration | None:
    """Give the generation that answers now with its threshold, or None; one indexed query."""
    return generations.active(workspace)


def status(workspace: str, *, limit: int = 20) -> PublicationStatus:
    """Give head, pointer, open approval and the newest generations. Raises `WorkspaceUnknown`."""
    head = evidence_overview.workspace(workspace).head
    listed = generation_summaries(workspace, limit=limit)
    live = generations.active(workspace)
    current = generation_summary(workspace, live.stored.id) if live else None
    return PublicationStatus(
        head=head,
        active=current,
        behind=_behind(workspace, head, current),
        open_approval=open_approval(workspace),
        generations=listed,
    )


def statuses(heads: Mapping[str, str]) -> dict[str, PublicationStatus]:
    """Give, for each workspace by slug, what answers and what is under way, given its head.

    `generations` holds the unfinished ones alone. The number of queries does not depend on how
    many workspaces there are.
    """
    states = {GenerationState.ACTIVE, *UNFINISHED}
    rows = _with_exams().filter(workspace__in=heads, state__in=states)
    found = [(row.workspace, summaries.generation_of(row)) for row in rows]
    active = {slug: each for slug, each in found if each.state is GenerationState.ACTIVE}
    newest = evidence_overview.positions(heads)
    published = evidence_overview.positions({slug: each.revision for slug, each in active.items()})
    approvals = Approval.objects.filter(workspace__in=heads, state=ApprovalState.OPEN)
    waiting = {row.workspace: summaries.approval_of(row) for row in approvals}
    return {
        slug: PublicationStatus(
            head=head,
            active=active.get(slug),
            behind=newest[slug] - published[slug] if {slug} <= newest.keys() & published else None,
            open_approval=waiting.get(slug),
            generations=tuple(
                each for name, each in found if name == slug and each.state in UNFINISHED
            ),
        )
        for slug, head in heads.items()
    }


def generation_summaries(workspace: str, *, limit: int = 50) -> tuple[GenerationSummary, ...]:
    """List a workspace's generations, newest first, each with its newest exam: two queries."""
    rows = _with_exams().filter(workspace=workspace)[:limit]
    return tuple(map(summaries.generation_of, rows))


def generation_summary(workspace: str, generation_id: UUID) -> GenerationSummary:
    """Give one generation. Raises `GenerationUnknown`."""
    row = _with_exams().filter(workspace=workspace, pk=generation_id).first()
    if row is None:
        raise GenerationUnknown(
            Message(
                gettext_noop("Workspace %(workspace)s has no generation %(id)s."),
                workspace=workspace,
                id=generation_id,
            )
        )
    return summaries.generation_of(row)


def evaluation_summaries(workspace: str, *, limit: int = 50) -> tuple[EvaluationSummary, ...]:
    """List a workspace's exams, newest first."""
    return tuple(
        map(summaries.evaluation_of, Evaluation.objects.filter(workspace=workspace)[:limit])
    )


def open_approval(workspace: str) -> OpenApproval | None:
    """Give the approval a workspace waits for, if there is one."""
    row = Approval.objects.filter(workspace=workspace, state=ApprovalState.OPEN).first()
    return summaries.approval_of(row) if row else None


def _behind(workspace: str, head: str, current: GenerationSummary | None) -> int | None:
    if current is None:
        return None
    try:
        newest = evidence_overview.revision(workspace, head)
        return newest.position - evidence_overview.revision(workspace, current.revision).position
    except RevisionUnknown:
        return None


def _with_exams() -> QuerySet[Generation]:
    """Give generations with their newest exam alone: an active one is examined every night."""
    newest = Evaluation.objects.filter(generation=OuterRef("generation")).order_by("-at", "-pk")
    exams = Evaluation.objects.filter(pk=Subquery(newest.values("pk")[:1]))
    return Generation.objects.select_related("approval").prefetch_related(
        Prefetch("evaluations", queryset=exams, to_attr="exams")
    )
