"""A badly structured note becomes typed units that people review, by the real `tht` on real Git."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest

from evidence.domain.codec import dump_curated_markdown, parse_curated_markdown
from evidence.domain.normalization import contains_excerpt, normalize_source
from evidence.domain.units import CuratedEvidence
from tests.evidence.trees import a_work_tree, bytes_below, commit_all, git, put

PROJECT = Path(__file__).parents[2]
NOTES = Path(__file__).parent / "notes"
MESSY = (NOTES / "pronto_soccorso.md").read_text()
OTHER = "# Dimissioni\n\n**Allontanato**: paziente dimesso contro il parere dei medici.\n"


def tht(*arguments: object) -> tuple[int, dict[str, object]]:
    """Run `tht evidence … --json` as a process and give its exit code and what it printed."""
    done = subprocess.run(
        [sys.executable, "-m", "portal.cli", "evidence", *map(str, arguments), "--json"],
        env={"PATH": os.environ["PATH"], "PYTHONPATH": str(PROJECT)},
        capture_output=True,
        check=False,
    )
    return done.returncode, json.loads(done.stdout)


def units_in(root: Path) -> dict[str, CuratedEvidence]:
    """Give the units of a folder by id."""
    found = (
        parse_curated_markdown(data.decode(), path=path)
        for path, data in bytes_below(root).items()
        if path.startswith("curated/")
    )
    return {unit.id: unit for unit in found}


def resolve_everything(root: Path) -> None:
    """Do a curator's work: clear every open item, and commit."""
    for path in (root / "evidence" / "curated").rglob("*.md"):
        unit = parse_curated_markdown(path.read_text())
        path.write_text(dump_curated_markdown(unit.model_copy(update={"review_items": ()})))
    commit_all(root.parent)


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """A workspace with the messy note and another one, committed and not prepared."""
    sources = {"source/pronto_soccorso.md": MESSY, "source/dimissioni.md": OTHER}
    return a_work_tree(tmp_path / "top", sources)


@pytest.fixture
def prepared(root: Path) -> Path:
    """The same, prepared and committed with its open items."""
    code, _ = tht("prepare", root)
    assert code == 3
    commit_all(root.parent)
    return root


def test_a_badly_structured_note_becomes_several_typed_units(prepared: Path) -> None:
    kinds = Counter(
        unit.kind.value
        for unit in units_in(prepared).values()
        if unit.provenance.source_file == "source/pronto_soccorso.md"
    )
    assert kinds == {
        "glossary": 2,
        "enum": 2,
        "mapping": 1,
        "formula": 1,
        "reference": 1,
        "normalization": 1,
        "example": 1,
        "domain": 2,
    }


def test_a_value_keeps_the_spelling_of_the_note(prepared: Path) -> None:
    unit = units_in(prepared)["evidence:valori-di-emergency-visit-triage-code"]
    values = {entry.value: entry.meaning for entry in unit.payload.values}  # type: ignore[union-attr]
    assert values["0802"] == "bianco (vecchio gestionale)"


def test_ambiguity_becomes_review_items(prepared: Path) -> None:
    codes = {item.code for unit in units_in(prepared).values() for item in unit.review_items}
    assert {"ambiguous_statement", "source_contradicts_itself", "kind_inferred"} <= codes


def test_navigation_generated_parts_and_missing_formulas_become_nothing(prepared: Path) -> None:
    written = b"".join(
        bytes_below(prepared)[path] for path in bytes_below(prepared) if path.startswith("curated/")
    )
    for absent in ("Torna su", "generata a caso", "La formula per il boarding", "nemmeno io"):
        assert absent.encode() not in written


def test_every_unit_quotes_its_one_source_word_for_word(prepared: Path) -> None:
    texts = {
        f"source/{name}": normalize_source((prepared / "evidence/source" / name).read_bytes())
        for name in ("pronto_soccorso.md", "dimissioni.md")
    }
    for unit in units_in(prepared).values():
        text = texts[unit.provenance.source_file]
        assert all(contains_excerpt(text, each) for each in unit.provenance.supporting_excerpts)


def test_nothing_merges_across_sources(prepared: Path) -> None:
    same_title = [unit for unit in units_in(prepared).values() if unit.title == "Allontanato"]
    assert {unit.provenance.source_file for unit in same_title} == {
        "source/dimissioni.md",
        "source/pronto_soccorso.md",
    }
    assert [
        unit.id for unit in sorted(same_title, key=lambda unit: unit.provenance.source_file)
    ] == [
        "evidence:allontanato",
        "evidence:allontanato-2",
    ]


def test_a_second_run_asks_nobody_and_changes_nothing(prepared: Path) -> None:
    before = bytes_below(prepared)
    code, report = tht("prepare", prepared)
    assert (code, report["model_calls"]) == (3, 0)
    assert bytes_below(prepared) == before
    assert git(prepared, "status", "--short") == ""


def test_a_committed_edit_survives_the_next_preparation_and_every_proposal_is_a_diff(
    prepared: Path,
) -> None:
    path = prepared / "evidence/curated/glossary/allontanato-2.md"
    path.write_text(path.read_text().replace("title: Allontanato", "title: Allontanato dal PS"))
    commit_all(prepared.parent)
    put(prepared, {"source/pronto_soccorso.md": MESSY + "\n**Triage**: scelta delle priorità.\n"})
    code, report = tht("prepare", prepared)
    assert (code, report["created"]) == (3, ["evidence:triage"])
    assert units_in(prepared)["evidence:allontanato-2"].title == "Allontanato dal PS"
    changed = git(prepared, "status", "--short", "-uall")
    assert "evidence/curated/glossary/triage.md" in changed
    git(prepared, "checkout", "--", "evidence/curated/glossary/allontanato-2.md")
    assert "Allontanato dal PS" in path.read_text()


def test_a_dirty_tree_is_refused_and_keeps_the_edit(prepared: Path) -> None:
    path = prepared / "evidence/curated/glossary/allontanato.md"
    path.write_text(path.read_text() + "Nota non ancora salvata in Git.\n")
    put(prepared, {"source/pronto_soccorso.md": MESSY + "\nAltro.\n"})
    before = bytes_below(prepared)
    code, answer = tht("prepare", prepared)
    assert (code, answer["error"]["code"]) == (1, "dirty_curated_state")  # type: ignore[index]
    assert bytes_below(prepared) == before


def test_open_review_items_block_and_so_do_orphans(prepared: Path) -> None:
    evaluation = "schema_version: 1\nqueries:\n" + "".join(
        f"- id: {profile}\n  query: Chi è un allontanato?\n  profile: {profile}\n"
        "  purpose: disambiguation\n  expected:\n  - evidence:allontanato\n"
        for profile in ("lexical", "semantic", "mixed")
    )
    put(prepared, {"evaluation.yaml": evaluation})
    code, report = tht("validate", prepared)
    assert code == 3
    assert (report["publishable"], report["orphans"]) == (False, 0)
    assert report["open_review_items"] != 0
    resolve_everything(prepared)
    assert tht("validate", prepared)[1]["publishable"] is True
    (prepared / "evidence/source/dimissioni.md").unlink()
    assert tht("prepare", prepared)[0] == 3
    commit_all(prepared.parent)
    code, report = tht("validate", prepared)
    assert (code, report["publishable"], report["orphans"]) == (3, False, 1)
    assert tht("resolve", prepared, "evidence:allontanato", "--retire")[0] == 0
    assert "evidence:allontanato" not in units_in(prepared)


def test_another_pipeline_version_is_refused_and_an_upgrade_reprocesses_all(prepared: Path) -> None:
    manifest = prepared / "evidence/manifest.yaml"
    manifest.write_text(manifest.read_text().replace("authoring-v1", "authoring-v0"))
    commit_all(prepared.parent)
    units = units_in(prepared)
    code, answer = tht("prepare", prepared)
    assert (code, answer["error"]["code"]) == (1, "pipeline_version_mismatch")  # type: ignore[index]
    code, report = tht("prepare", prepared, "--upgrade")
    assert (code, report["model_calls"]) == (3, 2)
    assert units_in(prepared) == units


def test_a_renamed_note_keeps_the_ids_of_its_units(prepared: Path) -> None:
    ids = set(units_in(prepared))
    folder = prepared / "evidence/source"
    (folder / "pronto_soccorso.md").rename(folder / "ps.md")
    _, report = tht("prepare", prepared)
    assert report["renamed"] == [{"from": "source/pronto_soccorso.md", "to": "source/ps.md"}]
    assert (report["model_calls"], set(units_in(prepared))) == (0, ids)
