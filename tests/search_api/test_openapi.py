"""The published contract: a snapshot, auth and errors of every operation, offline docs."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from django.test import Client

SNAPSHOT = Path(__file__).resolve().parents[1] / "snapshots" / "openapi.json"
REFUSALS = {"400", "401", "403", "422", "429"}


@pytest.fixture(scope="module")
def document():
    return Client().get("/api/v1/openapi.json").json()


@pytest.fixture(scope="module")
def operations(document):
    return {
        f"{method} {path}": operation
        for path, methods in document["paths"].items()
        for method, operation in methods.items()
    }


def test_the_contract_is_the_one_in_the_snapshot(document):
    """To change it on purpose: `manage.py export_openapi_schema --api search_api.api.api`."""
    assert document == json.loads(SNAPSHOT.read_text())


def test_every_operation_declares_its_auth_and_its_errors(operations):
    assert len(operations) == 8
    for name, operation in operations.items():
        assert operation["security"] == [{"BearerKey": []}, {"HeaderKey": []}], name
        assert set(operation["responses"]) >= REFUSALS | {"503"}, name
        assert {"200", "201"} & set(operation["responses"]), name


def test_errors_are_problem_documents_and_outcomes_are_not(operations):
    problem = {"application/problem+json": {"schema": {"$ref": "#/components/schemas/Problem"}}}
    for name, operation in operations.items():
        for status in REFUSALS:
            assert operation["responses"][status]["content"] == problem, (name, status)
    search = operations["post /api/v1/workspaces/{workspace}/search"]["responses"]
    assert set(search["503"]["content"]) == {"application/json"}


def test_both_ways_to_send_a_key_are_described(document):
    schemes = document["components"]["securitySchemes"]
    assert schemes["BearerKey"] == {"type": "http", "scheme": "bearer"}
    assert schemes["HeaderKey"] == {"type": "apiKey", "in": "header", "name": "X-API-Key"}


def test_the_interactive_docs_load_nothing_from_elsewhere():
    page = Client().get("/api/v1/docs").content.decode()
    assert "swagger-ui" in page
    assert "http://" not in page
    assert "https://" not in page
