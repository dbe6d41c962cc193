"""What can be said of files together, one key at a time; `validation` lists the keys."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass

from evidence.domain.findings import ValidationFinding, finding
from evidence.domain.inspection import SourceInspection
from evidence.domain.manifest import ManifestSource
from evidence.domain.normalization import contains_excerpt
from evidence.domain.questions import EvaluationSet
from evidence.domain.tree import EVALUATION_PATH, MANIFEST_PATH
from evidence.domain.unit_inspection import UnitInspection
from evidence.domain.units import CuratedEvidence
from evidence.messages import gettext_noop

SHOWN_CHARS = 120


@dataclass(frozen=True, slots=True)
class Listing:
    """Where the manifest lists a unit: under a source, or as an orphan (`source` None)."""

    source: str | None


UNKNOWN_MANIFEST = Listing("")
"""Stands for the listing of every unit while the manifest is missing or broken."""


def check_unit(
    inspection: UnitInspection, *, listing: Listing | None, source: SourceInspection | None
) -> Iterator[ValidationFinding]:
    """Compare a unit with its place in the manifest and with the source it cites.

    Depends on the unit's file, the manifest's entry of its id, and the file at
    `provenance.source_file`. All findings bear the unit's path. A unit that does not parse is
    not compared.
    """
    unit, path = inspection.unit, inspection.path
    if unit is None:
        return
    if listing is None:
        template = gettext_noop("The manifest does not list %(id)s.")
        yield finding("unit_not_in_manifest", path, template, id=unit.id)
    elif listing.source is None:
        template = gettext_noop("The source of this unit is gone: retire it, or relink it.")
        yield finding("orphaned_unit", path, template)
        return
    elif listing != UNKNOWN_MANIFEST and listing.source != unit.provenance.source_file:
        template = gettext_noop("The unit cites %(cited)s; the manifest lists it under %(listed)s.")
        yield finding(
            "manifest_invalid",
            path,
            template,
            cited=unit.provenance.source_file,
            listed=listing.source,
        )
    yield from _check_source_of(unit, path, source)


def check_source(
    path: str, source: SourceInspection | None, entry: ManifestSource | None
) -> Iterator[ValidationFinding]:
    """Compare a source with its entry in the manifest; call it with a manifest that was read.

    Depends on the file and on its own entry. All findings bear the source's path.
    """
    if source is None or not source.accepted:
        if entry is not None:
            template = gettext_noop("The manifest lists this source, and it is not there.")
            yield finding("source_missing", path, template)
    elif entry is None:
        template = gettext_noop("This source has not been prepared yet.")
        yield finding("source_not_prepared", path, template)
    elif source.sha256 is not None and source.sha256 != entry.sha256:
        template = gettext_noop("This source changed since it was prepared.")
        yield finding("source_hash_mismatch", path, template)


def check_id(evidence_id: str, paths: Sequence[str]) -> Iterator[ValidationFinding]:
    """Refuse an id that several files bear; depends on the paths that bear this id."""
    if len(paths) < 2:
        return
    first, second = sorted(paths)[:2]
    for path in sorted(paths):
        template = gettext_noop("%(id)s is also the id of %(other)s.")
        other = second if path == first else first
        yield finding("duplicate_id", path, template, id=evidence_id, other=other)


def check_listed(evidence_id: str, ids: Collection[str]) -> Iterator[ValidationFinding]:
    """Refuse an id the manifest lists and no file bears; depends on these two facts."""
    if evidence_id not in ids:
        template = gettext_noop("%(id)s is listed, and there is no such unit.")
        yield finding("manifest_unit_missing", MANIFEST_PATH, template, id=evidence_id)


def check_evaluation(
    evaluation: EvaluationSet, ids: Collection[str]
) -> Iterator[ValidationFinding]:
    """Refuse expected ids that no file bears; depends on the evaluation set and on those ids."""
    for question in evaluation.queries:
        for evidence_id in dict.fromkeys(question.expected):
            if evidence_id not in ids:
                template = gettext_noop("The question %(query)s expects %(id)s: no such unit.")
                yield finding(
                    "evaluation_unknown_id",
                    EVALUATION_PATH,
                    template,
                    query=question.id,
                    id=evidence_id,
                )


def _check_source_of(
    unit: CuratedEvidence, path: str, source: SourceInspection | None
) -> Iterator[ValidationFinding]:
    cited = unit.provenance.source_file
    if source is None or not source.accepted:
        template = gettext_noop("There is no source %(source)s.")
        yield finding("source_missing", path, template, source=cited)
        return
    if source.text is None:
        return
    if source.sha256 != unit.provenance.source_sha256:
        template = gettext_noop("%(source)s changed since this unit was written.")
        yield finding("source_hash_mismatch", path, template, source=cited)
    for excerpt in unit.provenance.supporting_excerpts:
        if not contains_excerpt(source.text, excerpt):
            template = gettext_noop("%(source)s does not hold the excerpt “%(excerpt)s”.")
            shown = excerpt if len(excerpt) <= SHOWN_CHARS else f"{excerpt[:SHOWN_CHARS]}…"
            yield finding("excerpt_not_found", path, template, source=cited, excerpt=shown)
