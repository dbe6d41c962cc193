"""The rows of workspace, manifest, findings and revisions; called by `mirror` alone."""

from __future__ import annotations

from dataclasses import dataclass

from django.db.models import QuerySet

from evidence.domain.findings import ValidationFinding
from evidence.domain.paths import EVIDENCE_FOLDER
from evidence.domain.tree import DISMISSALS_PATH, WORKSPACE_FILE
from evidence.models import FindingRecord, ListedUnitRecord, RevisionRecord, Workspace
from evidence.ports import Commit, Repository
from evidence.projection import Projection
from evidence.relating import Scope
from evidence.row_writing import BATCH, batches, indexable, storable, upsert


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
    if inspected.dismissals is not None:
        content = inspected.contents.get(DISMISSALS_PATH)
        workspace.dismissals_yaml = _text(content.data if content else None)
    if file is not None:
        workspace.title, workspace.language = file.title, file.language
        workspace.review_after_months = file.evidence.review_after_months
    if inspected.manifest is not None:
        workspace.has_manifest = inspected.manifest.manifest is not None
    workspace.file_hashes = _rowless_hashes(projection)
    workspace.save(
        update_fields=(
            *("settings_yaml", "dismissals_yaml", "title", "language", "review_after_months"),
            *("has_manifest", "file_hashes"),
        )
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
        key=indexable(key),
        path=indexable(found.path),
        code=found.code,
        severity=found.severity,
        template=storable(found.message.template),
        values={name: _value(value) for name, value in found.message.values.items()},
    )


def write_revisions(workspace: Workspace, found: Revisions) -> None:
    """Write a row for every new first-parent commit; of a rewritten history, for all."""
    if found.everything:
        kept = {commit.id for commit in found.commits}
        stored = RevisionRecord.objects.filter(workspace=workspace)
        lost = set(stored.values_list("commit", flat=True)) - kept
        for batch in batches(sorted(lost)):
            stored.filter(commit__in=batch).delete()
    rows = [
        RevisionRecord(
            workspace=workspace,
            commit=commit.id,
            position=position,
            author_name=storable(commit.author.name)[:200],
            author_email=storable(commit.author.email)[:320],
            authored_at=commit.at,
            message=storable(commit.message).partition("\n")[0][:500],
        )
        for position, commit in enumerate(found.commits, found.first)
    ]
    upsert(RevisionRecord.objects.filter(workspace=workspace), rows, unique="commit")


def _delete_recomputed(rows: QuerySet[FindingRecord], projection: Projection) -> None:
    keys: dict[Scope, list[str]] = {}
    for scope, key in projection.findings:
        keys.setdefault(scope, []).append(key)
    gone = [path for path, unit in projection.inspected.units.items() if unit is None]
    keys.setdefault(Scope.UNIT, []).extend(gone)
    for scope, names in keys.items():
        for batch in batches(names):
            rows.filter(scope=scope, key__in=batch).delete()
    if projection.changed.refused is not None:
        rows.filter(scope=Scope.REFUSED).delete()


def _rowless_hashes(projection: Projection) -> dict[str, str]:
    """Give the hashes of the files that are neither units nor sources, by digest path."""
    inspected, hashes = projection.inspected, projection.hashes
    touched = inspected.contents.keys() - inspected.units.keys() - inspected.sources.keys()
    paths = {WORKSPACE_FILE, *(EVIDENCE_FOLDER + path for path in touched)}
    if not projection.changed.everything:
        paths |= projection.known.workspace.file_hashes.keys()
    return {path: hashes[path] for path in sorted(paths) if path in hashes}


def _value(value: object) -> object:
    return value if isinstance(value, int) else storable(str(value))


def _text(data: bytes | None) -> str:
    try:
        text = (data or b"").decode()
    except UnicodeDecodeError:
        return ""  # Broken, as an empty one is.
    return "" if "\0" in text else text
