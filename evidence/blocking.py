"""What blocks the mirrored head, by name: units in doubt, orphans, files with an error."""

from __future__ import annotations

from typing import Final

from django.db.models import Q

from evidence.models import FindingRecord, UnitRecord

FIRST: Final = 10
"""How many are named; a page lists the rest."""


def names(slug: str, commit: str) -> tuple[str, ...]:
    """Give the ids of units in doubt or orphaned and the paths with an error, the first ten.

    Empty for a revision that is not the mirrored head, of which no rows are kept.
    """
    here = {"workspace__slug": slug, "workspace__mirrored_commit": commit}
    waiting = UnitRecord.objects.filter(Q(open_items__gt=0) | Q(is_orphan=True), **here)
    errors = FindingRecord.objects.filter(severity="error", **here)
    units = waiting.order_by("path").values_list("evidence_id", "path")[:FIRST]
    paths = errors.order_by("path").values_list("path", flat=True).distinct()[:FIRST]
    found = [evidence_id or path for evidence_id, path in units]
    return tuple(dict.fromkeys([*found, *paths]))[:FIRST]
