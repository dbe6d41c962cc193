"""Validate a tree by what is known of it: only files that changed are parsed, and their relatives.

The report equals that of `validation.validate`. Of unchanged files it needs a digest and a few
comparisons each; a relation is run in full only where these leave a doubt.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from types import MappingProxyType

from evidence.domain.contradictions import check_subject
from evidence.domain.findings import ValidationFinding, ValidationReport, report_of
from evidence.domain.inspection import SourceInspection, inspect_source
from evidence.domain.likeness import check_likenesses
from evidence.domain.manifest import ManifestSource
from evidence.domain.memory import (
    NOTHING_KNOWN,
    KnownSource,
    KnownUnit,
    Memory,
    context_of,
    known_source,
    known_unit,
)
from evidence.domain.paths import Place, place_of
from evidence.domain.relations import (
    UNKNOWN_MANIFEST,
    Listing,
    check_evaluation,
    check_id,
    check_listed,
    check_source,
    check_unit,
)
from evidence.domain.subjects import Subject, sayings_of
from evidence.domain.tree import EvidenceTree, RefusedPath, sha256_hex
from evidence.domain.unit_inspection import UnitInspection, inspect_unit
from evidence.domain.validation import SingleFiles, refused_path, single_files

Digests = Mapping[str, str]
"""The SHA-256 of the bytes of files, in 64 hex digits, by path."""
NONE_HASHED: Digests = MappingProxyType({})


@dataclass(frozen=True, slots=True)
class Revalidation:
    """The report on a tree, and what is known of its files from now on."""

    report: ValidationReport
    memory: Memory


def revalidate(
    tree: EvidenceTree, known: Memory = NOTHING_KNOWN, *, digests: Digests = NONE_HASHED
) -> Revalidation:
    """Validate a tree (spec 20, Validation); never raises for content.

    `digests` are those that the caller computed already, of files of this very tree.
    """
    work = _Revalidation.of(tree, known, digests)
    found = list(work.findings())
    manifest = work.single.manifest.manifest
    report = report_of(
        found,
        open_review_items=sum(unit.review_items for unit in work.units.values()),
        orphans=len(manifest.orphans) if manifest else 0,
    )
    return Revalidation(report, Memory(context_of(tree), work.units, work.sources))


@dataclass(slots=True)
class _Revalidation:
    """Known files by path, and the inspections of those that had to be looked at."""

    tree: EvidenceTree
    single: SingleFiles
    units: dict[str, KnownUnit] = field(default_factory=dict)
    sources: dict[str, KnownSource] = field(default_factory=dict)
    misplaced: list[RefusedPath] = field(default_factory=list)
    unit_looks: dict[str, UnitInspection] = field(default_factory=dict)
    source_looks: dict[str, SourceInspection] = field(default_factory=dict)

    @classmethod
    def of(cls, tree: EvidenceTree, known: Memory, digests: Digests) -> _Revalidation:
        """Look at every file that is not known."""
        made = cls(tree, single_files(tree))
        known = known.under(context_of(tree))
        for path in sorted(tree.files):
            place = place_of(path)
            if place is Place.UNIT or place is Place.SOURCE:
                digest = digests.get(path) or sha256_hex(tree.files[path])
                if place is Place.UNIT:
                    made.units[path] = known.unit(path, digest) or made.new_unit(path, digest)
                else:
                    made.sources[path] = known.source(path, digest) or made.new_source(path, digest)
            elif place is None:
                made.misplaced.append(RefusedPath(path, "path_refused"))
        return made

    def new_unit(self, path: str, digest: str) -> KnownUnit:
        """Inspect a unit, and keep what matters."""
        return known_unit(self.unit(path), digest, language=self.single.workspace.language)

    def new_source(self, path: str, digest: str) -> KnownSource:
        """Inspect a source, and keep what matters."""
        return known_source(self.source(path), digest)

    def unit(self, path: str) -> UnitInspection:
        """Give a unit's inspection, made once."""
        if path not in self.unit_looks:
            self.unit_looks[path] = inspect_unit(path, self.tree.files[path])
        return self.unit_looks[path]

    def source(self, path: str) -> SourceInspection:
        """Give a source's inspection, made once."""
        if path not in self.source_looks:
            data, workspace = self.tree.files[path], self.tree.workspace
            self.source_looks[path] = inspect_source(path, data, workspace)
        return self.source_looks[path]

    def findings(self) -> Iterator[ValidationFinding]:
        """Give all findings, in no order."""
        for refused in (*self.tree.refused, *self.misplaced):
            yield refused_path(refused)
        yield from self.single.findings()
        for unit in self.units.values():
            yield from unit.findings
        for source in self.sources.values():
            yield from source.findings
        yield from self._against_the_manifest()
        yield from self._contradictions()
        yield from self._likenesses()

    def _against_the_manifest(self) -> Iterator[ValidationFinding]:
        bearers = _bearers(self.units)
        for evidence_id, paths in bearers.items():
            if len(paths) > 1:
                yield from check_id(evidence_id, paths)
        manifest, evaluation = self.single.manifest.manifest, self.single.evaluation.evaluation
        owners = manifest.owners() if manifest else {}
        yield from self._against_their_sources(owners, unknown=manifest is None)
        for evidence_id in owners.keys() - bearers.keys():
            yield from check_listed(evidence_id, bearers)
        if manifest:
            yield from self._against_their_entries(manifest.sources)
        if evaluation:
            yield from check_evaluation(evaluation, bearers)

    def _against_their_entries(
        self, entries: Mapping[str, ManifestSource]
    ) -> Iterator[ValidationFinding]:
        for path in self.sources.keys() | entries.keys():
            source, entry = self.sources.get(path), entries.get(path)
            if source is None or entry is None or source.sha256 != entry.sha256:
                yield from check_source(path, source.at(path) if source else None, entry)

    def _against_their_sources(
        self, owners: Mapping[str, str | None], *, unknown: bool
    ) -> Iterator[ValidationFinding]:
        for path, unit in self.units.items():
            source = self.sources.get(unit.cited)
            owner = owners.get(unit.evidence_id)
            supported = source is not None and source.sha256 == unit.supported_by != ""
            if not unit.cited or (supported and owner == unit.cited):
                continue
            listing = Listing(owner) if unit.evidence_id in owners else None
            found = tuple(
                check_unit(
                    self.unit(path),
                    listing=UNKNOWN_MANIFEST if unknown else listing,
                    source=self.source(unit.cited) if source else None,
                )
            )
            yield from found
            if not found and source is not None and source.sha256 is not None:
                self.units[path] = replace(unit, supported_by=source.sha256)

    def _contradictions(self) -> Iterator[ValidationFinding]:
        speakers: dict[Subject, list[str]] = {}
        for path, unit in self.units.items():
            if unit.subject is not None:
                speakers.setdefault(unit.subject, []).append(path)
        for subject, paths in speakers.items():
            if len(paths) > 1 and len(set(map(self._said, paths))) > 1:
                dismissed = self.single.dismissals.dismissals
                yield from check_subject(subject, list(map(self.unit, paths)), dismissed)

    def _said(self, path: str) -> str:
        """Give a digest of what a unit says of its subject; those with the same one agree."""
        known = self.units[path]
        unit = None if known.said else self.unit(path).unit
        if unit is not None:
            said = json.dumps(dict(sayings_of(unit.payload)), sort_keys=True)
            digest = hashlib.blake2b(said.encode(), digest_size=16).hexdigest()
            known = self.units[path] = replace(known, said=digest)
        return known.said

    def _likenesses(self) -> Iterator[ValidationFinding]:
        likenesses = tuple(filter(None, (unit.likeness for unit in self.units.values())))
        yield from check_likenesses(likenesses, self.single.dismissals.dismissals)


def _bearers(units: Mapping[str, KnownUnit]) -> dict[str, list[str]]:
    bearers: dict[str, list[str]] = {}
    for path, unit in units.items():
        bearers.setdefault(unit.evidence_id, []).append(path)
    return bearers
