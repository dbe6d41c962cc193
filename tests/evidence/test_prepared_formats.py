"""Sources of every format go through a preparation like notes do."""

from __future__ import annotations

import pytest

from evidence.adapters.rules.restructurer import RulesRestructurer
from evidence.candidates import CandidateRefused
from evidence.domain.sections import SourceUnreadable
from evidence.domain.unit_files import UnitFiles
from evidence.domain.validation import validate
from evidence.preparation import prepare
from tests.evidence.trees import WORKSPACE_YAML, a_tree

ALL = f"{WORKSPACE_YAML}evidence:\n  source_formats: [md, yaml, json, py, sql]\n"
SAID = "Distruzione mirata di un tessuto malato con il calore."
SOURCES = {
    "source/a.yaml": f"# Termini\n\nablazione: {SAID}\n",
    "source/b.json": f'{{"termoablazione": "{SAID}"}}\n',
    "source/c.py": f'def radiofrequenza():\n    """{SAID}\n    """\n',
    "source/d.sql": "-- Quanti ricoveri nel 2024?\nSELECT count(*) FROM clinical.admission;\n",
}


@pytest.mark.parametrize("path", SOURCES)
def test_a_source_of_another_format_gives_units_that_quote_its_rendering(path: str) -> None:
    tree = a_tree({path: SOURCES[path]}, workspace=ALL)
    preparation = prepare(tree, RulesRestructurer())
    after = preparation.change_set.apply(tree)
    units = UnitFiles.of(after)
    assert units.paths
    assert {units.unit(each).provenance.source_file for each in units.paths} == {path}
    errors = {found.code for found in validate(after).findings if found.severity == "error"}
    assert errors == {"evaluation_missing"}
    assert not prepare(after, RulesRestructurer()).change_set


def test_a_source_that_cannot_be_read_stops_the_preparation_and_is_named() -> None:
    tree = a_tree({"source/a.json": '{"a": 1,\n "a": }'}, workspace=ALL)
    with pytest.raises(SourceUnreadable) as caught:
        prepare(tree, RulesRestructurer())
    assert (caught.value.path, caught.value.line) == ("source/a.json", 2)


@pytest.mark.parametrize("character", ["\x01", "\x0c", "\x1b", "\x7f"])
def test_a_control_character_in_a_term_is_refused_with_its_note(character: str) -> None:
    tree = a_tree({"source/a.md": f"# Termini\n\nDRG{character}: gruppo di ricoveri omogenei.\n"})
    with pytest.raises(CandidateRefused) as caught:
        prepare(tree, RulesRestructurer())
    assert caught.value.path == "source/a.md"


def test_a_nul_that_json_spells_out_is_refused_with_its_file() -> None:
    tree = a_tree(
        {"source/a.json": r'{"Termini": "DRG\u0000: gruppo di ricoveri."}'}, workspace=ALL
    )
    with pytest.raises(CandidateRefused) as caught:
        prepare(tree, RulesRestructurer())
    assert caught.value.path == "source/a.json"
