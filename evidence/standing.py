"""Where each workspace stands at its mirrored head, counted with a constant number of queries."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.db.models import Count, QuerySet

from evidence.domain.runs import RunState
from evidence.models import (
    PreparationRun,
    RevisionRecord,
    SourceRecord,
    SourceState,
    UnitRecord,
    Workspace,
)
from evidence.stale import stale_counts

NO_COUNTS = {"errors": 0, "warnings": 0, "open_review_items": 0, "orphans": 0}

Counts = dict[int, Counter[object]]


@dataclass(frozen=True, slots=True)
class WorkspaceSummary:
    """Where one workspace stands at its mirrored head."""

    slug: str
    title: str
    language: str
    branch: str
    single_approver: bool
    head: str
    mirrored_at: datetime | None
    sources_new: int
    sources_changed: int
    sources_removed: int
    units: int
    invalid: int
    open_items: int
    orphans: int
    errors: int
    warnings: int
    stale: int
    running: int
    proposals: int
    publishable: bool

    @property
    def waiting(self) -> int:
        """Give how many sources the last preparation has not seen as they are."""
        return self.sources_new + self.sources_changed + self.sources_removed


def summaries(rows: Iterable[Workspace], *, now: datetime) -> tuple[WorkspaceSummary, ...]:
    """Sum up these workspaces, in their order, as they stand at this instant."""
    workspaces = tuple(rows)
    keys = [row.pk for row in workspaces]
    sources = _counted(SourceRecord.objects.filter(workspace__in=keys), "state")
    runs = _counted(PreparationRun.objects.filter(workspace__in=keys), "state")
    units = _counted(UnitRecord.objects.filter(workspace__in=keys), "is_valid")
    heads = {
        head.workspace_id: head
        for head in RevisionRecord.objects.filter(
            workspace__in=keys, commit__in=[row.mirrored_commit for row in workspaces]
        )
    }
    stale = stale_counts(workspaces, now)
    nothing: Counter[object] = Counter()
    return tuple(
        _summary(
            row,
            head=heads.get(row.pk),
            sources=sources.get(row.pk, nothing),
            units=units.get(row.pk, nothing),
            runs=runs.get(row.pk, nothing),
            stale=stale[row.pk],
        )
        for row in workspaces
    )


def _summary(
    row: Workspace,
    *,
    head: RevisionRecord | None,
    sources: Counter[object],
    units: Counter[object],
    runs: Counter[object],
    stale: int,
) -> WorkspaceSummary:
    counts = (head.summary if head else None) or NO_COUNTS
    return WorkspaceSummary(
        slug=row.slug,
        title=row.title,
        language=row.language,
        branch=row.branch,
        single_approver=row.single_approver,
        head=row.mirrored_commit,
        mirrored_at=row.mirrored_at,
        sources_new=sources[SourceState.NEW],
        sources_changed=sources[SourceState.CHANGED],
        sources_removed=sources[SourceState.REMOVED],
        units=units.total(),
        invalid=units[False],
        open_items=counts["open_review_items"],
        orphans=counts["orphans"],
        errors=counts["errors"],
        warnings=counts["warnings"],
        stale=stale,
        running=runs[RunState.WAITING] + runs[RunState.RUNNING],
        proposals=runs[RunState.PROPOSED],
        publishable=head is not None and head.is_publishable,
    )


def _counted(rows: QuerySet[Any], column: str) -> Counts:
    """Count rows by workspace and by the value of a column, with one query."""
    counted: Counts = {}
    grouped = rows.order_by().values_list("workspace", column).annotate(count=Count("pk"))
    for workspace, value, count in grouped:
        counted.setdefault(workspace, Counter())[value] = count
    return counted
