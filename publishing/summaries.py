"""Frozen summaries of generations, exams and approvals, and how JSON shows them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from publishing.domain.lifecycle import GenerationState
from publishing.models import Approval, Evaluation, Generation


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


def generation_of(row: Generation) -> GenerationSummary:
    """Summarize a row; its `exams`, where they were read with it, are newest first."""
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
        evaluation=evaluation_of(exams[0]) if exams else None,
    )


def evaluation_of(row: Evaluation) -> EvaluationSummary:
    """Summarize a row."""
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


def approval_of(row: Approval) -> OpenApproval:
    """Summarize a row."""
    return OpenApproval(
        id=row.pk,
        revision=row.revision,
        approved_by=row.approved_by,
        approved_at=row.approved_at,
        note=row.note,
    )


def _best_rank(row: dict[str, list[dict[str, int | None]]]) -> int:
    ranks = [one["fused_rank"] for one in row["expected"] if one["fused_rank"] is not None]
    return min(ranks, default=1_000_000)
