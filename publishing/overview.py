"""What pages, the command line and the search API may know about publication."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from django.db.models import OuterRef, Prefetch, QuerySet, Subquery

from evidence import overview as evidence_overview
from evidence.faults import CuratorFault
from evidence.messages import Message, gettext_noop
from evidence.ports import RevisionUnknown
from publishing import generations
from publishing.domain.lifecycle import ApprovalState, GenerationState
from publishing.generations import LiveGeneration
from publishing.models import Approval, Evaluation, Generation


class GenerationUnknown(CuratorFault):
    """The workspace has no such generation, or not one that may be asked."""

    code = "generation_unknown"


@dataclass(frozen=True, slots=True)
class EvaluationSummary:
    """One exam in four numbers; `report` is the JSON of spec 50."""

    id: int
    generation: UUID
    at: datetime
    passed: bool
    hit_at_5: float
    hit_at_10: float
    question_count: int
    report: dict[str, object]

    def worst(self, limit: int = 5) -> tuple[str, ...]:
        """Give the ids of the questions that found their unit last, the worst first."""
        queries = self.report.get("queries")
        rows = queries if isinstance(queries, list) else []
        return tuple(str(row["id"]) for row in sorted(rows, key=_best_rank, reverse=True)[:limit])


@dataclass(frozen=True, slots=True)
class GenerationSummary:
    """One generation as a list shows it."""

    id: UUID
    revision: str
    state: GenerationState
    unit_count: int
    point_count: int
    embedded_count: int
    progress_done: int
    progress_total: int
    embedder: str
    approved_by: str
    error_code: str
    error_message: str
    created_at: datetime
    activated_at: datetime | None
    evaluation: EvaluationSummary | None

    def as_json(self) -> dict[str, object]:
        """Give the generation as `tht publish status --json` prints it."""
        return {
            "id": str(self.id),
            "revision": self.revision,
            "state": self.state.value,
            "units": self.unit_count,
            "fragments": self.point_count,
            "embedder": self.embedder,
            "approved_by": self.approved_by or None,
            "created_at": self.created_at.isoformat(),
            "activated_at": self.activated_at.isoformat() if self.activated_at else None,
            "hit_at_5": self.evaluation.hit_at_5 if self.evaluation else None,
            "hit_at_10": self.evaluation.hit_at_10 if self.evaluation else None,
            "error": {"code": self.error_code, "message": self.error_message}
            if self.error_code
            else None,
        }


@dataclass(frozen=True, slots=True)
class OpenApproval:
    """The approval that a workspace waits for."""

    id: int
    revision: str
    approved_by: str
    approved_at: datetime
    note: str

    def as_json(self) -> dict[str, object]:
        """Give the approval as `tht publish status --json` prints it."""
        return {
            "revision": self.revision,
            "approved_by": self.approved_by,
            "approved_at": self.approved_at.isoformat(),
            "note": self.note,
        }


@dataclass(frozen=True, slots=True)
class PublicationStatus:
    """Where a workspace's publication stands; `behind` counts first-parent commits."""

    head: str
    active: GenerationSummary | None
    behind: int | None
    """None without an active generation, or when its revision left the history."""
    open_approval: OpenApproval | None
    generations: tuple[GenerationSummary, ...]

    def as_json(self) -> dict[str, object]:
        """Give `{"head", "active", "behind", "open_approval", "generations"}` (spec 70)."""
        return {
            "head": self.head,
            "active": self.active.as_json() if self.active else None,
            "behind": self.behind,
            "open_approval": self.open_approval.as_json() if self.open_approval else None,
            "generations": [one.as_json() for one in self.generations],
        }


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


def generation_summaries(workspace: str, *, limit: int = 50) -> tuple[GenerationSummary, ...]:
    """List a workspace's generations, newest first, each with its newest exam: three queries."""
    rows = _with_exams().filter(workspace=workspace)[:limit]
    return tuple(_summary(row) for row in rows)


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
    return _summary(row)


def evaluation_summaries(workspace: str, *, limit: int = 50) -> tuple[EvaluationSummary, ...]:
    """List a workspace's exams, newest first."""
    return tuple(map(_exam, Evaluation.objects.filter(workspace=workspace)[:limit]))


def open_approval(workspace: str) -> OpenApproval | None:
    """Give the approval a workspace waits for, if there is one."""
    row = Approval.objects.filter(workspace=workspace, state=ApprovalState.OPEN).first()
    if row is None:
        return None
    return OpenApproval(
        id=row.pk,
        revision=row.revision,
        approved_by=row.approved_by,
        approved_at=row.approved_at,
        note=row.note,
    )


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


def _summary(row: Generation) -> GenerationSummary:
    exams: Sequence[Evaluation] = getattr(row, "exams", ())
    return GenerationSummary(
        id=row.pk,
        revision=row.revision,
        state=GenerationState(row.state),
        unit_count=row.unit_count,
        point_count=row.point_count,
        embedded_count=row.embedded_count,
        progress_done=row.progress_done,
        progress_total=row.progress_total,
        embedder=row.embedder,
        approved_by=row.approval.approved_by if row.approval else "",
        error_code=row.error_code,
        error_message=row.error_message,
        created_at=row.created_at,
        activated_at=row.activated_at,
        evaluation=_exam(exams[0]) if exams else None,
    )


def _exam(row: Evaluation) -> EvaluationSummary:
    return EvaluationSummary(
        id=row.pk,
        generation=row.generation_id,
        at=row.at,
        passed=row.passed,
        hit_at_5=row.hit_at_5,
        hit_at_10=row.hit_at_10,
        question_count=row.question_count,
        report=row.report,
    )


def _best_rank(row: dict[str, list[dict[str, int | None]]]) -> int:
    ranks = [one["fused_rank"] for one in row["expected"] if one["fused_rank"] is not None]
    return min(ranks, default=1_000_000)
