"""Turn a projection into rows; called by `mirror` alone, inside its transaction."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeVar

from django.db import models
from django.db.models import Count

from evidence.domain.findings import ValidationFinding
from evidence.domain.paths import Place, place_of
from evidence.domain.units import CuratedEvidence, EvidenceKind
from evidence.domain.validation import UnitInspection
from evidence.inspecting import Content
from evidence.models import (
    FindingRecord,
    ListedUnitRecord,
    ReviewItemRecord,
    RevisionRecord,
    SourceRecord,
    SourceState,
    UnitRecord,
    Workspace,
)
from evidence.ports import Commit, Repository
from evidence.projection import Projection
from evidence.relating import Scope
from evidence.surveying import FOLDER

INDEXED_BYTES = 1_000
"""PostgreSQL indexes no value above 2,704 bytes; names of files are at most this long."""

BATCH = 500

Item = TypeVar("Item")
Row = TypeVar("Row", bound=models.Model)


@dataclass(frozen=True, slots=True)
class Revisions:
    """New first-parent commits, oldest first, and the position of the first; or all of them."""

    commits: tuple[Commit, ...]
    first: int
    everything: bool


def revisions(repository: Repository, projection: Projection) -> Revisions:
    """Find the commits that have no row yet; all of them after a rebuild or a rewritten history."""
    known = projection.known.workspace.mirrored_commit
    last = RevisionRecord.objects.filter(
        workspace=projection.known.workspace, commit=known or None
    ).first()
    if last is not None and not projection.known.nothing:
        commits = tuple(reversed(repository.history(projection.head, after=known)))
        if commits and commits[0].parents[:1] == (known,):
            return Revisions(commits, last.position + 1, everything=False)
    commits = tuple(reversed(repository.history(projection.head)))
    return Revisions(commits, 1, everything=True)


def write_workspace(projection: Projection) -> None:
    """Keep what the workspace file says, and the hashes of the files that have no row."""
    workspace, inspected = projection.known.workspace, projection.inspected
    file = inspected.workspace.workspace
    if projection.changed.everything:
        workspace.settings_yaml = _text(inspected.workspace_yaml)
    if file is not None:
        workspace.title, workspace.language = file.title, file.language
    if inspected.manifest is not None:
        workspace.has_manifest = inspected.manifest.manifest is not None
    workspace.file_hashes = {
        path: sha256 for path, sha256 in projection.hashes.items() if not _has_row(path)
    }
    workspace.save(
        update_fields=("settings_yaml", "title", "language", "has_manifest", "file_hashes")
    )


def write_listings(projection: Projection) -> None:
    """Keep which ids the manifest lists, and where."""
    workspace, relisted = projection.known.workspace, projection.affected.relisted
    listings = projection.affected.listings or {}
    rows = ListedUnitRecord.objects.filter(workspace=workspace)
    if not projection.changed.everything:
        rows = rows.filter(evidence_id__in=relisted)
    rows.delete()
    ListedUnitRecord.objects.bulk_create(
        (
            ListedUnitRecord(
                workspace=workspace,
                evidence_id=evidence_id,
                source_file=listings[evidence_id].source or "",
            )
            for evidence_id in sorted(relisted)
            if evidence_id in listings
        ),
        batch_size=BATCH,
    )


def write_units(projection: Projection) -> None:
    """Write the rows of changed units, their review items, and who is an orphan."""
    workspace, units = projection.known.workspace, projection.inspected.units
    listings = projection.affected.listings or {}
    present = {path: unit for path, unit in units.items() if unit}
    rows = UnitRecord.objects.filter(workspace=workspace)
    _delete(rows, units.keys() - present.keys())
    if projection.changed.everything:
        _delete_others(rows, present)
    written = [
        unit_row(workspace, unit, projection.inspected.contents[path])
        for path, unit in present.items()
    ]
    written += [
        row
        for row in projection.affected.units_again.values()
        if row.evidence_id in projection.affected.relisted
    ]
    for row in written:
        listing = listings.get(row.evidence_id)
        row.is_orphan = listing is not None and listing.source is None
    _upsert(UnitRecord, written[: len(present)])
    UnitRecord.objects.bulk_update(written[len(present) :], ["is_orphan"], batch_size=BATCH)
    _write_items(written[: len(present)], present)


def unit_row(
    workspace: Workspace, inspection: UnitInspection, content: Content | None
) -> UnitRecord:
    """Give the row of a unit's file; of one that does not parse, only what its name says."""
    unit, path = inspection.unit, inspection.path
    parts = path.split("/")
    row = UnitRecord(
        workspace=workspace,
        path=path,
        blob=content.blob if content else "",
        bytes_sha256=content.sha256 if content else "",
        is_valid=unit is not None,
        evidence_id=inspection.evidence_id,
        kind=parts[1] if parts[1] in set(EvidenceKind) else "",
        title=parts[-1].removesuffix(".md")[:200],
    )
    return row if unit is None else _filled(row, unit)


def write_sources(projection: Projection) -> None:
    """Write the rows of sources whose file or entry changed, and count the units of the cited."""
    workspace, keys = projection.known.workspace, projection.affected
    rows = {path: _source_row(projection, path) for path in sorted(keys.source_keys)}
    stored = SourceRecord.objects.filter(workspace=workspace)
    gone = {path for path, row in rows.items() if not (row.blob or row.manifest_sha256)}
    kept = {path: row for path, row in rows.items() if path not in gone}
    _delete(stored, gone)
    if projection.changed.everything:
        _delete_others(stored, kept)
    cited = {path: row for path, row in keys.source_rows.items() if path not in rows}
    counts = _unit_counts(workspace, None if projection.changed.everything else {*kept, *cited})
    for path, row in (*kept.items(), *cited.items()):
        row.unit_count = counts.get(path, 0)
    _upsert(SourceRecord, list(kept.values()))
    SourceRecord.objects.bulk_update(cited.values(), ["unit_count"], batch_size=BATCH)


def state_of(row: SourceRecord) -> SourceState:
    """Give how a source stands to the last preparation (spec 20, Preparation, step 1)."""
    if not row.is_accepted:
        return SourceState.REMOVED if row.manifest_sha256 else SourceState.IGNORED
    if not row.manifest_sha256:
        return SourceState.NEW
    same = row.text_sha256 == row.manifest_sha256
    return SourceState.PREPARED if same else SourceState.CHANGED


def write_findings(projection: Projection) -> None:
    """Replace the findings of every recomputed key."""
    workspace = projection.known.workspace
    rows = FindingRecord.objects.filter(workspace=workspace)
    if projection.changed.everything:
        rows.delete()
    else:
        _delete_recomputed(rows, projection)
    FindingRecord.objects.bulk_create(
        (
            finding_row(workspace, scope, key, found)
            for (scope, key), findings in projection.findings.items()
            for found in findings
        ),
        batch_size=BATCH,
    )


def finding_row(
    workspace: Workspace, scope: Scope, key: str, found: ValidationFinding
) -> FindingRecord:
    """Give the row of a finding, its message still translatable."""
    return FindingRecord(
        workspace=workspace,
        scope=scope,
        key=_indexable(key),
        path=_indexable(found.path),
        code=found.code,
        severity=found.severity,
        template=_storable(found.message.template),
        values={name: _value(value) for name, value in found.message.values.items()},
    )


def write_revisions(workspace: Workspace, found: Revisions) -> None:
    """Write a row for every new first-parent commit; of a rewritten history, for all."""
    if found.everything:
        kept = {commit.id for commit in found.commits}
        stored = RevisionRecord.objects.filter(workspace=workspace)
        lost = set(stored.values_list("commit", flat=True)) - kept
        for batch in _batches(sorted(lost)):
            stored.filter(commit__in=batch).delete()
    rows = [
        RevisionRecord(
            workspace=workspace,
            commit=commit.id,
            position=position,
            author_name=_storable(commit.author.name)[:200],
            author_email=_storable(commit.author.email)[:320],
            authored_at=commit.at,
            message=_storable(commit.message).partition("\n")[0][:500],
        )
        for position, commit in enumerate(found.commits, found.first)
    ]
    _upsert(RevisionRecord, rows, unique="commit")


def _filled(row: UnitRecord, unit: CuratedEvidence) -> UnitRecord:
    row.kind, row.title = unit.kind.value, unit.title
    row.language = unit.language or ""
    row.purposes = [purpose.value for purpose in unit.purposes]
    row.source_file = _indexable(unit.provenance.source_file)
    row.source_sha256 = unit.provenance.source_sha256
    row.open_items = len(unit.review_items)
    words = (*unit.scope.concepts, *unit.scope.tables, *unit.scope.columns, unit.body)
    row.search_text = "\n".join((unit.id, unit.title, *words))
    return row


def _write_items(rows: Sequence[UnitRecord], units: Mapping[str, UnitInspection]) -> None:
    for batch in _batches(rows):
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


def _source_row(projection: Projection, path: str) -> SourceRecord:
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
    grouped = units.order_by().values_list("source_file").annotate(count=Count("pk"))
    return dict(grouped)


def _delete_recomputed(rows: models.QuerySet[FindingRecord], projection: Projection) -> None:
    keys: dict[Scope, list[str]] = {}
    for scope, key in projection.findings:
        keys.setdefault(scope, []).append(key)
    gone = [path for path, unit in projection.inspected.units.items() if unit is None]
    keys.setdefault(Scope.UNIT, []).extend(gone)
    for scope, names in keys.items():
        for batch in _batches(names):
            rows.filter(scope=scope, key__in=batch).delete()
    if projection.changed.refused is not None:
        rows.filter(scope=Scope.REFUSED).delete()


def _upsert(model: type[Row], rows: Sequence[Row], *, unique: str = "path") -> None:
    """Insert rows or replace what they say, keeping the keys that pages link to."""
    written = [
        field.name
        for field in model._meta.concrete_fields
        if not field.primary_key and field.name not in {"workspace", unique}
    ]
    for batch in _batches(rows):
        for row in batch:
            row.pk = None
        model._default_manager.bulk_create(
            batch,
            update_conflicts=True,
            unique_fields=["workspace", unique],
            update_fields=written,
        )


def _delete(rows: models.QuerySet[Row], paths: Collection[str]) -> None:
    for batch in _batches(sorted(paths)):
        rows.filter(path__in=batch).delete()


def _delete_others(rows: models.QuerySet[Row], kept: Collection[str]) -> None:
    stored = set(rows.order_by().values_list("path", flat=True))
    _delete(rows, stored - set(kept))


def _batches(rows: Sequence[Item]) -> Iterator[Sequence[Item]]:
    return (rows[start : start + BATCH] for start in range(0, len(rows), BATCH))


def _has_row(path: str) -> bool:
    return place_of(path.removeprefix(FOLDER)) in {Place.UNIT, Place.SOURCE} and path.startswith(
        FOLDER
    )


def _indexable(text: str) -> str:
    """Give a text that every database can index; a longer one names no file that may be here."""
    whole = _storable(text)
    return whole if len(whole.encode()) <= INDEXED_BYTES else whole[: INDEXED_BYTES // 4]


def _storable(text: str) -> str:
    """Give a text that PostgreSQL takes: no NUL, no half characters (spec 90, PostgreSQL)."""
    return text.replace("\0", "\ufffd").encode("utf-8", "replace").decode()


def _value(value: object) -> object:
    return value if isinstance(value, int) else _storable(str(value))


def _text(data: bytes | None) -> str:
    try:
        text = (data or b"").decode()
    except UnicodeDecodeError:
        return ""  # Broken, as an empty one is.
    return "" if "\0" in text else text
