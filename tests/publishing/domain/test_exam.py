"""The report of an exam, from ranks alone."""

from __future__ import annotations

import pytest

from evidence.domain.questions import Question
from publishing.domain.confidence import Confidence
from publishing.domain.exam import Answered, Exam, OffTopic, Ranks


def question(name: str, *expected: str) -> Question:
    return Question.model_validate(
        {
            "id": name,
            "query": "Che cosa significa?",
            "profile": "semantic",
            "purpose": "sql_generation",
            "expected": list(expected),
        }
    )


def answered(name: str, **fused: int | None) -> Answered:
    ids = {f"evidence:{unit}": rank for unit, rank in fused.items()}
    ranks = {unit: rank for unit, rank in ids.items() if rank is not None}
    return Answered(question(name, *ids), Ranks(dense={}, bm25={}, fused=ranks))


def exam(*answers: Answered) -> Exam:
    units = {unit for one in answers for unit in one.question.expected}
    return Exam(
        revision="a" * 40,
        generation="g",
        fusion="rrf",
        answered=answers,
        kinds=dict.fromkeys(units, "formula"),
        threshold=0.5,
        off_topic=[OffTopic("Un calzino?", Confidence.WEAK)],
    )


def test_it_passes_when_every_question_has_one_expected_unit_among_the_first_ten() -> None:
    assert exam(answered("one", a=10, b=None), answered("two", c=1)).passed


def test_one_question_with_nothing_among_the_first_ten_is_enough_to_fail() -> None:
    assert not exam(answered("one", a=1), answered("two", b=11)).passed


@pytest.mark.parametrize(
    ("rank", "at_5", "at_10"), [(1, 1.0, 1.0), (5, 1.0, 1.0), (6, 0.0, 1.0), (11, 0.0, 0.0)]
)
def test_a_hit_counts_up_to_its_cut_and_no_further(rank: int, at_5: float, at_10: float) -> None:
    result = exam(answered("one", a=rank))
    assert (result.hit_at_5, result.hit_at_10) == (at_5, at_10)


def test_hits_are_shares_of_questions_and_not_of_expected_units() -> None:
    result = exam(answered("one", a=1, b=None, c=None), answered("two", d=None))
    assert result.hit_at_10 == 0.5


def test_what_a_caller_would_never_see_is_missing() -> None:
    result = exam(answered("one", a=1, b=11), answered("two", c=None))
    assert result.missing() == [
        {"query": "one", "evidence_id": "evidence:b"},
        {"query": "two", "evidence_id": "evidence:c"},
    ]


def test_kinds_are_counted_over_expectations() -> None:
    assert exam(answered("one", a=1, b=11)).by_kind() == {
        "formula": {"expected": 2, "found_at_10": 1}
    }


def test_the_report_has_exactly_the_keys_of_the_specification() -> None:
    report = exam(answered("one", a=2)).as_json()
    assert list(report) == [
        "workspace_revision",
        "generation",
        "fusion",
        "passed",
        "hit_at_5",
        "hit_at_10",
        "queries",
        "missing",
        "empty_queries",
        "by_kind",
        "threshold",
        "off_topic",
    ]
    assert report["fusion"] == {"rrf": {}}
    assert report["off_topic"] == [{"query": "Un calzino?", "confidence": "weak"}]
    assert report["queries"] == [
        {
            "id": "one",
            "profile": "semantic",
            "purpose": "sql_generation",
            "hit_at_5": True,
            "hit_at_10": True,
            "expected": [
                {
                    "evidence_id": "evidence:a",
                    "dense_rank": None,
                    "bm25_rank": None,
                    "fused_rank": 2,
                }
            ],
        }
    ]
