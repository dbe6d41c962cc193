"""What the mirror already says, asked by key: the cost follows the question, not the corpus."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass

from evidence.changed_files import Mirrored
from evidence.domain.manifest import ManifestSource
from evidence.domain.paths import EVIDENCE_FOLDER
from evidence.domain.relations import Listing
from evidence.domain.tree import WORKSPACE_FILE
from evidence.models import (
    FindingRecord,
    ListedUnitRecord,
    SourceRecord,
    UnitRecord,
    Workspace,
)
from evidence.relating import Scope


@dataclass(frozen=True, slots=True)
class Known:
    """The rows of one workspace; when `nothing` is true every answer is empty (a rebuild)."""

    workspace: Workspace
    nothing: bool

    @property
    def commit(self) -> str:
        """Give the mirrored commit."""
        return "" if self.nothing else self.workspace.mirrored_commit

    def names(self) -> Mirrored:
        """Give what is needed to find the changed files."""
        return Mirrored(self.commit, paths=self._paths, refused=self._refused)

    def units_at(self, paths: Collection[str]) -> dict[str, UnitRecord]:
        """Give unit rows by path."""
        return self._units(path__in=paths) if paths else {}

    def units_bearing(self, ids: Collection[str]) -> dict[str, UnitRecord]:
        """Give unit rows that bear one of these ids, by path."""
        return self._units(evidence_id__in=ids) if ids else {}

    def units_citing(self, sources: Collection[str]) -> dict[str, UnitRecord]:
        """Give unit rows that cite one of these sources, by path."""
        return self._units(source_file__in=sources, is_valid=True) if sources else {}

    def sources_at(self, paths: Collection[str]) -> dict[str, SourceRecord]:
        """Give source rows by path."""
        if self.nothing or not paths:
            return {}
        rows = SourceRecord.objects.filter(workspace=self.workspace, path__in=paths).order_by()
        return {row.path: row for row in rows}

    def listings(self, ids: Collection[str] | None = None) -> dict[str, Listing]:
        """Give where the manifest listed these ids, or all."""
        if self.nothing:
            return {}
        rows = ListedUnitRecord.objects.filter(workspace=self.workspace)
        if ids is not None:
            rows = rows.filter(evidence_id__in=ids)
        pairs = rows.values_list("evidence_id", "source_file")
        return {evidence_id: Listing(source or None) for evidence_id, source in pairs}

    def entries(self) -> dict[str, str]:
        """Give the hash that the manifest kept, by source."""
        if self.nothing:
            return {}
        rows = SourceRecord.objects.filter(workspace=self.workspace).exclude(manifest_sha256="")
        return dict(rows.values_list("path", "manifest_sha256"))

    def hashes(self) -> dict[str, str]:
        """Give the SHA-256 of every file that the content digest covers, by digest path."""
        if self.nothing:
            return {}
        hashes = dict(self.workspace.file_hashes)
        for model in (UnitRecord, SourceRecord):
            rows = model.objects.filter(workspace=self.workspace).order_by()
            pairs = rows.values_list("path", "bytes_sha256")
            # A source that was removed has a row and no hash.
            hashes |= {f"{EVIDENCE_FOLDER}{path}": sha256 for path, sha256 in pairs if sha256}
        return hashes

    def _units(self, **condition: object) -> dict[str, UnitRecord]:
        if self.nothing:
            return {}
        # Without `order_by()` SQLite walks all paths in order instead of using the right index.
        rows = UnitRecord.objects.filter(workspace=self.workspace, **condition).order_by()
        return {row.path: row for row in rows.defer("search_text", "purposes")}

    def _paths(self) -> set[str]:
        return {path.removeprefix(EVIDENCE_FOLDER) for path in self.hashes()} - {WORKSPACE_FILE}

    def _refused(self) -> set[str]:
        rows = FindingRecord.objects.filter(workspace=self.workspace, scope=Scope.REFUSED)
        return set(rows.values_list("key", flat=True))


def entry_of(row: SourceRecord) -> ManifestSource | None:
    """Give a source's entry in the manifest as far as relations need it."""
    return ManifestSource(sha256=row.manifest_sha256) if row.manifest_sha256 else None
