"""Compare changed units with those that speak of the same or say the same, and with no other."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass

from evidence.domain.contradictions import check_subject
from evidence.domain.dismissals import Dismissals
from evidence.domain.inspection import inspect_dismissals
from evidence.domain.likeness import by_key, check_likeness
from evidence.domain.subjects import Subject
from evidence.domain.unit_inspection import UnitInspection
from evidence.inspecting import Inspected, inspect_units
from evidence.mirrored import Known
from evidence.models import UnitRecord
from evidence.ports import Repository
from evidence.relating import Findings, Scope
from evidence.unit_keys import (
    Bearers,
    Comparable,
    KeptKeys,
    comparable_of,
    key_of,
    likeness_in,
    subjects_among,
)


@dataclass(frozen=True, slots=True)
class Comparison:
    """What comparing found for each key that was touched, and what is compared of each unit."""

    findings: Mapping[tuple[Scope, str], Findings]
    comparables: Mapping[str, Comparable]


def compare(repository: Repository, known: Known, inspected: Inspected) -> Comparison:
    """Run again the comparisons that a changed unit or dismissal can have touched.

    Which they are is written in `evidence.domain.validation`. Reads Git only for units that
    speak of the same as a changed one.
    """
    present = {path: unit for path, unit in inspected.units.items() if unit}
    before, after = _dismissals(known, inspected)
    named = {side.evidence_id for each in before ^ after for side in (each.first, each.second)}
    comparing = _Comparing(
        repository=repository,
        kept=KeptKeys(known, inspected.units.keys()),
        present=present,
        comparables={
            path: comparable_of(unit, language=inspected.workspace.language)
            for path, unit in present.items()
        },
        dismissed=after,
    )
    dismissed_rows = {
        path: row for path, row in known.units_bearing(named).items() if path not in inspected.units
    }
    findings = {
        **{(Scope.LIKENESS, path): () for path in inspected.units},
        **dict(comparing.subjects(dismissed_rows)),
        **dict(comparing.likenesses(dismissed_rows)),
    }
    return Comparison(findings, comparing.comparables)


def _dismissals(known: Known, inspected: Inspected) -> tuple[Dismissals, Dismissals]:
    """Give the dismissals as mirrored, and as they are now."""
    mirrored = "" if known.nothing else known.workspace.dismissals_yaml
    before = inspect_dismissals(mirrored.encode() if mirrored else None).dismissals
    now = inspected.dismissals
    return before, before if now is None else now.dismissals


@dataclass(frozen=True, slots=True)
class _Comparing:
    """One comparison: what the mirror keeps of unchanged units, and what changed ones say."""

    repository: Repository
    kept: KeptKeys
    present: Mapping[str, UnitInspection]
    comparables: Mapping[str, Comparable]
    dismissed: Dismissals

    def subjects(
        self, named: Mapping[str, UnitRecord]
    ) -> Iterator[tuple[tuple[Scope, str], Findings]]:
        """Check the subjects that changed units speak of, or did, and those of `named` ones."""
        touched = set(subjects_among(self.kept.keys_at({*self.kept.changed, *named})))
        speakers: dict[Subject, list[UnitInspection]] = {}
        for path, comparable in self.comparables.items():
            if comparable.subject:
                speakers.setdefault(comparable.subject, []).append(self.present[path])
        touched |= speakers.keys()
        for subject, others in self._others(touched).items():
            found = check_subject(subject, [*speakers.get(subject, ()), *others], self.dismissed)
            yield (Scope.SUBJECT, key_of(subject)), tuple(found)

    def _others(self, subjects: Collection[Subject]) -> dict[Subject, list[UnitInspection]]:
        """Give the unchanged units that speak of each subject, read by blob."""
        rows = self.kept.bearing([key_of(subject) for subject in subjects])
        blobs = {row.path: row.blob for units in rows.values() for row in units}
        read = inspect_units(self.repository, blobs) if blobs else {}
        return {subject: [read[row.path] for row in rows[key_of(subject)]] for subject in subjects}

    def likenesses(
        self, named: Mapping[str, UnitRecord]
    ) -> Iterator[tuple[tuple[Scope, str], Findings]]:
        """Check the changed units, those that share a key with one of them, and `named` ones."""
        mine = tuple(each.likeness for each in self.comparables.values() if each.likeness)
        bearers = Bearers(self.kept, by_key(mine))
        bearers.load({*self.kept.keys_at(self.kept.changed), *(k for m in mine for k in m.keys)})
        touched = {each.path: each for each in (*bearers.loaded(), *mine)}
        touched |= {each.path: each for each in map(likeness_in, named.values()) if each}
        bearers.load({key for each in touched.values() for key in each.keys})
        for path, each in touched.items():
            found = check_likeness(each, bearers.of, self.dismissed)
            yield (Scope.LIKENESS, path), tuple(found)
