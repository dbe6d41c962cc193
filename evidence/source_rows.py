"""The rows of sources; called by `mirror` alone, inside its transaction."""

from __future__ import annotations

from collections.abc import Collection

from django.db.models import Count

from evidence.models import SourceRecord, SourceState, UnitRecord, Workspace
from evidence.projection import Projection
from evidence.row_writing import BATCH, delete_at, delete_others, upsert


def write_sources(projection: Projection) -> None:
    """Write the rows of sources whose file or entry changed, and count the units of the cited.

    Units are counted in the database: write them first.
    """
    workspace, keys = projection.known.workspace, projection.affected
    rows = {path: _row(projection, path) for path in sorted(keys.source_keys)}
    kept = {path: row for path, row in rows.items() if row.blob or row.manifest_sha256}
    stored = SourceRecord.objects.filter(workspace=workspace)
    delete_at(stored, rows.keys() - kept.keys())
    if projection.changed.everything:
        delete_others(stored, kept)
    cited = {path: row for path, row in keys.source_rows.items() if path not in rows}
    counts = _unit_counts(workspace, None if projection.changed.everything else {*kept, *cited})
    for path, row in (*kept.items(), *cited.items()):
        row.unit_count = counts.get(path, 0)
    upsert(stored, list(kept.values()), unique="path")
    SourceRecord.objects.bulk_update(cited.values(), ["unit_count"], batch_size=BATCH)


def state_of(row: SourceRecord) -> SourceState:
    """Give how a source stands to the last preparation (spec 20, Preparation, step 1)."""
    if not row.is_accepted:
        return SourceState.REMOVED if row.manifest_sha256 else SourceState.IGNORED
    if not row.manifest_sha256:
        return SourceState.NEW
    same = row.text_sha256 == row.manifest_sha256
    return SourceState.PREPARED if same else SourceState.CHANGED


def _row(projection: Projection, path: str) -> SourceRecord:
    keys, sources = projection.affected, projection.inspected.sources
    row = keys.source_rows.get(path)
    row = row or SourceRecord(workspace=projection.known.workspace, path=path)
    if path in sources:
        inspection, content = sources[path], projection.inspected.contents[path]
        row.blob = content.blob if content else ""
        row.bytes_sha256 = content.sha256 if content else ""
        row.size = len(content.data) if content else 0
        row.is_accepted = inspection is not None and inspection.accepted
        row.text_sha256 = (inspection.sha256 or "") if inspection else ""
    entry = (keys.entries or {}).get(path)
    row.manifest_sha256 = entry.sha256 if entry else ""
    row.state = state_of(row)
    return row


def _unit_counts(workspace: Workspace, sources: Collection[str] | None) -> dict[str, int]:
    units = UnitRecord.objects.filter(workspace=workspace).exclude(source_file="")
    if sources is not None:
        units = units.filter(source_file__in=sources)
    return dict(units.order_by().values_list("source_file").annotate(count=Count("pk")))
