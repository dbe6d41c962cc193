"""Run again the relations between files that a change can have touched, and no other.

Which relation depends on what is written in `evidence.domain.validation`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from enum import StrEnum

from evidence.domain.findings import ValidationFinding
from evidence.domain.inspection import EvaluationInspection, SourceInspection
from evidence.domain.manifest import ManifestSource
from evidence.domain.relations import (
    UNKNOWN_MANIFEST,
    Listing,
    check_evaluation,
    check_id,
    check_listed,
    check_source,
    check_unit,
)
from evidence.domain.tree import EVALUATION_PATH
from evidence.domain.unit_inspection import UnitInspection

Findings = tuple[ValidationFinding, ...]


class Scope(StrEnum):
    """Which part of a validation a finding comes from; with its key it names the recomputation."""

    FILE = "file"
    REFUSED = "refused"
    UNIT = "unit"
    SOURCE = "source"
    ID = "id"
    LISTED = "listed"
    EVALUATION = "evaluation"
    SUBJECT = "subject"
    LIKENESS = "likeness"


@dataclass(frozen=True, slots=True)
class World:
    """What holds after the change, for the keys to be recomputed.

    `units` are those to compare, `sources` all that they cite and all to compare with the
    manifest, `bearers` the paths by id; `listings` and `entries` say what the manifest has (both
    None while it is missing or broken).
    """

    units: Mapping[str, UnitInspection]
    sources: Mapping[str, SourceInspection | None]
    source_keys: Iterable[str]
    bearers: Mapping[str, list[str]]
    listings: Mapping[str, Listing] | None
    entries: Mapping[str, ManifestSource] | None
    evaluation: EvaluationInspection | None = None
    expected: frozenset[str] = field(default_factory=frozenset)
    """The ids that the evaluation set expects and some file bears."""


def related(world: World) -> Iterator[tuple[Scope, str, Findings]]:
    """Give what each recomputed key finds now, also when that is nothing."""
    for path, unit in world.units.items():
        cited = unit.unit.provenance.source_file if unit.unit else ""
        listing = _listing(world, unit.evidence_id)
        found = check_unit(unit, listing=listing, source=world.sources.get(cited))
        yield Scope.UNIT, path, tuple(found)
    for path in world.source_keys:
        yield Scope.SOURCE, path, _of_source(world, path)
    for evidence_id, paths in world.bearers.items():
        yield Scope.ID, evidence_id, tuple(check_id(evidence_id, paths))
        yield Scope.LISTED, evidence_id, _of_listing(world, evidence_id)
    if world.evaluation is not None:
        found_set = world.evaluation.evaluation
        found_ids = check_evaluation(found_set, world.expected) if found_set else ()
        yield Scope.EVALUATION, EVALUATION_PATH, tuple(found_ids)


def _listing(world: World, evidence_id: str) -> Listing | None:
    return UNKNOWN_MANIFEST if world.listings is None else world.listings.get(evidence_id)


def _of_source(world: World, path: str) -> Findings:
    if world.entries is None:
        return ()
    return tuple(check_source(path, world.sources.get(path), world.entries.get(path)))


def _of_listing(world: World, evidence_id: str) -> Findings:
    if world.listings is None or evidence_id not in world.listings:
        return ()
    borne = {evidence_id} if world.bearers[evidence_id] else set()
    return tuple(check_listed(evidence_id, borne))
