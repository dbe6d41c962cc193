"""The context pack as a pure function: whatever comes in, the budget holds."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from search_api.context_pack import Piece, Section, assemble, count_tokens

TEXTS = st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=120)
PIECES = st.builds(Piece, evidence_id=st.sampled_from(["a", "b", "c", "d"]), text=TEXTS)
SECTIONS = st.lists(
    st.builds(Section, heading=TEXTS, pieces=st.lists(PIECES, max_size=6).map(tuple)), max_size=4
)


@given(TEXTS, SECTIONS, st.integers(1, 200))
def test_a_pack_never_exceeds_its_budget_and_names_every_unit_once(title, sections, budget):
    pack = assemble(title, sections, budget=budget)
    assert -(-len(pack.markdown.encode()) // 3) == pack.token_count <= budget
    offered = {piece.evidence_id for section in sections for piece in section.pieces}
    assert sorted(pack.included + pack.left_out) == sorted(offered)


@given(TEXTS, SECTIONS)
def test_with_room_for_all_nothing_is_left_out_and_the_order_stays(title, sections):
    pack = assemble(title, sections, budget=20_000)
    assert pack.left_out == ()
    texts = [piece.text for section in sections for piece in section.pieces]
    place = 0
    for text in texts:
        place = pack.markdown.index(text, place) + len(text)


def test_a_smaller_piece_is_taken_after_one_that_does_not_fit():
    sections = [Section("Formulas", (Piece("big", "x" * 400), Piece("small", "y")))]
    pack = assemble("# T", sections, budget=20)
    assert (pack.included, pack.left_out) == (("small",), ("big",))
    assert pack.markdown == "# T\n\n## Formulas\n\ny"
    assert count_tokens("è") == 1
