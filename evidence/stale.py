"""Which units are stale, asked whenever a page is shown: time alone makes them so (spec 20)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from datetime import datetime

from django.db.models import Count, Q, QuerySet

from evidence.domain.staleness import stale_before
from evidence.models import UnitRecord, Workspace


def is_stale(unit: UnitRecord, now: datetime) -> bool:
    """Tell whether a unit's last change is longer ago than its workspace allows."""
    months = unit.workspace.review_after_months
    if months is None or unit.changed_at is None:
        return False
    return unit.changed_at < stale_before(now, months)


def stale_units(workspaces: Iterable[Workspace], now: datetime) -> QuerySet[UnitRecord]:
    """Give the stale units of these workspaces; one query, however many there are."""
    wanted = Q(pk__in=())
    for row in workspaces:
        if row.review_after_months is not None:
            cutoff = stale_before(now, row.review_after_months)
            wanted |= Q(workspace=row, changed_at__lt=cutoff)
    return UnitRecord.objects.filter(wanted)


def stale_counts(workspaces: Iterable[Workspace], now: datetime) -> Counter[int]:
    """Count the stale units by workspace key, with one query."""
    rows = stale_units(workspaces, now).order_by().values_list("workspace")
    return Counter(dict(rows.annotate(count=Count("pk"))))
