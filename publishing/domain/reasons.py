"""Why a unit is, or is not, in an answer: what kept it out, and where each branch put it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from publishing.domain.confidence import matched_words
from publishing.domain.payload import FragmentPayload
from publishing.domain.query import EvidenceFilter
from publishing.domain.scoring import Hit, group_by_unit, unit_ranks

LOOK: Final = 200
"""How many fragments of a branch are looked at for one unit; a search itself takes fewer."""


class Verdict(StrEnum):
    """What became of a unit, in the order in which it can drop out."""

    UNKNOWN = "unknown"
    NOT_PUBLISHED = "not_published"
    ORPHAN = "orphan"
    EXCLUDED = "excluded"
    TOO_FAR = "too_far"
    CUT = "cut"
    SHOWN = "shown"


@dataclass(frozen=True, slots=True)
class Exclusion:
    """One filter that the unit does not pass: the field, what it has, what was asked for."""

    field: str
    has: tuple[str, ...]
    asked: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Lists:
    """The three lists of one search, as deep as they were asked for."""

    dense: Sequence[Hit]
    bm25: Sequence[Hit]
    fused: Sequence[Hit]


@dataclass(frozen=True, slots=True)
class Standing:
    """Where a unit stands in one branch: its 1-based rank over units and its best score."""

    rank: int
    score: float


@dataclass(frozen=True, slots=True)
class Reason:
    """All that can be said about one unit and one question."""

    verdict: Verdict
    exclusions: tuple[Exclusion, ...] = ()
    dense: Standing | None = None
    bm25: Standing | None = None
    fused: int | None = None
    words: tuple[str, ...] = ()
    """Words of the question that the unit contains, as the question writes them."""


def exclusions(payload: FragmentPayload, wanted: EvidenceFilter) -> tuple[Exclusion, ...]:
    """Give each filter that a unit's fragment does not pass; none when it passes them all."""
    lists: tuple[tuple[str, Sequence[str], Sequence[str]], ...] = (
        ("purpose", payload.purposes, (wanted.purpose,)),
        ("kind", (payload.evidence_kind,), wanted.kinds),
        ("concepts", payload.concepts, wanted.concepts),
        ("tables", payload.tables, wanted.tables),
        ("columns", payload.columns, wanted.columns),
    )
    return tuple(
        Exclusion(field, tuple(map(str, has)), tuple(map(str, asked)))
        for field, has, asked in lists
        if asked and set(asked).isdisjoint(has)
    )


def reason_for(
    fragments: Sequence[FragmentPayload],
    *,
    question: str,
    language: str,
    wanted: EvidenceFilter,
    lists: Lists,
    top_n: int,
) -> Reason:
    """Say what became of a unit of the generation, given its fragments and the search's lists."""
    unit = fragments[0].evidence_id
    words = matched_words(question, [each.text for each in fragments], language=language)
    kept_out = exclusions(fragments[0], wanted)
    if kept_out:
        return Reason(Verdict.EXCLUDED, exclusions=kept_out, words=words)
    fused = unit_ranks(lists.fused).get(unit)
    verdict = Verdict.TOO_FAR
    if fused is not None:
        verdict = Verdict.SHOWN if fused <= top_n else Verdict.CUT
    return Reason(
        verdict,
        dense=standing(unit, lists.dense),
        bm25=standing(unit, lists.bm25),
        fused=fused,
        words=words,
    )


def standing(evidence_id: str, hits: Sequence[Hit]) -> Standing | None:
    """Give where a unit stands in a list, or None when it is not in it."""
    for rank, unit in enumerate(group_by_unit(hits), start=1):
        if unit.evidence_id == evidence_id:
            return Standing(rank, unit.score)
    return None
