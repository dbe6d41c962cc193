"""A badly structured note becomes typed units that people review, by the real `tht` on real Git.

Everything here holds by the rules, and by the real Pi that asks a scripted model.
"""

from __future__ import annotations

import json
import shutil
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from evidence.domain.codec import dump_curated_markdown, parse_curated_markdown
from evidence.domain.normalization import contains_excerpt, normalize_source
from evidence.domain.units import CuratedEvidence, build_unit
from tests import live
from tests.acceptance.ways import RULES, Way, pi_and_a_scripted_model
from tests.evidence.pi.endpoint import request_in
from tests.evidence.pi.real_pi import NEEDS_PI
from tests.evidence.trees import a_work_tree, bytes_below, commit_all, git, put

NOTES = Path(__file__).parent / "notes"
MESSY = (NOTES / "pronto_soccorso.md").read_text()
OTHER = "# Dimissioni\n\n**Allontanato**: paziente dimesso contro il parere dei medici.\n"
EXAM = "schema_version: 1\nqueries:\n" + "".join(
    f"- id: {profile}\n  query: Chi è un allontanato?\n  profile: {profile}\n"
    "  purpose: disambiguation\n  expected:\n  - evidence:allontanato\n"
    for profile in ("lexical", "semantic", "mixed")
)


@pytest.fixture(scope="module", params=["rules", pytest.param("pi", marks=NEEDS_PI)])
def way(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Way]:
    """Who reads the notes."""
    if request.param == "rules":
        yield RULES
        return
    with pi_and_a_scripted_model(tmp_path_factory.mktemp("pi")) as pi:
        yield pi


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


@pytest.fixture(scope="module")
def at_first(way: Way, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A workspace with the messy note and another one, prepared and committed: to be copied."""
    sources = {"source/pronto_soccorso.md": MESSY, "source/dimissioni.md": OTHER}
    root = a_work_tree(tmp_path_factory.mktemp("first") / "top", sources)
    code, report = way.tht("prepare", root)
    assert (code, report["model_calls"]) == (3, 2)
    commit_all(root.parent)
    return root


@pytest.fixture
def prepared(at_first: Path, tmp_path: Path) -> Path:
    """The same with its open items, for one test."""
    shutil.copytree(at_first.parent, tmp_path / "top")
    return tmp_path / "top" / at_first.name


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


def test_a_second_run_asks_nobody_and_changes_nothing(way: Way, prepared: Path) -> None:
    before = bytes_below(prepared)
    code, report = way.tht("prepare", prepared)
    assert (code, report["model_calls"]) == (3, 0)
    assert bytes_below(prepared) == before
    assert git(prepared, "status", "--short") == ""


def test_a_committed_edit_survives_the_next_preparation_and_every_proposal_is_a_diff(
    way: Way, prepared: Path
) -> None:
    path = prepared / "evidence/curated/glossary/allontanato-2.md"
    path.write_text(path.read_text().replace("title: Allontanato", "title: Allontanato dal PS"))
    commit_all(prepared.parent)
    put(prepared, {"source/pronto_soccorso.md": MESSY + "\n**Triage**: scelta delle priorità.\n"})
    code, report = way.tht("prepare", prepared)
    assert (code, report["created"]) == (3, ["evidence:triage"])
    assert units_in(prepared)["evidence:allontanato-2"].title == "Allontanato dal PS"
    changed = git(prepared, "status", "--short", "-uall")
    assert "evidence/curated/glossary/triage.md" in changed
    git(prepared, "checkout", "--", "evidence/curated/glossary/allontanato-2.md")
    assert "Allontanato dal PS" in path.read_text()


def test_a_dirty_tree_is_refused_and_keeps_the_edit(way: Way, prepared: Path) -> None:
    path = prepared / "evidence/curated/glossary/allontanato.md"
    path.write_text(path.read_text() + "Nota non ancora salvata in Git.\n")
    put(prepared, {"source/pronto_soccorso.md": MESSY + "\nAltro.\n"})
    before, asked = bytes_below(prepared), way.asked
    code, answer = way.tht("prepare", prepared)
    assert (code, answer["error"]["code"]) == (1, "dirty_curated_state")
    assert bytes_below(prepared) == before
    assert way.asked == asked, "it is refused before anybody is asked"


def test_open_review_items_block_and_so_do_orphans(way: Way, prepared: Path) -> None:
    put(prepared, {"evaluation.yaml": EXAM})
    code, report = way.tht("validate", prepared)
    assert code == 3
    assert (report["publishable"], report["orphans"]) == (False, 0)
    assert report["open_review_items"] != 0
    resolve_everything(prepared)
    assert way.tht("validate", prepared)[1]["publishable"] is True
    (prepared / "evidence/source/dimissioni.md").unlink()
    assert way.tht("prepare", prepared)[0] == 3
    commit_all(prepared.parent)
    code, report = way.tht("validate", prepared)
    assert (code, report["publishable"], report["orphans"]) == (3, False, 1)
    assert way.tht("resolve", prepared, "evidence:allontanato", "--retire")[0] == 0
    assert "evidence:allontanato" not in units_in(prepared)


def test_another_pipeline_version_is_refused_and_an_upgrade_reprocesses_all(
    way: Way, prepared: Path
) -> None:
    manifest = prepared / "evidence/manifest.yaml"
    manifest.write_text(manifest.read_text().replace("authoring-v1", "authoring-v0"))
    commit_all(prepared.parent)
    units = units_in(prepared)
    code, answer = way.tht("prepare", prepared)
    assert (code, answer["error"]["code"]) == (1, "pipeline_version_mismatch")
    code, report = way.tht("prepare", prepared, "--upgrade")
    assert (code, report["model_calls"]) == (3, 2)
    assert units_in(prepared) == units


def test_a_renamed_note_keeps_the_ids_of_its_units(way: Way, prepared: Path) -> None:
    ids = set(units_in(prepared))
    folder = prepared / "evidence/source"
    (folder / "pronto_soccorso.md").rename(folder / "ps.md")
    _, report = way.tht("prepare", prepared)
    assert report["renamed"] == [{"from": "source/pronto_soccorso.md", "to": "source/ps.md"}]
    assert (report["model_calls"], set(units_in(prepared))) == (0, ids)


def test_the_restructurer_is_called_once_for_each_changed_source(way: Way, prepared: Path) -> None:
    put(prepared, {"source/dimissioni.md": OTHER + "\n**Decesso**: morte durante il ricovero.\n"})
    asked = way.asked
    _, report = way.tht("prepare", prepared)
    assert (report["model_calls"], report["changed"]) == (1, ["source/dimissioni.md"])
    assert report["created"] == ["evidence:decesso"]
    if way.endpoint:
        assert way.asked == asked + 1
        last = request_in(way.endpoint.bodies[-1])
        assert [each["existing_id"] for each in last["previous_units"]] == ["evidence:allontanato"]
        assert "morte durante il ricovero" in last["normalized_text"]


def test_a_unit_that_a_person_gave_another_kind_keeps_its_id(way: Way, prepared: Path) -> None:
    unit = units_in(prepared)["evidence:allontanato"]
    payload = {"topic": "Dimissioni"}
    moved = build_unit(
        unit.model_dump(mode="json", exclude_none=True, exclude={"schema_version"})
        | {"schema_version": "1", "kind": "domain", "payload": payload, "body": "Chi se ne va."}
    )
    (prepared / "evidence/curated/glossary/allontanato.md").unlink()
    put(prepared, {"curated/domain/allontanato.md": dump_curated_markdown(moved)})
    commit_all(prepared.parent)
    put(prepared, {"source/dimissioni.md": OTHER + "\n**Decesso**: morte durante il ricovero.\n"})
    _, report = way.tht("prepare", prepared)
    assert report["created"] == ["evidence:decesso"]
    kept = units_in(prepared)["evidence:allontanato"]
    assert (kept.kind.value, kept.body) == ("domain", "Chi se ne va.")
    assert "curated/glossary/allontanato.md" not in bytes_below(prepared)


def test_text_that_is_no_longer_there_leaves_its_unit_with_a_doubt(
    way: Way, prepared: Path
) -> None:
    put(prepared, {"source/dimissioni.md": "# Dimissioni\n\nAppunti da riscrivere.\n"})
    code, report = way.tht("prepare", prepared)
    assert code == 3
    codes = [item.code for item in units_in(prepared)["evidence:allontanato"].review_items]
    assert "source_no_longer_supports_unit" in codes
    assert report["orphaned"] == []


def test_the_validated_corpus_builds_a_candidate_that_answers_nobody(
    way: Way, prepared: Path, demo_home: Path, tmp_path: Path
) -> None:
    put(prepared, {"evaluation.yaml": EXAM})
    resolve_everything(prepared)
    assert way.tht("validate", prepared)[0] == 0
    home = live.copy_home(demo_home, tmp_path / "home")

    def tht(*arguments: str) -> dict[str, Any]:
        answer: dict[str, Any] = json.loads(live.tht(home, *arguments, "--json").stdout)
        return answer

    tht("workspace", "add", str(prepared.parent), "--folder", prepared.name)
    made = tht("publish", "rehearse", "clinica")
    assert made["state"] not in {"active", "failed", "rejected"}
    states = [each["state"] for each in tht("publish", "status", "clinica")["generations"]]
    assert states == [made["state"]]
    asked = ("search", "find", "Chi è un allontanato?", "--workspace", "clinica")
    assert tht(*asked, "--purpose", "disambiguation")["code"] == "no_active_generation"
    report = tht("evidence", "evaluate", "clinica", "--generation", made["id"])
    assert {query["profile"] for query in report["queries"]} == {"lexical", "semantic", "mixed"}
    for query in report["queries"]:
        (expected,) = query["expected"]
        assert set(expected) >= {"dense_rank", "bm25_rank", "fused_rank"}
        assert expected["fused_rank"] <= 10
