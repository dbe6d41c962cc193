"""Questions people asked lately, answered by what answers now and by a candidate (spec 50).

An answer *changes* when another unit stands among the first five, or at another rank there, when
one of them is quoted with other words, or when the answer becomes weak or grounded.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Final, TypedDict

from publishing.domain.confidence import Confidence
from publishing.domain.query import SearchRequest
from publishing.domain.scoring import UnitHit

FIRST: Final = 5
"""How many units of an answer are compared: what comes behind them moves with every release."""


class Answer(TypedDict):
    """What a question gets: units by id, the best first, each with a digest of its excerpts."""

    units: list[tuple[str, str]]
    confidence: str


class Difference(TypedDict):
    """One question whose answer differs, and both answers."""

    query: str
    purpose: str
    context: dict[str, list[str]]
    before: Answer
    after: Answer


class Replay(TypedDict):
    """What a rehearsal keeps of the questions it asked again; only answers that differ."""

    off: str
    """Name of the setting that keeps the log from holding questions; empty where it does."""
    problem: str
    """Code of the fault for which what answers now could not be asked; empty otherwise."""
    days: int
    distinct: int
    """How many different questions there were in those days, asked again or not."""
    asked: int
    unrepeatable: int
    """Searches that the log does not hold whole, so that nobody can ask them again as they were."""
    behind: int
    """Questions whose answer differs only behind the first units."""
    differences: list[Difference]


@dataclass(frozen=True, slots=True)
class Place:
    """One unit of an answer, 1-based; a rank is None on the side where it does not come."""

    evidence_id: str
    before: int | None
    after: int | None
    says_other: bool
    """Whether it is quoted with other words than before."""

    is_moved: bool
    """Whether it stands before or behind another unit of both answers than it did."""

    @property
    def best(self) -> int:
        """Give its better rank."""
        return min(rank for rank in (self.before, self.after) if rank is not None)

    @property
    def is_exchanged(self) -> bool:
        """Tell whether it is among the first units of one answer alone."""
        ranks = (self.before, self.after)
        return any(rank is None or rank > FIRST for rank in ranks)

    @property
    def order(self) -> tuple[int, bool]:
        """Give its place in a list: its later rank; what is gone comes before what replaced it."""
        return (self.after or self.best, self.after is not None)


def answer_of(units: tuple[UnitHit, ...], confidence: Confidence) -> Answer:
    """Give an answer as it is kept: ids, and digests that tell other excerpts from the same."""
    return Answer(
        units=[(unit.evidence_id, _said(unit)) for unit in units], confidence=confidence.value
    )


def _said(unit: UnitHit) -> str:
    hashes = "\n".join(fragment.content_hash for fragment in unit.fragments)
    return hashlib.sha256(hashes.encode()).hexdigest()[:16]


def difference(request: SearchRequest, before: Answer, after: Answer) -> Difference | None:
    """Give a question with both answers, or None when its answer does not change."""
    if _first(before) == _first(after):
        return None
    return Difference(
        query=request.query,
        purpose=request.purpose.value,
        context=request.context.model_dump(mode="json", exclude_defaults=True),
        before=before,
        after=after,
    )


def _first(answer: Answer) -> tuple[list[tuple[str, str]], str]:
    return answer["units"][:FIRST], answer["confidence"]


def weight(found: Difference) -> int:
    """Give how much a change matters, 0 the most: trust lost, trust won, another first unit."""
    before, after = found["before"], found["after"]
    if before["confidence"] != after["confidence"]:
        return 0 if after["confidence"] == Confidence.WEAK else 1
    is_first_kept = before["units"][:1] == after["units"][:1]
    return 3 if is_first_kept else 2


def places(before: Answer, after: Answer) -> tuple[Place, ...]:
    """Give the units that are among the first of either answer, in the later order.

    Ranks count the whole answer, so that a unit may come from behind the first or go there.
    """
    found = [each for each in _places(_ranked(before), _ranked(after)) if each.best <= FIRST]
    return tuple(sorted(found, key=lambda each: each.order))


def _ranked(answer: Answer) -> Mapping[str, tuple[int, str]]:
    return {unit: (rank, said) for rank, (unit, said) in enumerate(answer["units"], 1)}


def _places(
    earlier: Mapping[str, tuple[int, str]], later: Mapping[str, tuple[int, str]]
) -> Iterator[Place]:
    stayed = [unit for unit in earlier if unit in later]
    now = [unit for unit in later if unit in earlier]
    moved = {one for pair in zip(stayed, now, strict=True) if pair[0] != pair[1] for one in pair}
    for unit in {**later, **earlier}:
        before, after = earlier.get(unit), later.get(unit)
        yield Place(
            evidence_id=unit,
            before=before[0] if before else None,
            after=after[0] if after else None,
            says_other=bool(before and after and before[1] != after[1]),
            is_moved=unit in moved,
        )
