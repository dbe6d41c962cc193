"""Grounding over HTTP: the exact JSON, both outcomes, and what is refused."""

from __future__ import annotations

import pytest

from tests.search_api.conftest import GENERATION, SLUG

pytestmark = pytest.mark.django_db
GROUND = f"/api/v1/workspaces/{SLUG}/ground"


def test_a_value_comes_back_with_all_its_columns_and_formulas(published, ask):
    response = ask({"values": ["Ablazione", "fascia pediatrica"]}, path=GROUND)
    assert response.status_code == 200
    assert response.json() == {
        "status": "available",
        "generation": str(GENERATION),
        "workspace_revision": published.stored.revision,
        "values": [
            {
                "value": "Ablazione",
                "matches": [
                    {
                        "column": "clinical.procedure.description",
                        "stored_value": None,
                        "meaning": "ablazione: clinical.procedure.description ILIKE '%ablazione%'",
                        "match": "normalized",
                        "score": 1.0,
                        "evidence_id": "evidence:ablazione",
                    },
                    {
                        "column": "clinical.procedure.procedure_code",
                        "stored_value": "37.34",
                        "meaning": "ablazione",
                        "match": "normalized",
                        "score": 1.0,
                        "evidence_id": "evidence:ablazione",
                    },
                ],
                "formulas": [],
            },
            {
                "value": "fascia pediatrica",
                "matches": [],
                "formulas": ["evidence:fascia-pediatrica"],
            },
        ],
    }


def test_without_an_active_generation_it_is_unavailable(registered, ask):
    response = ask({"values": ["ablazione"]}, path=GROUND)
    assert response.status_code == 503
    assert response["Content-Type"].startswith("application/json")
    answer = response.json()
    assert (answer["status"], answer["code"]) == ("unavailable", "no_active_generation")
    assert not answer["retriable"]


@pytest.mark.parametrize(
    "body",
    [
        {},
        {"values": []},
        {"values": "ablazione"},
        {"values": [""]},
        {"values": ["  "]},
        {"values": ["a\0b"]},
        {"values": ["\ud800"]},
        {"values": [1]},
        {"values": ["x" * 201]},
        {"values": ["x"] * 51},
        {"values": ["x"], "generation": "other"},
    ],
)
def test_values_that_are_none_are_refused(published, ask, body):
    response = ask(body, path=GROUND)
    assert response.status_code in {400, 422}
    assert response["Content-Type"] == "application/problem+json"


def test_a_key_of_another_workspace_grounds_nothing(published, ask, new_key):
    headers = {"Authorization": f"Bearer {new_key('altra')}"}
    response = ask({"values": ["ablazione"]}, path=GROUND, headers=headers)
    assert (response.status_code, response.json()["code"]) == (403, "access_refused")
