"""What a release does to the exam: where each expected unit came before, and where it comes now.

A unit is a *regression* when its fused rank is worse or lost, or the same although a unit stands
above it that did not before: the answer then reads differently, by luck no worse yet. A better
rank never is one, whatever else moved. A question is as bad as its worst expected unit.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from publishing.domain.exam import Asked


class Verdict(StrEnum):
    """How an expected unit or a question fares, compared with the generation that answers."""

    WORSE = "worse"
    BETTER = "better"
    NEW = "new"
    """Nothing to compare with: the question or the expectation was not in the earlier exam."""
    SAME = "same"


@dataclass(frozen=True, slots=True)
class Standing:
    """Where a unit came in each list, 1-based over grouped units; None where it was not found."""

    dense: int | None
    bm25: int | None
    fused: int | None


@dataclass(frozen=True, slots=True)
class Sat:
    """One question of a stored exam; `units` is its fused answer, empty where none was kept."""

    query: str
    purpose: str
    expected: Mapping[str, Standing]
    units: tuple[str, ...]

    def above(self, evidence_id: str) -> tuple[str, ...]:
        """Give the units before this one in the answer; all of them when it is not there."""
        if evidence_id in self.units:
            return self.units[: self.units.index(evidence_id)]
        return self.units


@dataclass(frozen=True, slots=True)
class UnitStanding:
    """One expected unit before and after; `overtaken_by` are the units newly above it."""

    evidence_id: str
    before: Standing | None
    after: Standing
    overtaken_by: tuple[str, ...]
    verdict: Verdict


@dataclass(frozen=True, slots=True)
class QuestionChange:
    """One question of the candidate's exam, compared with the exam of what answers now."""

    id: str
    query: str
    expected: tuple[UnitStanding, ...]

    @property
    def verdict(self) -> Verdict:
        """Give the verdict on its worst expected unit."""
        verdicts = {each.verdict for each in self.expected}
        return next(each for each in Verdict if each in verdicts)


def read(report: Mapping[str, Any], answers: Mapping[str, Asked]) -> dict[str, Sat]:
    """Give the questions of a stored report by id, with the answers kept beside it."""
    nothing = Asked(query="", units=[])
    return {
        entry["id"]: Sat(
            query=answers.get(entry["id"], nothing)["query"],
            purpose=entry["purpose"],
            expected={
                each["evidence_id"]: Standing(
                    each["dense_rank"], each["bm25_rank"], each["fused_rank"]
                )
                for each in entry["expected"]
            },
            units=tuple(answers.get(entry["id"], nothing)["units"]),
        )
        for entry in report.get("queries", ())
    }


def compare(before: Mapping[str, Sat], after: Mapping[str, Sat]) -> tuple[QuestionChange, ...]:
    """Compare two exams question by question, the regressions first, then as the set lists them.

    A question is the same one when id, purpose and words are; an earlier exam that kept no words
    is taken at its ids.
    """
    found = [_question(name, before.get(name), sat) for name, sat in after.items()]
    order = list(Verdict)
    return tuple(sorted(found, key=lambda each: order.index(each.verdict)))


def suspects(unit: UnitStanding, changed: Collection[str]) -> tuple[str, ...]:
    """Give the changed units that a regression is traced to: itself, then those newly above it.

    Empty for anything but a regression, and for one that no change of a unit explains: the
    settings of the search, or how rare a word is over all units, moved it.
    """
    if unit.verdict is not Verdict.WORSE:
        return ()
    return tuple(one for one in (unit.evidence_id, *unit.overtaken_by) if one in changed)


def _question(name: str, before: Sat | None, after: Sat) -> QuestionChange:
    earlier = before if before and _is_same(before, after) else None
    return QuestionChange(
        id=name,
        query=after.query or name,
        expected=tuple(_unit(unit, earlier, after) for unit in after.expected),
    )


def _is_same(before: Sat, after: Sat) -> bool:
    words = before.query == after.query or not before.query or not after.query
    return words and before.purpose == after.purpose


def _unit(evidence_id: str, before: Sat | None, after: Sat) -> UnitStanding:
    earlier = before.expected.get(evidence_id) if before else None
    now = after.expected[evidence_id]
    newly = _newly_above(evidence_id, before, after) if before and earlier else ()
    return UnitStanding(
        evidence_id=evidence_id,
        before=earlier,
        after=now,
        overtaken_by=newly,
        verdict=_verdict(earlier, now, newly, knows_answer=bool(before and before.units)),
    )


def _newly_above(evidence_id: str, before: Sat, after: Sat) -> tuple[str, ...]:
    earlier = set(before.above(evidence_id))
    return tuple(unit for unit in after.above(evidence_id) if unit not in earlier)


def _verdict(
    before: Standing | None, after: Standing, newly: Sequence[str], *, knows_answer: bool
) -> Verdict:
    if before is None:
        return Verdict.NEW
    if before.fused != after.fused:
        worse = after.fused is None or (before.fused is not None and after.fused > before.fused)
        return Verdict.WORSE if worse else Verdict.BETTER
    is_found = after.fused is not None
    return Verdict.WORSE if newly and knows_answer and is_found else Verdict.SAME
