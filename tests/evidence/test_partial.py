"""A part of a preparation's change leaves a tree that is as true as the whole."""

from __future__ import annotations

from itertools import chain, combinations

import pytest

from evidence.adapters.rules.restructurer import RulesRestructurer
from evidence.domain.partial import (
    SourceNotProposed,
    UnitNotNew,
    part_of,
    source_of_new,
    sources_of,
    without_units,
)
from evidence.domain.tree import ChangeSet, EvidenceTree
from evidence.domain.validation import validate
from evidence.preparation import prepare
from tests.evidence.trees import a_tree, the_manifest

BEFORE = {
    "source/cambiata.md": "Unità operativa: il reparto che ha in carico il paziente.\n",
    "source/ferma.md": "Pronto soccorso: il reparto che accoglie le urgenze.\n",
    "source/tolta.md": "Day hospital: ricovero che finisce in giornata.\n",
    "source/vecchia.md": "Scheda di dimissione: il documento che chiude un ricovero.\n",
}
AFTER = {
    "source/cambiata.md": "Unità operativa: un reparto di cura.\n\nAccesso: arrivo in reparto.\n",
    "source/ferma.md": BEFORE["source/ferma.md"],
    "source/nuova.md": "Ricovero ordinario: ricovero con pernottamento.\n",
    "source/rinominata.md": BEFORE["source/vecchia.md"],
    "source/vuota.md": "Niente da dire.\n",
}
ABOUT = (
    "source/cambiata.md",
    "source/nuova.md",
    "source/rinominata.md",
    "source/tolta.md",
    "source/vuota.md",
)


def every_choice() -> list[tuple[str, ...]]:
    sizes = range(1, len(ABOUT) + 1)
    return list(chain.from_iterable(combinations(ABOUT, size) for size in sizes))


@pytest.fixture(scope="module")
def tree() -> EvidenceTree:
    """Give a prepared tree whose sources have changed since in every way."""
    first = a_tree(BEFORE)
    prepared = prepare(first, RulesRestructurer()).change_set.apply(first)
    assert all(entry.units for entry in the_manifest(prepared).sources.values())
    files = {path: data for path, data in prepared.files.items() if path not in BEFORE}
    return a_tree({**files, **AFTER})


@pytest.fixture(scope="module")
def whole(tree: EvidenceTree) -> ChangeSet:
    return prepare(tree, RulesRestructurer()).change_set


def errors(tree: EvidenceTree) -> set[tuple[str, str]]:
    found = validate(tree).findings
    return {(each.code, each.path) for each in found if each.severity == "error"}


def test_a_change_is_about_its_sources_a_renamed_one_by_its_new_name(
    tree: EvidenceTree, whole: ChangeSet
) -> None:
    assert sources_of(whole, the_manifest(tree)) == ABOUT


@pytest.mark.parametrize("chosen", every_choice(), ids="+".join)
def test_no_part_breaks_what_was_in_order(
    tree: EvidenceTree, whole: ChangeSet, chosen: tuple[str, ...]
) -> None:
    part = part_of(whole, the_manifest(tree), chosen)
    after = part.apply(tree)
    assert errors(after) <= errors(tree)
    rest = prepare(after, RulesRestructurer()).change_set
    assert rest.apply(after).files == whole.apply(tree).files


def test_all_sources_together_are_the_whole(tree: EvidenceTree, whole: ChangeSet) -> None:
    assert part_of(whole, the_manifest(tree), ABOUT) == whole


def test_a_part_touches_no_other_source(tree: EvidenceTree, whole: ChangeSet) -> None:
    before = the_manifest(tree)
    after = the_manifest(part_of(whole, before, ["source/nuova.md"]).apply(tree))
    assert set(after.sources) - set(before.sources) == {"source/nuova.md"}
    assert after.sources["source/nuova.md"].units
    assert {path: after.sources[path] for path in before.sources} == before.sources
    assert after.orphans == before.orphans


def test_a_note_that_went_leaves_orphans_and_only_its_own(
    tree: EvidenceTree, whole: ChangeSet
) -> None:
    before = the_manifest(tree)
    after = the_manifest(part_of(whole, before, ["source/tolta.md"]).apply(tree))
    assert after.orphans
    assert after.orphans == before.sources["source/tolta.md"].units
    assert "source/vecchia.md" in after.sources


@pytest.mark.parametrize("chosen", [[], ["source/ferma.md"], ["source/tolta.md", "x"]])
def test_what_a_change_is_not_about_is_no_choice(
    tree: EvidenceTree, whole: ChangeSet, chosen: list[str]
) -> None:
    with pytest.raises(SourceNotProposed):
        part_of(whole, the_manifest(tree), chosen)


def test_a_new_unit_is_taken_out_and_nothing_else(tree: EvidenceTree, whole: ChangeSet) -> None:
    before = the_manifest(tree)
    (unit,) = the_manifest(whole.apply(tree)).sources["source/nuova.md"].units
    assert source_of_new(whole, before, unit) == "source/nuova.md"
    after = without_units(whole, before, [unit]).apply(tree)
    assert the_manifest(after).sources["source/nuova.md"].units == ()
    assert errors(after) <= errors(tree)
    gone = set(whole.apply(tree).files) - set(after.files)
    assert [path.rpartition("/")[2] for path in gone] == ["ricovero-ordinario.md"]
    assert not prepare(after, RulesRestructurer()).change_set


def test_a_unit_that_was_there_before_is_not_taken_out(
    tree: EvidenceTree, whole: ChangeSet
) -> None:
    before = the_manifest(tree)
    (known,) = before.sources["source/cambiata.md"].units
    for evidence_id in (known, "evidence:mai-vista"):
        with pytest.raises(UnitNotNew):
            source_of_new(whole, before, evidence_id)
