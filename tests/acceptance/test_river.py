"""The whole river on the live portal: ask, read, break, be refused, repair, publish, roll back."""

from __future__ import annotations

from pathlib import Path

import pytest

from portal.demo.loading import QUESTION
from tests.acceptance.curating import PAEDIATRIC, SLUG, Curator, approve
from tests.evidence.trees import a_work_tree
from tests.live import LivePortal

FORMULA = "evidence:fascia-pediatrica"
FIND = ("search", "find", QUESTION, "--workspace", SLUG, "--purpose", "sql_generation")


@pytest.fixture(scope="module")
def curator(live_portal: LivePortal, tmp_path_factory: pytest.TempPathFactory) -> Curator:
    """Somebody who edits in a clone of their own."""
    return Curator(live_portal, tmp_path_factory.mktemp("curator"))


def test_the_paediatric_formula_comes_first_with_its_excerpt_and_citation(live_portal):
    answer = live_portal.ask(QUESTION)
    assert answer.status_code == 200
    outcome = answer.json()
    assert outcome["status"] == "available"
    assert outcome["confidence"] == "grounded"
    first = outcome["results"][0]
    assert (first["evidence_id"], first["kind"]) == (FORMULA, "formula")
    assert "clinical.patient.birth_date" in first["excerpts"][0]["text"]
    assert first["citation"]["source_file"] == "source/domain/pazienti.md"
    assert first["citation"]["path"] == "curated/formula/fascia-pediatrica.md"
    assert first["citation"]["revision"] == outcome["workspace_revision"]


def test_the_command_line_prints_the_very_outcome_of_the_api(live_portal):
    assert live_portal.tht_json(*FIND) == live_portal.ask(QUESTION).json()


def test_a_key_made_on_the_command_line_asks_at_once(live_portal):
    options = ("--workspace", SLUG, "--role", "reader")
    made = live_portal.tht_json("keys", "create", *options)
    first = live_portal.ask(QUESTION, key=made["key"]).json()["results"][0]
    assert first["evidence_id"] == FORMULA
    live_portal.tht_json("keys", "revoke", made["prefix"])
    assert live_portal.ask(QUESTION, key=made["key"]).status_code == 401


def test_every_expected_unit_of_the_exam_has_its_three_ranks_and_all_are_hits(live_portal):
    report = live_portal.tht_json("evidence", "evaluate", SLUG)
    assert report["hit_at_10"] == 1.0
    assert len(report["queries"]) >= 18
    for query in report["queries"]:
        assert query["expected"]
        for expected in query["expected"]:
            assert set(expected) >= {"evidence_id", "dense_rank", "bm25_rank", "fused_rank"}
        fused = [one["fused_rank"] for one in query["expected"] if one["fused_rank"]]
        assert min(fused) <= 10, query["id"]


def test_a_whole_unit_is_read_typed_and_as_the_file_that_was_approved(live_portal):
    link = live_portal.ask(QUESTION).json()["results"][0]["document"]
    typed = live_portal.get(link).json()
    assert typed["id"] == FORMULA
    assert typed["payload"]["sql"].endswith("< interval '18 years'")
    written = live_portal.get(link, Accept="text/markdown")
    assert written.headers["content-type"] == "text/markdown; charset=utf-8"
    shipped = Path(__file__).parents[2] / "portal" / "demo" / SLUG / PAEDIATRIC
    assert written.content == shipped.read_bytes()


def test_a_question_asked_100_times_gives_one_list(live_portal):
    answers = {live_portal.ask("Quanto è durata la degenza?").content for _ in range(100)}
    assert len(answers) == 1


def test_a_workspace_in_which_nothing_is_published_says_so_with_a_code(live_portal, tmp_path):
    a_work_tree(tmp_path / "top", {})
    live_portal.tht_json("workspace", "add", str(tmp_path / "top"))
    made = live_portal.tht_json("keys", "create", "--workspace", "clinica", "--role", "reader")
    answer = live_portal.ask(QUESTION, workspace="clinica", key=made["key"])
    assert answer.status_code == 503
    assert (answer.json()["status"], answer.json()["code"]) == (
        "unavailable",
        "no_active_generation",
    )
    found = live_portal.tht_json(*FIND[:4], "clinica", *FIND[5:], code=1)
    assert found["code"] == "no_active_generation"


def test_a_unit_that_fails_its_exam_changes_no_answer_until_it_is_repaired(live_portal, curator):
    before = live_portal.ask(QUESTION).content
    broken = curator.edit(
        PAEDIATRIC,
        lambda text: text.replace("- sql_generation\n", "- disambiguation\n", 1),
        message="Say what the formula is for, wrongly",
    )
    refused = approve(live_portal, broken, code=3)
    assert refused["state"] == "rejected"
    assert live_portal.ask(QUESTION).content == before

    repaired = curator.edit(
        PAEDIATRIC,
        lambda text: text.replace("- disambiguation\n", "- sql_generation\n", 1).replace(
            "Età al ricovero, non alla dimissione.", "Età al ricovero e mai alla dimissione."
        ),
        message="Say what the formula is for",
    )
    accepted = approve(live_portal, repaired)
    assert accepted["state"] == "active"
    after = live_portal.ask(QUESTION).json()
    assert after["generation"] == accepted["id"]
    assert after["workspace_revision"] == repaired
    assert "mai alla dimissione" in after["results"][0]["excerpts"][0]["text"]

    back = live_portal.tht_json(
        *("publish", "rollback", SLUG, "--as", "approvatore", "--note", "Meglio prima")
    )
    assert back["state"] == "active"
    assert live_portal.ask(QUESTION).content == before
