"""The hot path: no query for what was looked up a moment ago, and nothing is true for longer."""

from __future__ import annotations

import time
from datetime import timedelta

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from publishing import generations
from publishing.domain.lifecycle import GenerationState
from publishing.models import Generation
from publishing.recent import REMEMBER_S, Recent
from search_api import keys
from search_api.models import ApiKey, KeyRole
from tests.search_api.conftest import SLUG

pytestmark = pytest.mark.django_db
A_SECOND = 1.0


@pytest.fixture
def remembering(settings):
    generations._LATELY.forget(SLUG)
    settings.PUBLISHING = settings.PUBLISHING | {"remember_s": REMEMBER_S}
    settings.SEARCH_API = settings.SEARCH_API | {"remember_s": REMEMBER_S}


def queries(connection_queries: CaptureQueriesContext) -> list[str]:
    """Give what a search asked of generations and keys; whatever else it writes is not its path."""
    tables = ("publishing_generation", "search_api_apikey")
    return [
        one["sql"]
        for one in connection_queries
        if one["sql"].startswith("SELECT") and any(table in one["sql"] for table in tables)
    ]


def test_a_second_search_asks_the_database_neither_for_the_pointer_nor_for_the_key(
    published, ask, remembering
):
    assert ask().status_code == 200
    with CaptureQueriesContext(connection) as seen:
        assert ask().status_code == 200
    assert queries(seen) == []


def test_a_moved_pointer_is_seen_within_a_second(published, ask, remembering):
    assert ask().status_code == 200
    Generation.objects.update(state=GenerationState.SUPERSEDED)
    time.sleep(A_SECOND)
    assert ask().json()["code"] == "no_active_generation"


def test_a_revoked_key_is_refused_within_a_second(published, ask, remembering):
    assert ask().status_code == 200
    ApiKey.objects.update(revoked_at=timezone.now())
    time.sleep(A_SECOND)
    assert ask().status_code == 401


def test_a_key_is_good_from_the_moment_it_is_made(remembering):
    unknown = keys.create(workspaces=["a"], role=KeyRole.READER, now=timezone.now())
    row = unknown.row
    row.delete()
    with pytest.raises(keys.KeyRefused):
        keys.check(unknown.token, now=timezone.now())
    row.save(force_insert=True)
    assert keys.check(unknown.token, now=timezone.now()) == row


def test_a_key_that_expires_while_it_is_remembered_is_refused_at_once(remembering):
    now = timezone.now()
    ends = now + timedelta(milliseconds=50)
    new = keys.create(workspaces=["a"], role=KeyRole.READER, now=now, expires_at=ends)
    keys.check(new.token, now=now)
    with pytest.raises(keys.KeyRefused):
        keys.check(new.token, now=ends)


def test_the_age_counts_from_before_a_slow_read():
    recent: Recent[str, float] = Recent()

    def slow() -> float:
        time.sleep(0.2)
        return time.monotonic()

    first = recent.get("a", slow, for_s=0.1)
    assert recent.get("a", slow, for_s=0.1) > first


def test_what_is_remembered_is_bounded():
    recent: Recent[int, int] = Recent(most=10)
    for number in range(100):
        recent.get(number, number.bit_length, for_s=60)
    assert len(recent._kept) <= 10


def test_a_flood_of_bad_keys_is_not_counted_and_costs_good_ones_no_query(new_key, remembering):
    token, now = new_key(), timezone.now()
    keys.check(token, now=now)
    for number in range(200):
        with pytest.raises(keys.KeyRefused):
            keys.check(f"tht_{number:08d}_" + "x" * 43, now=now)
    with CaptureQueriesContext(connection) as seen:
        keys.check(token, now=now)
    assert not list(seen)
