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
from search_api.models import ApiKey
from tests.search_api.conftest import SLUG

pytestmark = pytest.mark.django_db

contract = schemathesis.openapi.from_wsgi("/api/v1/openapi.json", application)


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
    case.path_parameters["workspace"] = SLUG
    case.headers.pop("Authorization", None)  # A key that was made up is another test's matter.
    response = case.call_and_validate(
        headers={"X-API-Key": new_key()},
        excluded_checks=[schemathesis.checks.not_a_server_error],
    )
    # The one 503 that is fine is an outcome that the contract documents.
    outcome = {"status": "unavailable", "code": "revision_mismatch"}
    assert response.status_code < 500 or outcome.items() <= response.json().items()
    assert Generation.objects.count() == 1
    assert ApiKey.objects.exists()
