"""Units that say nearly the same words."""

from __future__ import annotations

import random
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from evidence.domain.codec import dump_curated_markdown
from evidence.domain.dismissals import Dismissal, Dismissals, Side
from evidence.domain.identifiers import unit_path
from evidence.domain.likeness import (
    ALIKE,
    COMMON,
    SKETCH,
    Likeness,
    by_key,
    check_likeness,
    likeness_of,
)
from evidence.domain.unit_inspection import inspect_unit
from tests.evidence.domain.corpus import a_unit

NOTE = (
    "Sono pediatrici i pazienti che al momento del ricovero hanno meno di diciotto anni compiuti,"
    " anche quando la dimissione avviene dopo il compleanno; fanno eccezione i neonati."
)
WORDS = [f"parola{number}" for number in range(400)]


def like(name: str, text: str, kind: str = "domain", **fields: Any) -> Likeness:
    payload = {"topic": "x"} if kind == "domain" else None
    fields = fields | ({"payload": payload, "body": text} if payload else {})
    unit = a_unit(kind, id=f"evidence:{name}", title="Fasce", **fields)
    inspection = inspect_unit(unit_path(unit.kind, unit.id), dump_curated_markdown(unit).encode())
    made = likeness_of(inspection)
    assert made is not None
    return made


def pairs(some: list[Likeness], dismissed: Dismissals = frozenset()) -> set[tuple[str, str]]:
    """Give who is told of whom, by the names of the units."""
    ordered = sorted(some, key=lambda each: each.path)
    index = by_key(ordered)
    return {
        (mine.path.split("/")[2][:-3], str(found.message.values["other"]).split("/")[2][:-3])
        for mine in ordered
        for found in check_likeness(mine, lambda key: index.get(key, ()), dismissed)
    }


TWO = {("a", "b"), ("b", "a")}


def test_the_same_words_in_another_dress_are_told() -> None:
    other = NOTE.upper().replace(",", " -").replace("É", "E")
    assert pairs([like("a", NOTE), like("b", f"**{other}**")]) == TWO


def test_a_changed_word_in_a_paragraph_is_still_nearly_the_same() -> None:
    assert pairs([like("a", NOTE), like("b", NOTE.replace("compleanno", "genetliaco"))]) == TWO


def test_other_words_are_not() -> None:
    other = "La mortalità a trenta giorni conta i decessi avvenuti entro un mese dalla dimissione."
    assert pairs([like("a", NOTE), like("b", other), like("c", NOTE[:60])]) == set()


def test_a_short_text_is_alike_only_when_it_is_equal() -> None:
    assert pairs([like("a", "Meno di 18 anni."), like("b", "Meno di 16 anni.")]) == set()
    assert pairs([like("a", "Meno di 18 anni."), like("b", "meno di 18 anni")]) == TWO


def test_units_of_two_kinds_may_say_the_same() -> None:
    words = {"term": "x", "definition": NOTE}
    glossary = like("b", "", kind="glossary", payload=words)
    assert pairs([like("a", NOTE), glossary]) == set()
    assert pairs([glossary, like("a", "", kind="glossary", payload=words)]) == TWO


def test_a_dismissal_silences_a_pair_until_a_side_changes() -> None:
    a, b, c = (like(name, NOTE) for name in "abc")
    dismissed = frozenset({Dismissal.of("near_duplicate", b.side, a.side)})
    assert pairs([a, b], dismissed) == set()
    assert pairs([a, b, c], dismissed) == {("a", "c"), ("b", "c"), ("c", "a")}
    changed = like("b", f"{NOTE} Fine.")
    assert pairs([a, changed], dismissed) == TWO


def test_a_text_without_words_is_like_nothing() -> None:
    unit = a_unit("glossary", title="?", payload={"term": "?", "definition": "…"}, body="---")
    data = dump_curated_markdown(unit).encode()
    assert likeness_of(inspect_unit("curated/glossary/x.md", data)) is None
    assert likeness_of(inspect_unit("curated/glossary/x.md", b"nothing")) is None


def test_whatever_the_number_of_equal_units_each_is_told_of_one() -> None:
    some = [like(f"u{number}", NOTE) for number in range(COMMON * 3)]
    assert len(pairs(some)) == COMMON * 3


def test_a_phrase_that_everybody_uses_makes_nobody_alike_and_costs_no_comparison(
    monkeypatch: Any,
) -> None:
    chance = random.Random(3)  # noqa: S311
    some = [
        like(f"u{number}", f"{NOTE} " + " ".join(chance.sample(WORDS, 60))) for number in range(60)
    ]
    compared: list[Likeness] = []
    similarity = Likeness.similarity

    def counting(mine: Likeness, other: Likeness) -> float:
        compared.append(other)
        return similarity(mine, other)

    monkeypatch.setattr(Likeness, "similarity", counting)
    assert pairs(some) == set()
    assert len(compared) <= len(some) * COMMON


def test_the_index_finds_what_comparing_everybody_with_everybody_finds() -> None:
    chance = random.Random(5)  # noqa: S311
    some: list[Likeness] = []
    for number in range(40):
        words = chance.choices(WORDS[:200], k=chance.randrange(4, 90))
        for copy in range(chance.randrange(1, 4)):
            changed = list(words)
            for _ in range(copy):
                changed[chance.randrange(len(changed))] = chance.choice(WORDS)
            some.append(like(f"u{number}-{copy}", " ".join(changed)))
    expected = {
        mine.path
        for mine in some
        for other in some
        if other.path != mine.path and mine.similarity(other) >= ALIKE
    }
    assert len(expected) > 10
    assert {f"curated/domain/{name}.md" for name, _ in pairs(some)} == expected


sketches = st.sets(st.integers(0, 60), min_size=1, max_size=SKETCH)


@given(sketches, sketches)
def test_two_sketches_that_are_alike_share_a_key(one: set[int], other: set[int]) -> None:
    side = Side("evidence:a", "sha256:" + "0" * 64)
    mine, theirs = (
        Likeness(name, side, name, tuple(sorted(s)))
        for name, s in zip("ab", (one, other), strict=True)
    )
    if mine.similarity(theirs) >= ALIKE:
        assert set(mine.keys) & set(theirs.keys)


def test_the_similarity_of_small_sets_is_the_share_they_have_in_common() -> None:
    side = Side("evidence:a", "sha256:" + "0" * 64)
    one, other = Likeness("a", side, "", (1, 2, 3)), Likeness("b", side, "", (2, 3, 4, 5))
    assert one.similarity(other) == other.similarity(one) == 2 / 5
