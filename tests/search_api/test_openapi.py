"""The published contract: a snapshot, auth and errors of every operation, offline docs."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import jsonschema_rs
import pytest
from django.test import Client

from search_api.models import KeyRole

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
    problem = {"$ref": "#/components/schemas/Problem"}
    for name, operation in operations.items():
        for status in REFUSALS:
            ((media_type, body),) = operation["responses"][status]["content"].items()
            assert media_type == "application/problem+json", (name, status)
            assert body["schema"] == problem, (name, status)
    search = operations["post /api/v1/workspaces/{workspace}/search"]["responses"]
    assert set(search["503"]["content"]) == {"application/json"}


def described(operations: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    """Give every place of the contract that describes a value, with its name."""
    for name, operation in operations.items():
        for parameter in operation["parameters"]:
            yield f"{name} {parameter['name']}", parameter
        for media_type, body in operation.get("requestBody", {}).get("content", {}).items():
            yield f"{name} {media_type}", body
        for status, response in operation["responses"].items():
            for media_type, body in response["content"].items():
                if media_type != "text/markdown":
                    yield f"{name} {status} {media_type}", body


def test_everything_that_is_sent_or_answered_has_an_example_that_its_schema_takes(
    document, operations
):
    count = 0
    for name, place in described(operations):
        schema = place["schema"] | {"components": document["components"]}
        errors = jsonschema_rs.validator_for(schema).iter_errors(place["example"])
        assert [str(error) for error in errors] == [], name
        count += 1
    assert count > 70


def test_the_check_of_examples_finds_a_wrong_one(document, operations):
    (body,) = operations["post /api/v1/workspaces/{workspace}/search"]["requestBody"][
        "content"
    ].values()
    schema = body["schema"] | {"components": document["components"]}
    wrong = body["example"] | {"top_n": 11}
    assert not jsonschema_rs.validator_for(schema).is_valid(wrong)


@pytest.mark.django_db
def test_every_example_request_is_answered_as_its_example_says(published, new_key, operations):
    headers = {"X-API-Key": new_key(role=KeyRole.WRITER)}
    for name, operation in operations.items():
        method, path = name.split()
        given = {each["name"]: each["example"] for each in operation["parameters"]}
        query = "?from=cte" if method == "delete" else ""
        bodies = operation.get("requestBody", {"content": {}})["content"].values()
        body: dict[str, Any] = next(iter(bodies), {})
        answer = getattr(Client(), method)(
            path.format(**given) + query,
            body.get("example"),
            content_type="application/json",
            headers=headers,
        )
        assert answer.status_code in {200, 201}, (name, answer.content)
        example = operation["responses"][str(answer.status_code)]["content"]["application/json"]
        assert answer.json().keys() == example["example"].keys(), name


def test_both_ways_to_send_a_key_are_described(document):
    schemes = document["components"]["securitySchemes"]
    assert schemes["BearerKey"] == {"type": "http", "scheme": "bearer"}
    assert schemes["HeaderKey"] == {"type": "apiKey", "in": "header", "name": "X-API-Key"}


def test_the_interactive_docs_load_nothing_from_elsewhere():
    page = Client().get("/api/v1/docs").content.decode()
    assert "swagger-ui" in page
    assert "http://" not in page
    assert "https://" not in page
