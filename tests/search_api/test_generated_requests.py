"""Requests that nobody thought of, made from the published contract itself."""

from __future__ import annotations

from datetime import timedelta

import pytest
import schemathesis
from hypothesis import HealthCheck, Phase, settings

from portal.wsgi import application
from publishing.models import Generation
from search_api.models import ApiKey
from tests.search_api.conftest import SLUG

pytestmark = pytest.mark.django_db


@pytest.fixture
def contract(published):
    return schemathesis.openapi.from_wsgi("/api/v1/openapi.json", application)


generated = schemathesis.pytest.from_fixture("contract")


@generated.parametrize()
@settings(
    max_examples=25,
    deadline=timedelta(seconds=10),
    phases=[Phase.explicit, Phase.generate],
    suppress_health_check=list(HealthCheck),
    derandomize=True,
    database=None,
)
def test_no_request_breaks_the_api_or_its_contract(case, new_key):
    case.path_parameters["workspace"] = SLUG
    case.call_and_validate(headers={"X-API-Key": new_key()})
    assert Generation.objects.count() == 1
    assert ApiKey.objects.exists()
