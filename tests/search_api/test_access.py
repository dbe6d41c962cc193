"""Who is let in, how often, and how every refusal is worded (RFC 9457)."""

from __future__ import annotations

import io
import logging
from datetime import timedelta
from itertools import product

import pytest
from django.test import Client
from django.utils import timezone

from search_api import keys
from search_api.models import ApiKey, KeyRole
from tests.search_api.conftest import QUESTION, SEARCH, SLUG

pytestmark = pytest.mark.django_db

UNIT = f"/api/v1/workspaces/{SLUG}/units/evidence:ablazione"


def problem(response, status: int, code: str):
    """Check that a response is one whole problem document and give it."""
    assert (response.status_code, response["Content-Type"]) == (status, "application/problem+json")
    document = response.json()
    assert document["code"] == code
    assert document["status"] == status
    assert {"type", "title", "detail"} <= set(document)
    return document


@pytest.mark.parametrize(
    "headers",
    [
        {"Authorization": "Bearer tht_00000000_" + "x" * 43},
        {"Authorization": "Bearer "},
        {"Authorization": "Bearer"},
        {"Authorization": "Basic dGh0OnRodA=="},
        {"Authorization": "tht_00000000_" + "x" * 43},
        {"X-API-Key": "tht_00000000_" + "x" * 43},
        {"X-API-Key": "\u00e9\u00e8"},
        {"Accept": "application/json"},
    ],
)
def test_without_a_good_key_nothing_is_answered(registered, ask, headers):
    response = ask(headers=headers)
    problem(response, 401, "key_unknown")
    assert response["WWW-Authenticate"] == "Bearer"


def test_either_header_carries_a_key(registered, ask, new_key):
    for headers in (
        {"Authorization": f"Bearer {new_key()}"},
        {"Authorization": f"bearer  {new_key()}"},
        {"X-API-Key": new_key()},
    ):
        assert ask(headers=headers).status_code == 503


def test_a_key_in_the_address_is_no_key(registered, new_key):
    response = Client().get(f"{UNIT}?X-API-Key={new_key()}&key={new_key()}")
    problem(response, 401, "key_unknown")


def test_a_revoked_or_expired_key_is_as_unknown_as_any_other(registered, ask, new_key):
    revoked, expired = new_key(), new_key()
    keys.revoke(prefix=revoked.split("_")[1], now=timezone.now())
    past = timezone.now() - timedelta(seconds=1)
    ApiKey.objects.filter(prefix=expired.split("_")[1]).update(expires_at=past)
    answers = {
        ask(headers={"X-API-Key": key}).content
        for key in (revoked, expired, "tht_00000000_" + "x" * 43)
    }
    assert len(answers) == 1


def test_a_workspace_that_exists_is_refused_just_like_one_that_does_not(registered, ask, new_key):
    headers = {"X-API-Key": new_key("altra")}
    other = ask(headers=headers)
    missing = ask(path="/api/v1/workspaces/no-such/search", headers=headers)
    problem(other, 403, "access_refused")
    assert other.content == missing.content


def test_access_is_decided_before_the_body_is_read(registered, ask, new_key):
    wrong = {"nonsense": True}
    problem(ask(wrong, headers={"X-API-Key": "none"}), 401, "key_unknown")
    problem(ask(wrong, headers={"X-API-Key": new_key("altra")}), 403, "access_refused")


@pytest.mark.parametrize(("role", "slugs"), list(product(KeyRole, [(SLUG,), ("altra", SLUG)])))
def test_both_roles_read_in_each_of_their_workspaces(registered, ask, new_key, role, slugs):
    assert ask(headers={"X-API-Key": new_key(*slugs, role=role)}).status_code == 503


def test_a_key_that_asks_too_often_waits_and_others_do_not(registered, ask, new_key, settings):
    settings.SEARCH_API = settings.SEARCH_API | {"rate_limit": 3}
    busy, other = ({"X-API-Key": new_key()} for _ in range(2))
    assert [ask(headers=busy).status_code for _ in range(4)] == [503, 503, 503, 429]
    refused = ask(headers=busy)
    problem(refused, 429, "too_many_requests")
    assert 0 < int(refused["Retry-After"]) <= 60
    assert ask(headers=other).status_code == 503


def test_bad_keys_are_counted_for_nobody(registered, ask, new_key, settings):
    settings.SEARCH_API = settings.SEARCH_API | {"rate_limit": 1}
    good = new_key()
    bad = good[:-1] + ("a" if good[-1] != "a" else "b")
    for _ in range(5):
        problem(ask(headers={"X-API-Key": bad}), 401, "key_unknown")
    assert ask(headers={"X-API-Key": good}).status_code == 503


@pytest.mark.parametrize(
    ("change", "field"),
    [
        ({"query": ""}, "query"),
        ({"query": " \r\n\t"}, "query"),
        ({"query": "x" * 20_001}, "query"),
        ({"query": "a\0b"}, "query"),
        ({"query": "a\ud800"}, "query"),
        ({"query": None}, "query"),
        ({"query": 7}, "query"),
        ({"purpose": "approval"}, "purpose"),
        ({"purpose": None}, "purpose"),
        ({"top_n": 0}, "top_n"),
        ({"top_n": 11}, "top_n"),
        ({"top_n": "3"}, "top_n"),
        ({"top_n": True}, "top_n"),
        ({"top_n": 2.5}, "top_n"),
        ({"context": []}, "context"),
        ({"context": {"concepts": "fascia"}}, "context.concepts"),
        ({"context": {"concepts": ["a"] * 201}}, "context.concepts"),
        ({"context": {"tables": ["\0"]}}, "context.tables"),
        ({"context": {"tables": ["x" * 1001]}}, "context.tables.0"),
        ({"context": {"columns": ["\udfff"]}}, "context.columns.0"),
        ({"context": {"required_kinds": ["secret"]}}, "context.required_kinds.0"),
        ({"context": {"required_concepts": [" "]}}, "context.required_concepts"),
        ({"context": {"kinds": ["formula"]}}, "context.kinds"),
        ({"workspace_revision": 7}, "workspace_revision"),
        ({"workspace_revision": "x" * 65}, "workspace_revision"),
        ({"question": "?"}, "question"),
        ({"session": "s"}, "session"),
        ({"session": {"id": "s"}}, "session.stage"),
        ({"session": {"stage": "cte"}}, "session.id"),
        ({"session": {"id": "", "stage": "cte"}}, "session.id"),
        ({"session": {"id": "s\0", "stage": "cte"}}, "session.id"),
        ({"session": {"id": "s\n", "stage": "cte"}}, "session.id"),
        ({"session": {"id": "s" * 101, "stage": "cte"}}, "session.id"),
        ({"session": {"id": "s", "stage": "review"}}, "session.stage"),
        ({"session": {"id": "s", "stage": "cte", "more": 1}}, "session.more"),
    ],
)
def test_a_field_that_is_not_valid_is_named_and_never_repeated(registered, ask, change, field):
    document = problem(ask(QUESTION | change), 422, "request_invalid")
    assert [error["field"] for error in document["errors"]] == [field]


def test_a_question_of_twenty_thousand_characters_is_taken(registered, ask):
    assert ask(QUESTION | {"query": "è" * 20_000}).status_code == 503


@pytest.mark.parametrize(
    "body",
    [
        b"{",
        b"\xff\xfe",
        b'{"query": NaN, "purpose": "rewriting"}',
        b'{"query": "a", "query": "b", "purpose": "rewriting"}',
        b"[" * 100_000,
    ],
)
def test_what_is_not_json_is_a_bad_request(registered, ask, body):
    problem(ask(body), 400, "request_unreadable")


def test_a_body_above_the_limit_is_refused_unread(registered, ask):
    problem(ask(QUESTION | {"query": "x" * 3_000_000}), 400, "request_too_large")


@pytest.mark.parametrize("body", [b"", b"null", b"[]", b'"text"', b"7"])
def test_json_that_is_no_object_is_not_valid(registered, ask, body):
    problem(ask(body), 422, "request_invalid")


def test_a_wrong_method_and_an_unknown_path_are_problems_too(registered, new_key):
    headers = {"X-API-Key": new_key()}
    wrong = Client().get(SEARCH, headers=headers)
    problem(wrong, 405, "method_not_allowed")
    assert wrong["Allow"] == "POST"
    problem(Client().delete(UNIT, headers=headers), 405, "method_not_allowed")
    problem(Client().get("/api/v1/nothing/here", headers=headers), 404, "route_unknown")
    problem(Client().post("/api/v1/", headers=headers), 404, "route_unknown")


def test_a_bug_is_a_problem_without_internals(published, ask, settings):
    settings.PUBLISHING = {"nonsense": 1}
    response = ask()
    problem(response, 500, "internal_error")
    assert "nonsense" not in response.content.decode()


def test_an_operator_s_fault_names_its_code_and_keeps_its_cause(published, new_key, settings):
    settings.EVIDENCE = settings.EVIDENCE | {"home": published.home / "gone"}
    response = Client().get(UNIT, headers={"X-API-Key": new_key()})
    problem(response, 503, "repository_unavailable")
    assert str(published.home) not in response.content.decode()


@pytest.mark.parametrize("debug", [True, False])
def test_no_key_is_ever_in_a_log_or_an_answer(published, ask, new_key, settings, debug):
    settings.DEBUG = debug
    written = io.StringIO()
    handler = logging.StreamHandler(written)
    root = logging.getLogger()
    root.addHandler(handler)
    before, level = root.handlers[:], root.level
    root.setLevel(logging.DEBUG)
    key = new_key()
    secret = key.split("_", 2)[2]
    try:
        for headers in (
            {"Authorization": f"Bearer {key}"},
            {"Authorization": f"Token {key}"},
            {"Authorization": key},
            {"X-API-Key": key},
            {"X-API-Key": key + "x"},
        ):
            answers = [ask(headers=headers), ask(b"{", headers=headers)]
            answers.append(Client().get("/api/v1/nowhere", headers=headers))
            assert not any(secret in answer.content.decode() for answer in answers)
    finally:
        root.setLevel(level)
        root.handlers = [one for one in before if one is not handler]
    assert written.getvalue()
    assert secret not in written.getvalue()
