"""From the engine's unordered list to the one answer: order, units, ranks (spec 50)."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from publishing.domain.payload import FragmentPayload

MAX_EXCERPTS = 5
"""How many fragments of one unit an answer shows: its best ones."""


@dataclass(frozen=True, slots=True)
class Hit:
    """One fragment found: its point's payload and the engine's score."""

    score: float
    payload: FragmentPayload


@dataclass(frozen=True, slots=True)
class UnitHit:
    """One unit found: the best fragment's score, and its best fragments in ordinal order."""

    evidence_id: str
    score: float
    fragments: tuple[FragmentPayload, ...]

    @property
    def first(self) -> FragmentPayload:
        """Give a fragment for what all fragments of a unit have in common."""
        return self.fragments[0]


def ordered(hits: Iterable[Hit]) -> tuple[Hit, ...]:
    """Order by score, then evidence id, then ordinal, since the engine leaves ties in no order."""
    return tuple(sorted(hits, key=_place))


def group_by_unit(hits: Iterable[Hit]) -> tuple[UnitHit, ...]:
    """Give one entry a unit, best first; a fragment that came twice counts once."""
    found: dict[str, dict[int, Hit]] = {}
    for hit in ordered(hits):
        found.setdefault(hit.payload.evidence_id, {}).setdefault(hit.payload.ordinal, hit)
    return tuple(_unit(tuple(fragments.values())) for fragments in found.values())


def unit_ranks(hits: Iterable[Hit]) -> dict[str, int]:
    """Give the 1-based rank of each unit, over grouped units (spec 50, Evaluation)."""
    return {unit.evidence_id: rank for rank, unit in enumerate(group_by_unit(hits), start=1)}


def _place(hit: Hit) -> tuple[float, str, int]:
    return (-hit.score, hit.payload.evidence_id, hit.payload.ordinal)


def _unit(best_first: tuple[Hit, ...]) -> UnitHit:
    shown = sorted(best_first[:MAX_EXCERPTS], key=lambda hit: hit.payload.ordinal)
    return UnitHit(
        evidence_id=best_first[0].payload.evidence_id,
        score=best_first[0].score,
        fragments=tuple(hit.payload for hit in shown),
    )
