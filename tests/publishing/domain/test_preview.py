"""Ranks before and after a release: what is worse, and the changed units it is traced to."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from publishing.domain.preview import (
    QuestionChange,
    Sat,
    Standing,
    UnitStanding,
    Verdict,
    compare,
    read,
    suspects,
)

WANTED = "evidence:fascia"


def sat(
    *units: str, expected: tuple[str, ...] = (WANTED,), query: str = "Che cosa?", dense: int = 1
) -> Sat:
    """Give a question whose fused answer is these units, by name, best first."""
    ids = tuple(f"evidence:{unit}" for unit in units)
    return Sat(
        query=query,
        purpose="sql_generation",
        expected={
            one: Standing(dense, None, ids.index(one) + 1 if one in ids else None)
            for one in expected
        },
        units=ids,
    )


def compared(before: Sat | None, after: Sat) -> UnitStanding:
    (question,) = compare({"q": before} if before else {}, {"q": after})
    return question.expected[0]


@pytest.mark.parametrize(
    ("before", "after", "verdict", "overtaken_by"),
    [
        (("fascia", "a"), ("fascia", "a"), Verdict.SAME, ()),
        (("fascia", "a"), ("fascia", "b"), Verdict.SAME, ()),
        (("a", "fascia"), ("fascia", "a"), Verdict.BETTER, ()),
        (("a", "b", "fascia"), ("c", "fascia"), Verdict.BETTER, ("c",)),
        (("fascia", "a"), ("a", "fascia"), Verdict.WORSE, ("a",)),
        (("a", "fascia"), ("b", "fascia"), Verdict.WORSE, ("b",)),
        (("a", "fascia"), ("a", "b", "c", "fascia"), Verdict.WORSE, ("b", "c")),
        (("a", "fascia"), ("a", "b"), Verdict.WORSE, ("b",)),
        (("a",), ("a", "fascia"), Verdict.BETTER, ()),
        (("a",), ("b",), Verdict.SAME, ("b",)),
    ],
)
def test_an_expected_unit_is_worse_when_it_fell_was_lost_or_was_overtaken(
    before: tuple[str, ...],
    after: tuple[str, ...],
    verdict: Verdict,
    overtaken_by: tuple[str, ...],
) -> None:
    found = compared(sat(*before), sat(*after))
    assert found.verdict is verdict
    assert found.overtaken_by == tuple(f"evidence:{unit}" for unit in overtaken_by)


def test_a_branch_alone_makes_nothing_worse() -> None:
    found = compared(sat("fascia"), sat("fascia", dense=9))
    assert found.verdict is Verdict.SAME
    assert (found.before, found.after) == (Standing(1, None, 1), Standing(9, None, 1))


@pytest.mark.parametrize(
    "before",
    [
        None,
        sat("fascia", query="Altra domanda?"),
        Sat("Che cosa?", "rewriting", {WANTED: Standing(1, 1, 1)}, (WANTED,)),
        sat("fascia", expected=("evidence:altra",)),
    ],
    ids=["no exam", "other words", "other purpose", "expected anew"],
)
def test_another_question_or_expectation_has_nothing_before_it(before: Sat | None) -> None:
    found = compared(before, sat("a", "fascia"))
    assert (found.verdict, found.before, found.overtaken_by) == (Verdict.NEW, None, ())


def test_an_exam_that_kept_no_answers_is_compared_by_its_ranks() -> None:
    before = Sat("", "sql_generation", {WANTED: Standing(1, 1, 2)}, ())
    assert compared(before, sat("a", "fascia")).verdict is Verdict.SAME
    fallen = compared(before, sat("a", "b", "fascia"))
    assert (fallen.verdict, fallen.overtaken_by) == (Verdict.WORSE, ("evidence:a", "evidence:b"))


def test_a_question_is_as_bad_as_its_worst_unit_and_the_worst_come_first() -> None:
    two = (WANTED, "evidence:b")
    before = {name: sat("fascia", "b", expected=two) for name in ("same", "mixed", "better")}
    before["better"] = sat("a", "fascia", "b", expected=two)
    after = {
        "same": sat("fascia", "b", expected=two),
        "new": sat("fascia"),
        "better": sat("fascia", "b", expected=two),
        "mixed": sat("b", "fascia", expected=two),
    }
    assert [(one.id, one.verdict) for one in compare(before, after)] == [
        ("mixed", Verdict.WORSE),
        ("better", Verdict.BETTER),
        ("new", Verdict.NEW),
        ("same", Verdict.SAME),
    ]


def test_a_regression_is_traced_to_the_changed_among_itself_and_those_newly_above() -> None:
    found = compared(sat("a", "fascia"), sat("a", "b", "c", "fascia"))
    changed = {"evidence:a", "evidence:c", "evidence:elsewhere"}
    assert suspects(found, changed) == ("evidence:c",)
    assert suspects(found, changed | {WANTED}) == (WANTED, "evidence:c")
    assert suspects(found, {"evidence:elsewhere"}) == ()


def test_what_is_no_regression_has_no_suspects() -> None:
    found = compared(sat("a", "fascia"), sat("fascia"))
    assert suspects(found, {WANTED}) == ()


def test_a_stored_report_is_read_with_the_answers_beside_it() -> None:
    rank = {"evidence_id": WANTED, "dense_rank": 1, "bm25_rank": None, "fused_rank": 2}
    report = {"queries": [{"id": "q", "purpose": "rewriting", "expected": [rank]}]}
    known = read(report, {"q": {"query": "Che cosa?", "units": ["evidence:a", WANTED]}})
    assert known == {
        "q": Sat("Che cosa?", "rewriting", {WANTED: Standing(1, None, 2)}, ("evidence:a", WANTED))
    }
    assert read(report, {})["q"].units == ()
    assert read({}, {}) == {}


ANSWERS = st.lists(st.sampled_from("abcdefgh"), unique=True, max_size=8)


@given(before=ANSWERS, after=ANSWERS, changed=st.sets(st.sampled_from("abcdefgh")))
def test_every_fall_names_who_stands_above_and_only_changed_units_are_suspected(
    before: list[str], after: list[str], changed: set[str]
) -> None:
    wanted = ("evidence:a",)
    found = compared(sat(*before, expected=wanted), sat(*after, expected=wanted))
    ids = {f"evidence:{unit}" for unit in changed}
    assert set(suspects(found, ids)) <= ids & {"evidence:a", *found.overtaken_by}
    if "a" in before and "a" in after and after.index("a") > before.index("a"):
        assert found.verdict is Verdict.WORSE
        assert found.overtaken_by
    if before == after:
        assert found.verdict is Verdict.SAME


def test_a_question_without_words_shows_its_id() -> None:
    (question,) = compare({}, {"q": sat("fascia", query="")})
    assert isinstance(question, QuestionChange)
    assert question.query == "q"
