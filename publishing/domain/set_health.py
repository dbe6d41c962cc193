"""How well an evaluation set covers a workspace: by kind, purpose and source (spec 50)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from evidence.domain.questions import EvaluationSet


class Covered(Protocol):
    """A unit as the health of a set looks at it."""

    @property
    def evidence_id(self) -> str: ...

    @property
    def kind(self) -> str: ...

    @property
    def source_file(self) -> str: ...

    @property
    def purposes(self) -> tuple[str, ...]: ...


@dataclass(frozen=True, slots=True)
class Coverage:
    """Of the units that share a value, how many a question expects."""

    value: str
    expected: int
    units: int
    questions: int = 0
    """How many questions ask for this purpose; for kinds and sources always none."""


@dataclass(frozen=True, slots=True)
class Health:
    """What an evaluation set covers, and which of its questions ever told anything."""

    by_kind: tuple[Coverage, ...]
    by_purpose: tuple[Coverage, ...]
    by_source: tuple[Coverage, ...]
    unexpected: tuple[str, ...]
    """Ids of units that no question expects, in the order given."""
    never_failed: tuple[str, ...]
    """Ids of questions that were examined and always found a unit among the first ten."""
    failed: Mapping[str, int]
    """How often each of the other examined questions failed."""


def health(
    questions: EvaluationSet, units: Sequence[Covered], reports: Iterable[Mapping[str, Any]]
) -> Health:
    """Judge a set against the units of the same revision and the reports of earlier exams."""
    wanted = {unit for question in questions.queries for unit in question.expected}
    asked = Counter(question.purpose.value for question in questions.queries)
    sat, failed = _history(reports)
    present = [question.id for question in questions.queries if question.id in sat]
    return Health(
        by_kind=_coverage(units, wanted, lambda unit: (unit.kind,)),
        by_purpose=_coverage(units, wanted, lambda unit: unit.purposes, asked),
        by_source=_coverage(units, wanted, lambda unit: (unit.source_file,)),
        unexpected=tuple(each.evidence_id for each in units if each.evidence_id not in wanted),
        never_failed=tuple(name for name in present if not failed[name]),
        failed={name: failed[name] for name in present if failed[name]},
    )


def _history(reports: Iterable[Mapping[str, Any]]) -> tuple[set[str], Counter[str]]:
    sat: set[str] = set()
    failed: Counter[str] = Counter()
    for report in reports:
        for entry in report.get("queries", ()):
            sat.add(entry["id"])
            failed[entry["id"]] += not entry["hit_at_10"]
    return sat, failed


def _coverage(
    units: Sequence[Covered],
    wanted: set[str],
    values: Callable[[Covered], Sequence[str]],
    asked: Mapping[str, int] | None = None,
) -> tuple[Coverage, ...]:
    every = Counter(value for unit in units for value in values(unit))
    covered = Counter(
        value for unit in units if unit.evidence_id in wanted for value in values(unit)
    )
    questions = asked or {}
    return tuple(
        Coverage(value, covered[value], every[value], questions.get(value, 0))
        for value in sorted(every)
    )
