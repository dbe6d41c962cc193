"""The rows of units and their review items; called by `mirror` alone, inside its transaction."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from evidence.domain.unit_inspection import UnitInspection
from evidence.domain.units import CuratedEvidence, EvidenceKind
from evidence.inspecting import Content
from evidence.models import ReviewItemRecord, UnitKeyRecord, UnitRecord, Workspace
from evidence.projection import Projection
from evidence.row_writing import BATCH, batches, delete_at, delete_others, indexable, upsert
from evidence.unit_keys import Comparable


def write_units(projection: Projection) -> None:
    """Write the rows of changed units, their review items, and who is an orphan."""
    workspace, inspected = projection.known.workspace, projection.inspected
    present = {path: unit for path, unit in inspected.units.items() if unit}
    rows = UnitRecord.objects.filter(workspace=workspace)
    delete_at(rows, inspected.units.keys() - present.keys())
    if projection.changed.everything:
        delete_others(rows, present)
    made = [unit_row(workspace, unit, inspected.contents[path]) for path, unit in present.items()]
    for row in made:
        _fill_comparable(row, projection.comparables[row.path])
    _mark_orphans(made, projection)
    upsert(rows, made, unique="path")
    _write_items(made, present)
    _write_keys(made, projection.comparables)
    again = list(projection.affected.units_again.values())
    _mark_orphans(again, projection)
    UnitRecord.objects.bulk_update(again, ["is_orphan"], batch_size=BATCH)


def unit_row(
    workspace: Workspace, inspection: UnitInspection, content: Content | None
) -> UnitRecord:
    """Give the row of a unit's file; of one that does not parse, only what its name says."""
    parts = inspection.path.split("/")
    row = UnitRecord(
        workspace=workspace,
        path=inspection.path,
        blob=content.blob if content else "",
        bytes_sha256=content.sha256 if content else "",
        is_valid=inspection.unit is not None,
        evidence_id=inspection.evidence_id,
        kind=parts[1] if parts[1] in set(EvidenceKind) else "",
        title=parts[-1].removesuffix(".md")[:200],
        text_sha256=inspection.sha256,
    )
    if inspection.unit is not None:
        _fill(row, inspection.unit)
    return row


def _fill(row: UnitRecord, unit: CuratedEvidence) -> None:
    row.kind, row.title = unit.kind.value, unit.title
    row.language = unit.language or ""
    row.purposes = [purpose.value for purpose in unit.purposes]
    row.source_file = indexable(unit.provenance.source_file)
    row.source_sha256 = unit.provenance.source_sha256
    row.open_items = len(unit.review_items)
    scope = unit.scope
    words = (unit.id, unit.title, *scope.concepts, *scope.tables, *scope.columns, unit.body)
    row.search_text = "\n".join(words)


def _fill_comparable(row: UnitRecord, comparable: Comparable) -> None:
    if comparable.likeness is not None:
        row.words, row.sketch = comparable.likeness.words, list(comparable.likeness.sketch)


def _mark_orphans(rows: Sequence[UnitRecord], projection: Projection) -> None:
    listings = projection.affected.listings or {}
    for row in rows:
        listing = listings.get(row.evidence_id)
        row.is_orphan = listing is not None and listing.source is None


def _write_items(rows: Sequence[UnitRecord], units: Mapping[str, UnitInspection]) -> None:
    for batch in batches(rows):
        ReviewItemRecord.objects.filter(unit__in=[row.pk for row in batch]).delete()
    ReviewItemRecord.objects.bulk_create(
        (
            ReviewItemRecord(
                unit=row,
                ordinal=ordinal,
                code=item.code[:80],
                message=item.message,
                field=(item.field or "")[:200],
            )
            for row in rows
            if (unit := units[row.path].unit)
            for ordinal, item in enumerate(unit.review_items)
        ),
        batch_size=BATCH,
    )


def _write_keys(rows: Sequence[UnitRecord], comparables: Mapping[str, Comparable]) -> None:
    for batch in batches(rows):
        UnitKeyRecord.objects.filter(unit__in=[row.pk for row in batch]).delete()
    UnitKeyRecord.objects.bulk_create(
        (
            UnitKeyRecord(workspace=row.workspace, unit=row, key=key)
            for row in rows
            for key in sorted(comparables[row.path].keys)
        ),
        batch_size=BATCH,
    )
