"""The units of a tree by id: where each file lies, the unit it holds, the bytes to write."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from evidence.domain.codec import dump_curated_markdown, parse_curated_markdown
from evidence.domain.identifiers import EVIDENCE_ID, ID_PREFIX, unit_path
from evidence.domain.normalization import normalize_source
from evidence.domain.paths import CURATED_FOLDER
from evidence.domain.tree import EvidenceTree
from evidence.domain.units import CuratedEvidence

UNIT_SUFFIX = ".md"


@dataclass(frozen=True, slots=True)
class UnitFiles:
    """Unit files by id; the file name is the id's slug (spec 10), so none is parsed unasked."""

    tree: EvidenceTree
    paths: Mapping[str, str]

    @classmethod
    def of(cls, tree: EvidenceTree) -> UnitFiles:
        """Index a tree; of two files with one id the first path counts."""
        paths: dict[str, str] = {}
        for path in tree.under(CURATED_FOLDER):
            evidence_id = ID_PREFIX + path.rpartition("/")[2].removesuffix(UNIT_SUFFIX)
            if path.endswith(UNIT_SUFFIX) and EVIDENCE_ID.match(evidence_id):
                paths.setdefault(evidence_id, path)
        return cls(tree, paths)

    def unit(self, evidence_id: str) -> CuratedEvidence:
        """Give a unit that has a file. Raises the codec's faults, with the path."""
        path = self.paths[evidence_id]
        return parse_curated_markdown(normalize_source(self.tree.files[path], path=path), path=path)

    def writing(self, unit: CuratedEvidence) -> dict[str, bytes | None]:
        """Give the changes that store a unit: its file, and the deletion of one in another folder.

        Empty when the stored unit equals it. Raises `UnitTooLarge`.
        """
        old, path = self.paths.get(unit.id), unit_path(unit.kind, unit.id)
        if old == path and self.unit(unit.id) == unit:
            return {}
        moved: dict[str, bytes | None] = {} if old in {None, path} else {str(old): None}
        return {**moved, path: dump_curated_markdown(unit).encode()}
