"""How readers of notes fare, by restructurer, model and skill version (spec 20, Accountability)."""

from __future__ import annotations

import hashlib
from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass, field
from statistics import median
from typing import Final

from django.db.models import Count, Max, Q, QuerySet

from evidence.domain.proposed import UnitChange, UnitOutcome
from evidence.domain.readings import ReadingOutcome
from evidence.models import ProposedUnit, SourceReading

MAX_READERS: Final = 100
MAX_DURATIONS: Final = 20_000
"""So many of the newest calls are looked at for the medians."""
_COLUMNS: Final = ("restructurer", "model", "skill_digest")
_O = ReadingOutcome


@dataclass(frozen=True, slots=True)
class Reader:
    """Who reads notes: a restructurer, its model, and the digest of its instructions."""

    restructurer: str
    model: str = ""
    skill_digest: str = ""

    @property
    def key(self) -> str:
        """Give a short name for addresses."""
        named = "\n".join((self.restructurer, self.model, self.skill_digest))
        return hashlib.sha256(named.encode()).hexdigest()[:12]

    def readings(self) -> QuerySet[SourceReading]:
        """Give the rows of what it read."""
        return SourceReading.objects.filter(
            restructurer=self.restructurer, model=self.model, skill_digest=self.skill_digest
        )


@dataclass(frozen=True, slots=True)
class Rate:
    """What one reader did, and what curators made of it.

    `sources` counts all readings, `called` those for which it was asked now. Units are the new and
    the changed ones: what a proposal only keeps or confirms is not the reader's work. `median_ms`
    is that of its calls, failed ones included; None without any.
    """

    reader: Reader
    runs: int
    sources: int
    called: int
    failed: int
    median_ms: float | None
    units: Mapping[UnitOutcome, int] = field(default_factory=dict)

    @property
    def failed_share(self) -> float | None:
        """Give the part of its calls that failed, between 0 and 1; None without any."""
        return self.failed / self.called if self.called else None

    @property
    def decided(self) -> int:
        """Give how many of its units somebody has decided on."""
        ends = (UnitOutcome.ACCEPTED, UnitOutcome.EDITED, UnitOutcome.DROPPED)
        return sum(self.units.get(end, 0) for end in ends)


def readers() -> tuple[Reader, ...]:
    """Give everybody who has read a note, by name: one query."""
    named = SourceReading.objects.order_by(*_COLUMNS).values_list(*_COLUMNS).distinct()
    return tuple(Reader(*each) for each in named[:MAX_READERS])


def rates() -> tuple[Rate, ...]:
    """Give the rates of every reader, whoever read last first; three queries in all."""
    rows = (
        SourceReading.objects.values(*_COLUMNS)
        .annotate(
            runs=Count("run", distinct=True),
            sources=Count("pk"),
            called=Count("pk", filter=Q(outcome__in=(_O.ASKED, _O.FAILED))),
            failed=Count("pk", filter=Q(outcome=_O.FAILED)),
            last=Max("at"),
        )
        .order_by("-last", *_COLUMNS)[:MAX_READERS]
    )
    medians, units = _medians(), _units()
    return tuple(
        Rate(
            reader=(reader := Reader(*(row[column] for column in _COLUMNS))),
            runs=row["runs"],
            sources=row["sources"],
            called=row["called"],
            failed=row["failed"],
            median_ms=medians.get(reader),
            units=units[reader],
        )
        for row in rows
    )


def _medians() -> Mapping[Reader, float]:
    """Give the median duration of the calls in milliseconds: not every database knows medians."""
    called = SourceReading.objects.filter(duration_ms__isnull=False).order_by("-at")
    durations: defaultdict[Reader, list[int]] = defaultdict(list)
    for *named, duration in called.values_list(*_COLUMNS, "duration_ms")[:MAX_DURATIONS]:
        durations[Reader(*named)].append(duration)
    return {reader: median(found) for reader, found in durations.items()}


def _units() -> Mapping[Reader, Mapping[UnitOutcome, int]]:
    columns = tuple(f"reading__{column}" for column in _COLUMNS)
    made = ProposedUnit.objects.filter(
        change__in=(UnitChange.NEW, UnitChange.CHANGED), reading__isnull=False
    )
    counted: defaultdict[Reader, dict[UnitOutcome, int]] = defaultdict(dict)
    rows = made.order_by().values_list(*columns, "outcome").annotate(count=Count("pk"))
    for *named, outcome, count in rows:
        counted[Reader(*named)][UnitOutcome(outcome)] = count
    return counted
