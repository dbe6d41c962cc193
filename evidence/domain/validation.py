"""Validation of a whole tree, made only of parts that a mirror can run again one by one.

`validate(tree)` is the sum of *inspections* of single files and *relations* between few of them,
so whoever kept the findings of the last run by key gets the very same ones by running again only
what depends on a changed key:

| part | key | run again when one of these changed |
| --- | --- | --- |
| `inspect_unit` | path | the file |
| `inspect_source` | path | the file, the `evidence:` section of the workspace file |
| `inspect_manifest`, `inspect_evaluation`, `inspect_workspace` | the one file | the file |
| `inspect_dismissals` | the one file | the file |
| `refused_path` | path | whether the tree refuses the path |
| `check_unit` | unit path | the unit, its id's listing in the manifest, the source it cites |
| `check_source` | source path | the source, its entry in the manifest |
| `check_id` | id | the set of paths that bear the id |
| `check_listed` | id | whether the manifest lists it, whether a file bears it |
| `check_evaluation` | the one file | the file, whether a file bears the ids it expects |
| `check_subject` | subject | the units that speak of it, a dismissal that names one of them |
| `check_likeness` | unit path | the unit, those that share a key with it, a dismissal of it |

Each finding bears the path of its key (`manifest.yaml` for `check_listed`, `evaluation.yaml` for
`check_evaluation`); those of `check_id` and `check_subject` bear the path of every file concerned.
While the manifest is missing or broken, `check_unit` gets `UNKNOWN_MANIFEST` and `check_source` and
`check_listed` are not run: one finding says it, not ten thousand.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from evidence.domain.contradictions import check_subject, speakers_of
from evidence.domain.findings import ValidationFinding, ValidationReport, finding, report_of
from evidence.domain.fragments import MAX_CHUNK_CHARS
from evidence.domain.inspection import (
    DismissalsInspection,
    EvaluationInspection,
    ManifestInspection,
    SourceInspection,
    WorkspaceInspection,
    inspect_dismissals,
    inspect_evaluation,
    inspect_manifest,
    inspect_source,
    inspect_workspace,
)
from evidence.domain.likeness import check_likenesses, likeness_of
from evidence.domain.manifest import Manifest
from evidence.domain.paths import SYMLINK_REFUSED, Place, place_of
from evidence.domain.relations import (
    UNKNOWN_MANIFEST,
    Listing,
    check_evaluation,
    check_id,
    check_listed,
    check_source,
    check_unit,
)
from evidence.domain.tree import (
    DISMISSALS_PATH,
    EVALUATION_PATH,
    MANIFEST_PATH,
    EvidenceTree,
    RefusedPath,
)
from evidence.domain.unit_inspection import UnitInspection, inspect_unit
from evidence.messages import gettext_noop


@dataclass(frozen=True, slots=True)
class SingleFiles:
    """The four files of which a tree has one each, inspected."""

    workspace: WorkspaceInspection
    manifest: ManifestInspection
    evaluation: EvaluationInspection
    dismissals: DismissalsInspection

    def findings(self) -> Iterator[ValidationFinding]:
        """Give what the inspections found."""
        yield from self.workspace.findings
        yield from self.manifest.findings
        yield from self.evaluation.findings
        yield from self.dismissals.findings


@dataclass(frozen=True, slots=True)
class Corpus:
    """Every file of a tree, inspected; the mappings are by path, in path order."""

    single: SingleFiles
    units: Mapping[str, UnitInspection]
    sources: Mapping[str, SourceInspection]
    refused: tuple[RefusedPath, ...]

    def findings(self) -> Iterator[ValidationFinding]:
        """Give what the inspections of single files found."""
        for refused in self.refused:
            yield refused_path(refused)
        yield from self.single.findings()
        for unit in self.units.values():
            yield from unit.findings
        for source in self.sources.values():
            yield from source.findings

    def paths_by_id(self) -> dict[str, list[str]]:
        """Give the unit files that bear each id."""
        paths: dict[str, list[str]] = {}
        for path, unit in self.units.items():
            paths.setdefault(unit.evidence_id, []).append(path)
        return paths


def validate(tree: EvidenceTree, *, max_chunk_chars: int = MAX_CHUNK_CHARS) -> ValidationReport:
    """Give everything that is wrong with a tree (spec 20, Validation); never raises for content."""
    corpus = inspect(tree, max_chunk_chars=max_chunk_chars)
    manifest = corpus.single.manifest.manifest
    units = (inspection.unit for inspection in corpus.units.values())
    return report_of(
        [*corpus.findings(), *relate(corpus)],
        open_review_items=sum(len(unit.review_items) for unit in units if unit),
        orphans=len(manifest.orphans) if manifest else 0,
    )


def inspect(tree: EvidenceTree, *, max_chunk_chars: int = MAX_CHUNK_CHARS) -> Corpus:
    """Inspect every file of a tree by itself."""
    places = {path: place_of(path) for path in sorted(tree.files)}
    misplaced = (RefusedPath(path, "path_refused") for path, at in places.items() if at is None)
    return Corpus(
        single=single_files(tree),
        units={
            path: inspect_unit(path, tree.files[path], max_chunk_chars=max_chunk_chars)
            for path, place in places.items()
            if place is Place.UNIT
        },
        sources={
            path: inspect_source(path, tree.files[path], tree.workspace)
            for path, place in places.items()
            if place is Place.SOURCE
        },
        refused=(*tree.refused, *misplaced),
    )


def single_files(tree: EvidenceTree) -> SingleFiles:
    """Inspect the workspace file, the manifest, the evaluation set and the dismissals."""
    return SingleFiles(
        workspace=inspect_workspace(tree.workspace_yaml),
        manifest=inspect_manifest(tree.files.get(MANIFEST_PATH)),
        evaluation=inspect_evaluation(tree.files.get(EVALUATION_PATH)),
        dismissals=inspect_dismissals(tree.files.get(DISMISSALS_PATH)),
    )


def relate(corpus: Corpus) -> Iterator[ValidationFinding]:
    """Run every relation over an inspected tree; linear in the number of files."""
    manifest = corpus.single.manifest.manifest
    paths_by_id = corpus.paths_by_id()
    listings = listings_of(manifest) if manifest else {}
    unlisted = None if manifest else UNKNOWN_MANIFEST
    for inspection in corpus.units.values():
        cited = inspection.unit.provenance.source_file if inspection.unit else ""
        listing = listings.get(inspection.evidence_id, unlisted)
        yield from check_unit(inspection, listing=listing, source=corpus.sources.get(cited))
    for evidence_id, paths in paths_by_id.items():
        yield from check_id(evidence_id, paths)
    if manifest:
        for path in sorted({*corpus.sources, *manifest.sources}):
            yield from check_source(path, corpus.sources.get(path), manifest.sources.get(path))
        for evidence_id in listings:
            yield from check_listed(evidence_id, paths_by_id)
    if corpus.single.evaluation.evaluation:
        yield from check_evaluation(corpus.single.evaluation.evaluation, paths_by_id)
    yield from _compare(corpus)


def _compare(corpus: Corpus) -> Iterator[ValidationFinding]:
    """Compare the units with one another, subject by subject and word by word."""
    dismissed = corpus.single.dismissals.dismissals
    speakers = speakers_of(corpus.units.values(), language=corpus.single.workspace.language)
    for subject, units in speakers.items():
        yield from check_subject(subject, units, dismissed)
    likenesses = tuple(filter(None, map(likeness_of, corpus.units.values())))
    yield from check_likenesses(likenesses, dismissed)


def listings_of(manifest: Manifest) -> dict[str, Listing]:
    """Give where the manifest lists each id."""
    return {unit: Listing(source) for unit, source in manifest.owners().items()}


def refused_path(refused: RefusedPath) -> ValidationFinding:
    """Give the finding for a path that was left out of a tree."""
    if refused.code == SYMLINK_REFUSED:
        return finding(refused.code, refused.path, gettext_noop("This is a link to another place."))
    template = gettext_noop("This name may not be here, or the workspace holds too much.")
    return finding(refused.code, refused.path, template)
