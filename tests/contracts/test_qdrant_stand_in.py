"""The double of a Qdrant server is as strict as the document, and honest about what it keeps.

That it answers as a server does is shown in `tests/l0`, whose tests run over both.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest

from tests.publishing import shared_collection as shared
from tests.qdrant_stand_in import QdrantStandIn

TEXT = {"text": "febbre", "model": "qdrant/bm25"}
WRONG: dict[str, tuple[str, str, Any]] = {
    "a_key_that_nobody_knows": ("POST", "/points/scroll", {"limit": 1, "with_payloads": True}),
    "a_filter_that_nobody_knows": ("POST", "/points/count", {"filter": {"must_have": []}}),
    "a_value_of_another_type": ("POST", "/points/scroll", {"limit": "all"}),
    "a_missing_key": ("POST", "/points/query/batch", {}),
    "a_fusion_that_nobody_knows": (
        "POST",
        "/points/query/batch",
        {"searches": [{"query": {"fusion": "rrff"}}]},
    ),
    "an_option_that_nobody_knows": (
        "POST",
        "/points/query/batch",
        {"searches": [{"query": {**TEXT, "options": {"avg_length": 3}}, "using": "bm25"}]},
    ),
    "a_modifier_in_capitals": ("PUT", "/vectors/bm25", {"sparse": {"modifier": "Idf"}}),
    "a_parameter_that_nobody_knows": ("POST", "/points/count?exact=true", {}),
    "a_parameter_of_another_type": ("PUT", "/points?wait=yes", {"points": []}),
    "an_operation_that_does_not_exist": ("POST", "/points/erase", {}),
    "a_body_that_nobody_wants": ("GET", "", {"a": 1}),
}


@pytest.fixture
def double(tmp_path: Path) -> Iterator[QdrantStandIn]:
    with QdrantStandIn.running(tmp_path) as running:
        shared.create(running.url, "prova", dimension=4)
        yield running
        running.violations.clear()


@pytest.mark.parametrize(("method", "path", "body"), WRONG.values(), ids=WRONG)
def test_what_the_document_does_not_allow_is_refused_and_remembered(double, method, path, body):
    url = f"{double.url}/collections/prova{path}"
    answer = httpx.request(method, url, json=body, trust_env=False)
    assert 400 <= answer.status_code < 500
    assert len(double.violations) >= 1


def test_a_violation_fails_the_test_that_made_it(tmp_path):
    with pytest.raises(AssertionError), QdrantStandIn.running(tmp_path) as double:
        httpx.post(f"{double.url}/collections/x/points/scroll", json={"a": 1}, trust_env=False)


def test_a_write_that_does_not_wait_is_only_noted_down(double):
    url = f"{double.url}/collections/prova/points"
    body = {"points": [{"id": 1, "vector": [1.0, 0.0, 0.0, 0.0]}]}
    for wait, status in (("", "acknowledged"), ("?wait=true", "completed")):
        answer = httpx.put(url + wait, json=body, trust_env=False).json()
        assert answer["result"]["status"] == status


def test_a_bm25_query_without_the_vector_is_refused_as_a_server_does(double):
    url = f"{double.url}/collections/prova/points/query/batch"
    body = {"searches": [{"query": TEXT, "using": "bm25"}]}
    answer = httpx.post(url, json=body, trust_env=False)
    assert answer.status_code == 400
    assert double.violations == []
