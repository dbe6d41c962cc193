"""The keys under which the mirror finds units to compare: what they speak of, what they say."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from django.db.models import Count, QuerySet

from evidence.domain.dismissals import Side
from evidence.domain.likeness import COMMON, Likeness, is_of_all_words, likeness_of
from evidence.domain.subjects import Subject, subject_of
from evidence.domain.unit_inspection import UnitInspection
from evidence.mirrored import Known
from evidence.models import UnitKeyRecord, UnitRecord

BATCH = 500


@dataclass(frozen=True, slots=True)
class Comparable:
    """What is compared of one unit."""

    subject: Subject | None
    likeness: Likeness | None

    @property
    def keys(self) -> frozenset[str]:
        """Give every key the unit is found under."""
        likeness = self.likeness.keys if self.likeness else ()
        return frozenset({*likeness, *([key_of(self.subject)] if self.subject else [])})


def comparable_of(inspection: UnitInspection, *, language: str) -> Comparable:
    """Give what is compared of a unit: nothing of one that does not parse."""
    unit = inspection.unit
    subject = subject_of(unit, language=language) if unit else None
    return Comparable(subject, likeness_of(inspection))


def key_of(subject: Subject) -> str:
    """Give the key of a subject; no likeness has a key with a colon."""
    return f"{subject.code}:{subject.key}"


def subjects_among(keys: Iterable[str]) -> Iterator[Subject]:
    """Give the subjects among some keys."""
    for key in keys:
        code, colon, rest = key.partition(":")
        if colon:
            yield Subject(code, rest)


def likeness_in(row: UnitRecord) -> Likeness | None:
    """Give what the mirror keeps of a unit's words."""
    if not row.sketch:
        return None
    return Likeness(row.path, Side(row.evidence_id, row.text_sha256), row.words, tuple(row.sketch))


@dataclass(frozen=True, slots=True)
class KeptKeys:
    """The mirrored units by key, without those whose files `changed`."""

    known: Known
    changed: Collection[str]

    def keys_at(self, paths: Collection[str]) -> set[str]:
        """Give the keys that the mirror keeps for the units at these paths."""
        found: set[str] = set()
        for batch in self._batches(paths):
            found.update(self._rows(unit__path__in=batch).values_list("key", flat=True))
        return found

    def bearing(self, keys: Collection[str]) -> dict[str, list[UnitRecord]]:
        """Give the units that bear each of these keys."""
        bearers: dict[str, list[UnitRecord]] = {key: [] for key in keys}
        for batch in self._batches(keys):
            for row in self._rows(key__in=batch).select_related("unit"):
                if row.unit.path not in self.changed:
                    bearers[row.key].append(row.unit)
        return bearers

    def common(self, keys: Collection[str]) -> set[str]:
        """Give the keys that so many units bear that they tell nothing, whatever changed."""
        counts: dict[str, int] = {}
        for batch in self._batches(keys):
            rows = self._rows(key__in=batch).values_list("key")
            counts.update(rows.annotate(count=Count("pk")))
        return {key for key, count in counts.items() if count > COMMON + len(self.changed)}

    def _rows(self, **condition: object) -> QuerySet[UnitKeyRecord]:
        rows = UnitKeyRecord.objects.filter(workspace=self.known.workspace, **condition)
        return rows.order_by()

    def _batches(self, names: Collection[str]) -> Iterator[list[str]]:
        if not self.known.nothing:
            ordered = sorted(names)
            yield from (ordered[at : at + BATCH] for at in range(0, len(ordered), BATCH))


@dataclass(slots=True)
class Bearers:
    """The likenesses of a workspace by key: those of changed units, and those fetched so far."""

    kept: KeptKeys
    changed: Mapping[str, Sequence[Likeness]]
    fetched: dict[str, tuple[Likeness, ...]] = field(default_factory=dict)

    def load(self, keys: Collection[str]) -> None:
        """Fetch the bearers of some keys, all that belong to a subject or are common left out."""
        wanted = {key for key in keys if ":" not in key} - self.fetched.keys()
        common = self.kept.common({key for key in wanted if not is_of_all_words(key)})
        rows = self.kept.bearing(wanted - common)
        self.fetched.update((key, ()) for key in common)
        for key, units in rows.items():
            likenesses = filter(None, map(likeness_in, units))
            together = (*likenesses, *self.changed.get(key, ()))
            self.fetched[key] = tuple(sorted(together, key=lambda each: each.path))

    def loaded(self) -> Iterator[Likeness]:
        """Give every likeness fetched so far; some more than once."""
        for likenesses in self.fetched.values():
            yield from likenesses

    def of(self, key: str) -> Sequence[Likeness]:
        """Give the bearers of a key that was loaded, in path order."""
        return self.fetched[key]
