"""What a browser is shown when an address, a right or the portal itself fails."""

from __future__ import annotations

import re

import pytest
from django.contrib.auth.models import User
from django.test import Client

from portal import dashboard

pytestmark = pytest.mark.django_db


@pytest.fixture
def owner() -> Client:
    client = Client(raise_request_exception=False, headers={"accept-language": "it"})
    client.force_login(User.objects.create_superuser("owner"))
    return client


def broken(*_args: object) -> None:
    raise RuntimeError("secret words of a bug")


def test_a_server_error_shows_a_number_that_the_log_knows_and_no_more(
    owner: Client, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(dashboard, "open_runs", broken)
    answer = owner.get("/admin/")
    text = answer.content.decode()
    assert answer.status_code == 500
    assert "secret words" not in text
    found = re.search(r"<code>([0-9a-f-]{36})</code>", text)
    assert found is not None
    assert found[1] in caplog.text


def test_an_address_that_is_none_is_said_in_words(owner: Client) -> None:
    answer = owner.get("/nowhere/")
    assert answer.status_code == 404
    assert "Forse è stato tolto" in answer.content.decode()


def test_what_one_may_not_do_is_said_in_words(client: Client) -> None:
    client.force_login(User.objects.create_user("nobody", is_staff=True))
    answer = client.get("/admin/evidence/unitrecord/", headers={"accept-language": "en"})
    assert answer.status_code == 403
    assert "You may not do this" in answer.content.decode()


def test_signing_in_too_often_with_a_wrong_password_is_said_in_words(client: Client) -> None:
    User.objects.create_user("somebody", password="right", is_staff=True)
    wrong = {"username": "somebody", "password": "wrong"}
    for _ in range(7):
        assert client.post("/admin/login/", wrong).status_code == 200
    answer = client.post("/admin/login/", wrong)
    assert answer.status_code == 429
    assert "Too many tries" in answer.content.decode()
    answer = client.post("/admin/login/", {"username": "somebody", "password": "right"})
    assert answer.status_code == 429
