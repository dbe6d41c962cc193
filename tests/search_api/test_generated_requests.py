"""Requests that nobody thought of, made from the published contract itself."""

from __future__ import annotations

from datetime import timedelta

import pytest
import schemathesis
from django.core.signals import request_finished, request_started
from django.db import close_old_connections
from hypothesis import HealthCheck, Phase, settings

from portal.wsgi import application
from publishing.models import Generation
from search_api.models import ApiKey, HarnessSession, KeyRole
from tests.search_api.conftest import SLUG

pytestmark = pytest.mark.django_db

contract = schemathesis.openapi.from_wsgi("/api/v1/openapi.json", application)


BEYOND_SCHEMA = {"stage_purpose_mismatch", "receipt_refused", "formula_refused", "value_error"}
"""Refusals of what JSON Schema cannot say: fields that do not fit together, unknown ids, SQL, and
names as PostgreSQL has them."""


MAX_SLUG = 80


def is_beyond_schema(problem) -> bool:
    """Tell whether all that is wrong is what a schema cannot say."""
    found = {error["code"] for error in problem.get("errors", ())} or {problem["code"]}
    return found <= BEYOND_SCHEMA


def draw_role(case) -> KeyRole:
    """Give a writer's key to half of the requests, the same half in every run."""
    return list(KeyRole)[len(str(case.body)) % 2]


@pytest.fixture
def one_connection():
    """Keep the test's transaction: a real request closes a connection that is inside one."""
    for signal in (request_started, request_finished):
        signal.disconnect(close_old_connections)
    yield
    for signal in (request_started, request_finished):
        signal.connect(close_old_connections)


@contract.parametrize()
@settings(
    max_examples=25,
    deadline=timedelta(seconds=10),
    phases=[Phase.explicit, Phase.generate],
    suppress_health_check=list(HealthCheck),
    derandomize=True,
    database=None,
)
def test_no_request_breaks_the_api_or_its_contract(case, published, one_connection, new_key):
    repaired = len(str(case.path_parameters["workspace"])) > MAX_SLUG
    case.path_parameters["workspace"] = SLUG
    # A key that was made up is another test's matter.
    repaired |= case.headers.pop("Authorization", None) is not None
    role, before = draw_role(case), HarnessSession.objects.count()
    headers = {"X-API-Key": new_key(role=role)}
    response = case.call(headers=headers)
    excluded = [schemathesis.checks.not_a_server_error]
    if repaired:  # what was wrong on purpose may have been just that
        excluded.append(schemathesis.checks.negative_data_rejection)
    if response.status_code == 422 and is_beyond_schema(response.json()):
        excluded.append(schemathesis.checks.positive_data_acceptance)
    case.validate_response(
        response,
        excluded_checks=excluded,
        headers=headers,
        transport_kwargs={"headers": dict(headers)},
    )
    # The one 503 that is fine is an outcome that the contract documents.
    outcome = {"status": "unavailable", "code": "revision_mismatch"}
    assert response.status_code < 500 or outcome.items() <= response.json().items()
    assert Generation.objects.count() == 1
    assert ApiKey.objects.exists()
    assert role is KeyRole.WRITER or HarnessSession.objects.count() == before
