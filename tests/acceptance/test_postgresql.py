"""The same river over PostgreSQL: the demo is loaded, served, asked, and loaded again."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from portal.demo.loading import QUESTION, SLUG
from tests import live
from tests.everything import postgresql
from tests.live import LivePortal


@pytest.fixture(scope="module")
def portal(tmp_path_factory: pytest.TempPathFactory) -> Iterator[LivePortal]:
    """Load the demo into an empty PostgreSQL and serve it."""
    home: Path = tmp_path_factory.mktemp("postgresql") / "home"
    with postgresql() as url:
        live.make_demo(home, PORTAL_DATABASE_URL=url)
        with live.serving(home, PORTAL_DATABASE_URL=url) as served:
            yield served


def test_a_question_finds_its_formula_and_nothing_is_kept_in_sqlite(portal):
    first = portal.ask(QUESTION).json()["results"][0]
    assert first["evidence_id"] == "evidence:fascia-pediatrica"
    assert not (portal.home / "portal.sqlite3").exists()


def test_a_second_demo_publishes_nothing_new(portal):
    before = portal.tht_json("publish", "status", SLUG)
    portal.tht_json("demo")
    assert portal.tht_json("publish", "status", SLUG) == before
    assert [one["state"] for one in before["generations"]] == ["active"]
