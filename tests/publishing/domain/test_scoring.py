"""However the engine orders its hits, the answer is one list of units."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from publishing.domain.points import draft_points
from publishing.domain.scoring import MAX_EXCERPTS, Hit, group_by_unit, ordered, unit_ranks
from tests.publishing.points import a_generation, a_unit


def hit(title: str, ordinal: int, score: float) -> Hit:
    payload = draft_points(a_unit(title), path="x", key=a_generation().key)[0].payload
    return Hit(score=score, payload=payload.model_copy(update={"ordinal": ordinal}))


HITS = [
    hit(title, ordinal, 1 / (2 + rank)) for title in "abc" for ordinal in (0, 1) for rank in (0, 1)
]


@given(st.permutations(HITS))
def test_any_order_of_hits_gives_the_same_units(hits):
    assert group_by_unit(hits) == group_by_unit(HITS)
    assert [one.score for one in ordered(hits)] == sorted([one.score for one in hits], reverse=True)


def test_ties_are_broken_by_evidence_id_then_ordinal():
    hits = [hit("b", 1, 0.5), hit("b", 0, 0.5), hit("a", 7, 0.5), hit("c", 0, 0.9)]
    assert [(one.payload.evidence_id, one.payload.ordinal) for one in ordered(hits)] == [
        ("evidence:c", 0),
        ("evidence:a", 7),
        ("evidence:b", 0),
        ("evidence:b", 1),
    ]


def test_fragments_of_one_unit_become_one_result_with_the_best_score():
    units = group_by_unit([hit("a", 2, 0.3), hit("b", 0, 0.5), hit("a", 0, 0.7), hit("a", 1, 0.1)])
    assert [(unit.evidence_id, unit.score) for unit in units] == [
        ("evidence:a", 0.7),
        ("evidence:b", 0.5),
    ]
    assert [fragment.ordinal for fragment in units[0].fragments] == [0, 1, 2]


def test_a_fragment_that_came_twice_counts_once():
    (unit,) = group_by_unit([hit("a", 0, 0.3), hit("a", 0, 0.7)])
    assert (unit.score, len(unit.fragments)) == (0.7, 1)


def test_excerpts_are_the_best_ones_in_ordinal_order_and_bounded():
    hits = [hit("a", ordinal, ordinal / 10) for ordinal in range(9)]
    (unit,) = group_by_unit(hits)
    assert [fragment.ordinal for fragment in unit.fragments] == [4, 5, 6, 7, 8]
    assert len(unit.fragments) == MAX_EXCERPTS


def test_ranks_start_at_one_and_count_units():
    ranks = unit_ranks([hit("a", 0, 0.9), hit("a", 1, 0.8), hit("b", 0, 0.7)])
    assert ranks == {"evidence:a": 1, "evidence:b": 2}


def test_nothing_found_is_nothing():
    assert group_by_unit([]) == ()
    assert unit_ranks([]) == {}
