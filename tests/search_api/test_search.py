"""Searching over HTTP: the two outcomes, exactly as the specification has them."""

from __future__ import annotations

import json
import shutil

import pytest
from django.test import Client

from publishing.domain.lifecycle import GenerationState
from publishing.models import Generation
from tests.search_api.conftest import GENERATION, QUESTION, SLUG

pytestmark = pytest.mark.django_db


def test_the_pediatric_formula_is_the_first_answer_with_excerpt_and_citation(published, ask):
    response = ask()
    assert response.status_code == 200
    assert response["Content-Type"] == "application/json; charset=utf-8"
    answer = response.json()
    assert set(answer) == {
        "status",
        "generation",
        "workspace_revision",
        "confidence",
        "results",
        "receipt",
    }
    assert answer["status"] == "available"
    assert answer["generation"] == str(GENERATION)
    assert answer["workspace_revision"] == published.stored.revision
    assert answer["confidence"] == "grounded"
    assert answer["receipt"] is None
    first = answer["results"][0]
    assert first["score"] > 0
    assert first["excerpts"][0]["ordinal"] == 0
    assert first["excerpts"][0]["text"].startswith("Formula: Fascia pediatrica\n")
    assert {name: first[name] for name in ("evidence_id", "kind", "title", "purposes")} == {
        "evidence_id": "evidence:fascia-pediatrica",
        "kind": "formula",
        "title": "Fascia pediatrica",
        "purposes": ["sql_generation"],
    }
    assert first["citation"].pop("source_sha256").startswith("sha256:")
    assert first["citation"] == {
        "source_file": "source/domain/pazienti.md",
        "path": "curated/formula/fascia-pediatrica.md",
        "revision": published.stored.revision,
    }
    assert first["document"] == (
        f"/api/v1/workspaces/{SLUG}/units/evidence:fascia-pediatrica?generation={GENERATION}"
    )


def test_the_same_question_gives_the_same_list(published, ask):
    assert len({ask().content for _ in range(20)}) == 1


def test_required_kinds_filter_and_an_empty_list_is_a_good_answer(published, ask):
    only = ask(QUESTION | {"context": {"required_kinds": ["enum", "example"]}}).json()
    assert {unit["kind"] for unit in only["results"]} == {"enum", "example"}
    none = ask(QUESTION | {"context": {"required_tables": ["clinical.nothing"]}})
    assert none.status_code == 200
    assert (none.json()["results"], none.json()["confidence"]) == ([], "weak")


def test_top_n_cuts_the_list(published, ask):
    assert len(ask(QUESTION | {"top_n": 3}).json()["results"]) == 3


def test_an_off_topic_question_is_weak_and_still_answered(published, ask):
    answer = ask(QUESTION | {"query": "Come si rammenda un calzino di lana?"}).json()
    assert answer["confidence"] == "weak"
    assert answer["results"]


def test_without_an_active_generation_the_search_is_unavailable(registered, ask):
    response = ask()
    assert response.status_code == 503
    assert response["Content-Type"] == "application/json; charset=utf-8"
    answer = response.json()
    assert answer.pop("message")
    assert answer == {"status": "unavailable", "code": "no_active_generation", "retriable": False}
    assert "Retry-After" not in response


def test_a_pinned_revision_that_is_not_the_active_one_is_unavailable(published, ask):
    answer = ask(QUESTION | {"workspace_revision": "0" * 40})
    assert (answer.status_code, answer.json()["code"]) == (503, "revision_mismatch")
    assert ask(QUESTION | {"workspace_revision": published.stored.revision}).status_code == 200


def test_a_store_that_is_gone_is_unavailable_and_worth_a_retry(published, ask, settings, tmp_path):
    shutil.copytree(published.home / "repositories", tmp_path / "repositories")
    settings.PUBLISHING = settings.PUBLISHING | {"home": tmp_path}
    response = ask()
    assert (response.status_code, response.json()["code"]) == (503, "vector_store_unavailable")
    assert response.json()["retriable"] is True
    assert int(response["Retry-After"]) > 0
    assert str(tmp_path) not in response.content.decode()


def test_a_candidate_is_never_searched(published, ask):
    for state in (GenerationState.READY, GenerationState.REJECTED, GenerationState.DELETING):
        Generation.objects.update(state=state)
        assert ask().json()["code"] == "no_active_generation", state


def test_the_document_of_a_result_opens_as_json_and_as_markdown(published, ask, new_key):
    link = ask().json()["results"][0]["document"]
    headers = {"X-API-Key": new_key()}
    document = Client().get(link, headers=headers).json()
    assert document["id"] == "evidence:fascia-pediatrica"
    assert document["payload"]["concept"] == "fascia pediatrica"
    assert document["provenance"]["source_file"] == "source/domain/pazienti.md"
    assert document["generation"] == str(GENERATION)
    assert document["workspace_revision"] == published.stored.revision
    assert document["path"] == "curated/formula/fascia-pediatrica.md"
    text = Client().get(link, headers=headers | {"Accept": "text/markdown"})
    assert text["Content-Type"] == "text/markdown; charset=utf-8"
    assert text.content.startswith(b"---\nschema_version: 1\nid: evidence:fascia-pediatrica\n")
    assert "Accept" in text["Vary"]


@pytest.mark.parametrize(
    ("path", "status", "code"),
    [
        ("evidence:nessuna", 404, "unit_unknown"),
        ("evidence:fascia-pediatrica?generation=" + "0" * 32, 404, "generation_unknown"),
        ("evidence:fascia-pediatrica?generation=latest", 422, "request_invalid"),
        ("evidence:Fascia", 422, "request_invalid"),
        ("evidence:" + "a" * 81, 422, "request_invalid"),
        ("fascia-pediatrica", 422, "request_invalid"),
        ("evidence:a%00", 422, "request_invalid"),
        ("evidence:a%0A", 422, "request_invalid"),
    ],
)
def test_a_document_that_is_not_there_is_a_coded_problem(published, new_key, path, status, code):
    address = f"/api/v1/workspaces/{SLUG}/units/{path}"
    response = Client().get(address, headers={"X-API-Key": new_key()})
    assert (response.status_code, response.json()["code"]) == (status, code)
    assert response["Content-Type"] == "application/problem+json"


def test_a_document_is_read_from_a_retained_generation_and_from_no_other(published, new_key):
    address = f"/api/v1/workspaces/{SLUG}/units/evidence:ablazione?generation={GENERATION}"
    headers = {"X-API-Key": new_key()}
    seen = {}
    for state in GenerationState:
        Generation.objects.update(state=state)
        seen[state] = Client().get(address, headers=headers).status_code
    found = {state for state, status in seen.items() if status == 200}
    assert found == {GenerationState.ACTIVE, GenerationState.SUPERSEDED}
    assert {status for state, status in seen.items() if state not in found} == {404}


def test_what_is_answered_is_json_that_reads_back(published, ask):
    assert json.loads(ask().content)["results"][0]["title"] == "Fascia pediatrica"
