"""From a revision to what the mirror must say: read, inspect, relate; nothing is written here."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from evidence.affected import Affected, affected, manifest_was_lost_or_found, manifested
from evidence.changed_files import Changed, changed_since
from evidence.comparing import compare
from evidence.domain.findings import ValidationFinding
from evidence.domain.inspection import EvaluationInspection, SourceInspection, inspect_evaluation
from evidence.domain.paths import EVIDENCE_FOLDER
from evidence.domain.tree import (
    DISMISSALS_PATH,
    EVALUATION_PATH,
    MANIFEST_PATH,
    WORKSPACE_FILE,
    content_digest,
    sha256_hex,
)
from evidence.domain.validation import refused_path
from evidence.inspecting import Inspected, inspect_changed, inspect_sources, inspect_units
from evidence.mirrored import Known
from evidence.models import SourceRecord, UnitRecord
from evidence.ports import Repository
from evidence.relating import Findings, Scope, World, related
from evidence.unit_keys import Comparable


@dataclass(frozen=True, slots=True)
class Projection:
    """Everything the mirror must say of `head`, as a change of what it is `known` to say.

    `hashes` and `digest` are those of the whole revision (spec 50, content digest).
    """

    known: Known
    head: str
    changed: Changed
    inspected: Inspected
    affected: Affected
    comparables: Mapping[str, Comparable]
    findings: Mapping[tuple[Scope, str], Findings]
    hashes: Mapping[str, str]
    digest: str


def project(repository: Repository, known: Known, head: str) -> Projection:
    """Compare the mirror with a revision. Reads Git and the database, writes neither."""
    changed = changed_since(known.names(), repository, head)
    if changed.everything and not known.nothing:
        known = Known(known.workspace, nothing=True)
    inspected = inspect_changed(repository, changed, known.workspace.settings_yaml.encode())
    if manifest_was_lost_or_found(known, inspected):
        return project(repository, Known(known.workspace, nothing=True), head)
    keys = affected(known, inspected, manifested(known, inspected))
    world = _World(repository, head, known, inspected, keys).seen()
    findings = dict(_of_files(changed, inspected))
    findings |= {(scope, key): found for scope, key, found in related(world)}
    comparison = compare(repository, known, inspected)
    findings |= comparison.findings
    hashes = _hashes(known, inspected, everything=changed.everything)
    return Projection(
        known=known,
        head=head,
        changed=changed,
        inspected=inspected,
        affected=keys,
        comparables=comparison.comparables,
        findings=findings,
        hashes=hashes,
        digest=content_digest(hashes),
    )


def _of_files(
    changed: Changed, inspected: Inspected
) -> Iterator[tuple[tuple[Scope, str], Findings]]:
    """Give what single files say, and which names are refused."""
    for path, inspection in (*inspected.units.items(), *inspected.sources.items()):
        yield (Scope.FILE, path), inspection.findings if inspection else ()
    for path, file in (
        (MANIFEST_PATH, inspected.manifest),
        (EVALUATION_PATH, inspected.evaluation),
        (DISMISSALS_PATH, inspected.dismissals),
        (WORKSPACE_FILE, inspected.workspace if changed.everything else None),
    ):
        if file is not None:
            yield (Scope.FILE, path), file.findings
    refused: dict[str, list[ValidationFinding]] = {}
    for each in changed.refused or ():
        refused.setdefault(each.path, []).append(refused_path(each))
    for path, findings in refused.items():
        yield (Scope.REFUSED, path), tuple(findings)


def _hashes(known: Known, inspected: Inspected, *, everything: bool) -> dict[str, str]:
    hashes = known.hashes()
    if everything and inspected.workspace_yaml is not None:
        hashes[WORKSPACE_FILE] = sha256_hex(inspected.workspace_yaml)
    for path, content in inspected.contents.items():
        if content is None:
            hashes.pop(EVIDENCE_FOLDER + path, None)
        else:
            hashes[EVIDENCE_FOLDER + path] = content.sha256
    return hashes


@dataclass(frozen=True, slots=True)
class _World:
    """Gathers what the relations look at; unchanged files among it are read by blob."""

    repository: Repository
    head: str
    known: Known
    inspected: Inspected
    keys: Affected

    def seen(self) -> World:
        """Give the world after the change, for the affected keys."""
        again: Mapping[str, UnitRecord] = self.keys.units_again
        blobs = {path: row.blob for path, row in again.items()}
        units = {path: unit for path, unit in self.inspected.units.items() if unit}
        units |= inspect_units(self.repository, blobs) if blobs else {}
        evaluation = self._evaluation()
        return World(
            units=units,
            sources=self._sources(
                {u.unit.provenance.source_file for u in units.values() if u.unit}
            ),
            source_keys=self.keys.source_keys,
            bearers=self.keys.bearers,
            listings=self.keys.listings,
            entries=self.keys.entries,
            evaluation=evaluation,
            expected=self._borne(evaluation),
        )

    def _sources(self, cited: set[str]) -> dict[str, SourceInspection | None]:
        """Give the changed sources, the cited ones with their text, and the rest without it."""
        rows = self.keys.source_rows
        unread = cited - self.inspected.sources.keys()
        blobs = {path: rows[path].blob for path in unread if path in rows and rows[path].blob}
        workspace = self.inspected.workspace.workspace
        read = inspect_sources(self.repository, blobs, workspace) if blobs else {}
        light = {path: light_inspection(row) for path, row in rows.items()}
        return {**light, **read, **self.inspected.sources}

    def _evaluation(self) -> EvaluationInspection | None:
        """Give the evaluation set when it changed, or when an id came or went."""
        if self.inspected.evaluation is not None:
            return self.inspected.evaluation
        if not self._ids_moved():
            return None
        entry = self.repository.entry(self.head, EVIDENCE_FOLDER + EVALUATION_PATH)
        if entry is None:
            return None
        return inspect_evaluation(self.repository.blobs([entry.blob])[entry.blob])

    def _ids_moved(self) -> bool:
        before = self.known.units_at(self.inspected.units)
        after = {path: unit.evidence_id for path, unit in self.inspected.units.items() if unit}
        return {path: row.evidence_id for path, row in before.items()} != after

    def _borne(self, evaluation: EvaluationInspection | None) -> frozenset[str]:
        if evaluation is None or evaluation.evaluation is None:
            return frozenset()
        wanted = {each for query in evaluation.evaluation.queries for each in query.expected}
        bearers = self.keys.bearers
        unknown = wanted - bearers.keys()
        rows = self.known.units_bearing(unknown).values()
        return frozenset(
            {evidence_id for evidence_id in wanted if bearers.get(evidence_id)}
            | {row.evidence_id for row in rows}
        )


def light_inspection(row: SourceRecord) -> SourceInspection:
    """Give what the manifest is compared with, without the text."""
    return SourceInspection(
        path=row.path,
        accepted=row.is_accepted,
        text=None,
        sha256=row.text_sha256 or None,
        findings=(),
    )
