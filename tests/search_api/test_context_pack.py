"""The context pack over HTTP: its sections, its budget, and what is refused."""

from __future__ import annotations

import pytest

from tests.search_api.conftest import GENERATION, SLUG

pytestmark = pytest.mark.django_db
CONTEXT = f"/api/v1/workspaces/{SLUG}/context"
ASKED = {"question": "Quante ablazioni sui pazienti pediatrici? ablazione", "stage": "cte"}


def test_a_pack_has_formulas_values_and_rules_in_this_order_each_cited(published, ask):
    response = ask(ASKED, path=CONTEXT)
    assert response.status_code == 200
    answer = response.json()
    assert answer["generation"] == str(GENERATION)
    assert answer["workspace_revision"] == published.stored.revision
    assert (answer["stage"], answer["purpose"]) == ("cte", "sql_generation")
    assert (answer["token_budget"], answer["counted_as"]) == (5000, "ceil(UTF-8 bytes / 3)")
    document = answer["markdown"]
    places = [document.index(f"## {name}") for name in ("Formulas", "Values", "Rules")]
    assert places == sorted(places)
    assert (
        "- clinical.procedure.procedure_code = '37.34': ablazione [evidence:ablazione]" in document
    )
    assert "[evidence:fascia-pediatrica, source/domain/pazienti.md, revision " in document
    assert "evidence:fascia-pediatrica" in answer["included"]


@pytest.mark.parametrize("budget", [100, 150, 333, 1000])
def test_a_small_budget_is_kept_and_the_rest_is_listed(published, ask, budget):
    answer = ask(ASKED | {"token_budget": budget}, path=CONTEXT).json()
    assert -(-len(answer["markdown"].encode()) // 3) == answer["token_count"] <= budget
    assert answer["left_out"]
    assert not set(answer["left_out"]) & set(answer["included"])


@pytest.mark.parametrize(
    ("wrong", "code"),
    [
        ({"stage": "memory"}, "stage_without_evidence"),
        ({"stage": "synthesis"}, "stage_without_evidence"),
        ({"stage": "other"}, "request_invalid"),
        ({"question": " "}, "request_invalid"),
        ({"question": "x" * 100_000}, "request_invalid"),
        ({"question": "a\0b"}, "request_invalid"),
        ({"token_budget": 20_001}, "request_invalid"),
        ({"token_budget": 0}, "request_invalid"),
        ({"token_budget": "5000"}, "request_invalid"),
        ({"context": {"columns": ["x"], "other": []}}, "request_invalid"),
    ],
)
def test_what_cannot_be_packed_is_refused_with_its_code(published, ask, wrong, code):
    response = ask(ASKED | wrong, path=CONTEXT)
    assert (response.status_code, response.json()["code"]) == (422, code)


def test_without_an_active_generation_it_is_unavailable(registered, ask):
    response = ask(ASKED, path=CONTEXT)
    assert (response.status_code, response.json()["code"]) == (503, "no_active_generation")
