"""Every fault has a status, by its code or by who can act (style, Errors)."""

from __future__ import annotations

import json

import pytest
from django.test import RequestFactory

from evidence.faults import CuratorFault, Fault, OperatorFault, OutsideFault
from search_api import problems
from tests.house_rules import codes


@pytest.fixture(scope="module")
def faults() -> list[type[Fault]]:
    codes.import_everything()
    return list(codes.faults())


@pytest.mark.parametrize(
    ("kind", "status"), [(CuratorFault, 422), (OperatorFault, 503), (OutsideFault, 503)]
)
def test_a_fault_s_status_follows_from_who_can_act(kind, status):
    assert problems.status_of(kind("Something.", code="something_new")) == status


def test_every_listed_code_is_one_that_some_fault_has(faults):
    assert set(problems.STATUS_OF_CODE) <= {fault.code for fault in faults}


def test_no_fault_that_the_packages_declare_is_a_server_error_without_a_reason(faults):
    for fault in faults:
        by_class = next(problems.STATUS_OF_CLASS[c] for c in fault.__mro__ if c in codes.ACTS)
        status = problems.STATUS_OF_CODE.get(fault.code, by_class)
        assert status in {401, 403, 404, 409, 422, 429, 503}, fault


def test_waiting_helps_only_where_nobody_can_act():
    request = RequestFactory().get("/")
    outside = problems.of_fault(request, OutsideFault("Busy.", code="busy"))
    operator = problems.of_fault(request, OperatorFault("/var/secret is gone.", code="gone"))
    assert int(outside["Retry-After"]) > 0
    assert "Retry-After" not in operator
    assert "secret" not in operator.content.decode()


def test_what_an_answer_says_is_bounded():
    request = RequestFactory().get("/")
    answer = problems.of_fault(request, CuratorFault("x" * 10_000, code="long"))
    assert len(json.loads(answer.content)["detail"]) == problems.MAX_DETAIL
