"""The exam of a generation as a value: ranks in, the report of spec 50 out."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final, TypedDict

from evidence.domain.questions import Question
from publishing.domain.confidence import Confidence

FIRST, LAST = 5, 10
"""The two cuts that count: hit@5 informs, hit@10 decides."""
KEPT: Final = 20
"""How many units of a fused answer are kept, to tell later what came to stand above another."""
FUSIONS: Final[Mapping[str, Mapping[str, object]]] = {
    "rrf": {"rrf": {}},
    "dbsf": {"fusion": "dbsf"},
}
"""A fusion as the engine is asked for it."""


class Asked(TypedDict):
    """A question and the units of its fused answer, best first, as kept beside a report."""

    query: str
    units: list[str]


@dataclass(frozen=True, slots=True)
class Ranks:
    """Where units came, 1-based over grouped units, in each branch and in the fused list."""

    dense: Mapping[str, int]
    bm25: Mapping[str, int]
    fused: Mapping[str, int]

    def in_order(self) -> tuple[Mapping[str, int], ...]:
        """Give dense, BM25 and fused ranks, as tables show them."""
        return (self.dense, self.bm25, self.fused)


@dataclass(frozen=True, slots=True)
class Answered:
    """One question of the exam and where the units it expects came."""

    question: Question
    ranks: Ranks

    def hit_at(self, cut: int) -> bool:
        """Tell whether one expected unit is among the first `cut` fused ones."""
        return any(self.found_at(unit, cut) for unit in self.question.expected)

    def found_at(self, evidence_id: str, cut: int) -> bool:
        """Tell whether this unit is among the first `cut` fused ones."""
        return self.ranks.fused.get(evidence_id, cut + 1) <= cut

    def as_json(self) -> dict[str, object]:
        """Give the question's line of the report."""
        return {
            "id": self.question.id,
            "profile": self.question.profile.value,
            "purpose": self.question.purpose.value,
            "hit_at_5": self.hit_at(FIRST),
            "hit_at_10": self.hit_at(LAST),
            "expected": [
                {
                    "evidence_id": unit,
                    "dense_rank": self.ranks.dense.get(unit),
                    "bm25_rank": self.ranks.bm25.get(unit),
                    "fused_rank": self.ranks.fused.get(unit),
                }
                for unit in self.question.expected
            ],
        }


@dataclass(frozen=True, slots=True)
class OffTopic:
    """A question the workspace does not answer, and how its results were judged."""

    query: str
    confidence: Confidence


@dataclass(frozen=True, slots=True)
class Exam:
    """All answers of one generation, and the threshold computed from them."""

    revision: str
    generation: str
    fusion: str
    answered: Sequence[Answered]
    kinds: Mapping[str, str]
    """Kind by evidence id, for every id that a question expects."""
    threshold: float
    off_topic: Sequence[OffTopic] = ()

    @property
    def passed(self) -> bool:
        """Tell whether every question found one expected unit among the first ten."""
        return all(answer.hit_at(LAST) for answer in self.answered)

    @property
    def hit_at_5(self) -> float:
        """Give the share of questions with a hit among the first five."""
        return self._share(FIRST)

    @property
    def hit_at_10(self) -> float:
        """Give the share of questions with a hit among the first ten."""
        return self._share(LAST)

    def missing(self) -> list[dict[str, str]]:
        """List the expected units that a caller would never see: not among the first ten."""
        return [
            {"query": answer.question.id, "evidence_id": unit}
            for answer in self.answered
            for unit in answer.question.expected
            if not answer.found_at(unit, LAST)
        ]

    def by_kind(self) -> dict[str, dict[str, int]]:
        """Count expectations, and those found among the first ten, by the unit's kind."""
        counts: dict[str, dict[str, int]] = defaultdict(lambda: {"expected": 0, "found_at_10": 0})
        for answer in self.answered:
            for unit in answer.question.expected:
                of_kind = counts[self.kinds[unit]]
                of_kind["expected"] += 1
                of_kind["found_at_10"] += answer.found_at(unit, LAST)
        return {kind: counts[kind] for kind in sorted(counts)}

    def as_json(self) -> dict[str, object]:
        """Give the report exactly as spec 50, Evaluation, prints it."""
        return {
            "workspace_revision": self.revision,
            "generation": self.generation,
            "fusion": FUSIONS[self.fusion],
            "passed": self.passed,
            "hit_at_5": self.hit_at_5,
            "hit_at_10": self.hit_at_10,
            "queries": [answer.as_json() for answer in self.answered],
            "missing": self.missing(),
            "empty_queries": [
                answer.question.id for answer in self.answered if not answer.ranks.fused
            ],
            "by_kind": self.by_kind(),
            "threshold": self.threshold,
            "off_topic": [
                {"query": one.query, "confidence": one.confidence.value} for one in self.off_topic
            ],
        }

    def answers(self) -> dict[str, Asked]:
        """Give what is kept beside the report, by question."""
        return {
            answer.question.id: Asked(
                query=answer.question.query,
                units=sorted(answer.ranks.fused, key=answer.ranks.fused.__getitem__)[:KEPT],
            )
            for answer in self.answered
        }

    def _share(self, cut: int) -> float:
        hits = sum(answer.hit_at(cut) for answer in self.answered)
        return hits / len(self.answered) if self.answered else 0.0
