"""What an evaluation set covers, and which questions ever failed."""

from __future__ import annotations

from evidence.domain.questions import parse_evaluation
from evidence.overview import UnitPlace
from publishing.domain.set_health import Coverage, health

SET = parse_evaluation(
    """\
schema_version: 1
queries:
- {id: uno, query: Uno?, profile: semantic, purpose: rewriting, expected: [evidence:a]}
- {id: due, query: Due?, profile: lexical, purpose: rewriting, expected: [evidence:a]}
- {id: tre, query: Tre?, profile: mixed, purpose: sql_generation, expected: [evidence:b]}
"""
)
UNITS = [
    UnitPlace(1, "evidence:a", "A", "formula", "source/x.md", ("rewriting", "sql_generation")),
    UnitPlace(2, "evidence:b", "B", "enum", "source/x.md", ("sql_generation",)),
    UnitPlace(3, "evidence:c", "C", "enum", "source/y.md", ("schema_linking",)),
]


def report(**hits: bool) -> dict[str, object]:
    return {"queries": [{"id": name, "hit_at_10": hit} for name, hit in hits.items()]}


def test_coverage_counts_units_by_kind_purpose_and_source() -> None:
    found = health(SET, UNITS, [])
    assert found.by_kind == (Coverage("enum", 1, 2), Coverage("formula", 1, 1))
    assert found.by_purpose == (
        Coverage("rewriting", 1, 1, questions=2),
        Coverage("schema_linking", 0, 1),
        Coverage("sql_generation", 2, 2, questions=1),
    )
    assert found.by_source == (Coverage("source/x.md", 2, 2), Coverage("source/y.md", 0, 1))
    assert found.unexpected == ("evidence:c",)


def test_a_question_never_failed_only_when_it_was_examined_and_always_hit() -> None:
    reports = [report(uno=True, due=True), report(uno=True, due=False), report(gone=False)]
    found = health(SET, UNITS, reports)
    assert found.never_failed == ("uno",)
    assert found.failed == {"due": 1}


def test_an_empty_workspace_has_nothing_to_cover() -> None:
    found = health(SET, [], [])
    assert (found.by_kind, found.unexpected, found.never_failed) == ((), (), ())
