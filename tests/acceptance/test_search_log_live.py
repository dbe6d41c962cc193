"""The search log of a portal that is served: written at its end, and silent while it cannot be."""

from __future__ import annotations

import sqlite3
import time
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from portal.demo.loading import QUESTION
from tests import live
from tests.live import LivePortal

ASKED = 5
PROMPT_S = 3.0


@pytest.fixture
def portal(demo_home: Path, tmp_path: Path) -> Iterator[LivePortal]:
    """Serve a copy of the demo that may be stopped."""
    with live.serving(live.copy_home(demo_home, tmp_path / "home")) as served:
        yield served


def logged(portal: LivePortal) -> int:
    with closing(sqlite3.connect(portal.home / "portal.sqlite3", timeout=30)) as database:
        (count,) = database.execute("SELECT count(*) FROM search_api_searchlogentry").fetchone()
    return int(count)


def test_what_was_asked_just_before_the_end_is_in_the_log(portal: LivePortal) -> None:
    before = logged(portal)
    for _ in range(ASKED):
        assert portal.ask(QUESTION).status_code == 200
    portal.ask_to_stop()
    assert logged(portal) == before + ASKED


def test_a_database_that_takes_no_writes_delays_no_answer(portal: LivePortal) -> None:
    portal.ask(QUESTION)
    before = live.wait_until(lambda: logged(portal), within_s=20, what="the first is logged")
    with closing(sqlite3.connect(portal.home / "portal.sqlite3", isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        for _ in range(ASKED):
            began = time.monotonic()
            assert portal.ask(QUESTION).status_code == 200
            assert time.monotonic() - began < PROMPT_S
        assert logged(portal) == before
        other.execute("COMMIT")
    live.wait_until(
        lambda: logged(portal) == before + ASKED, within_s=40, what="the rest is logged"
    )
