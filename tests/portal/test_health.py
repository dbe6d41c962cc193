"""The process check answers whatever state the rest is in."""

from __future__ import annotations

from django.test import Client


def test_the_process_says_it_is_alive_without_a_database_or_a_sign_in():
    # Without the `db` fixture any query would fail here.
    response = Client().get("/healthz")
    assert (response.status_code, response.json()) == (200, {"status": "ok"})
