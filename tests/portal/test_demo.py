"""`tht demo`: what a visitor finds, also the second time; nothing here needs the network."""

from __future__ import annotations

import json
import sqlite3
import subprocess
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from portal.demo.loading import QUESTION, SLUG
from tests import live
from tests.makers import git


@pytest.fixture(scope="module")
def home(demo_home: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A demo that was loaded once."""
    return live.copy_home(demo_home, tmp_path_factory.mktemp("demo") / "home")


def of_portal(home: Path, *arguments: str) -> Any:
    done = live.tht(home, *arguments, "--json")
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def commits(home: Path) -> list[str]:
    bare = home / "repositories" / f"{SLUG}.git"
    return git(bare, "log", "--format=%H %an", "main").splitlines()


def under_way(home: Path) -> bool:
    """Tell whether a worker holds a generation of this home."""
    try:
        with closing(sqlite3.connect(home / "portal.sqlite3", timeout=20)) as database:
            sql = "SELECT count(*) FROM publishing_generation WHERE lease_owner <> ''"
            return bool(database.execute(sql).fetchone()[0])
    except sqlite3.OperationalError:  # no database yet, or no table in it
        return False


def what_waits(home: Path) -> dict[str, int]:
    (found,) = of_portal(home, "workspace", "list")
    waiting = ("sources_new", "sources_changed", "sources_removed", "open_items", "orphans")
    return {name: found[name] for name in waiting if found[name]}


def test_a_visitor_finds_one_note_that_waits_and_nothing_else_to_do(home):
    assert what_waits(home) == {"sources_new": 1}


def test_one_generation_is_active_and_one_commit_behind(home):
    found = of_portal(home, "publish", "status", SLUG)
    assert [one["state"] for one in found["generations"]] == ["active"]
    assert found["active"]["hit_at_10"] == 1.0
    assert found["active"]["approved_by"] == "approvatore"
    assert (found["behind"], found["open_approval"]) == (1, None)


def test_the_demos_commits_are_by_demo(home):
    assert {line.partition(" ")[2] for line in commits(home)} == {"Demo"}


def test_the_passwords_are_made_here_and_only_their_owner_reads_them(home):
    file = home / "demo-users"
    assert file.stat().st_mode & 0o777 == 0o600
    secrets = json.loads(file.read_text())
    assert set(secrets["passwords"]) == {"curatrice", "approvatore"}
    assert len(set(secrets["passwords"].values())) == 2
    assert all(len(password) >= 12 for password in secrets["passwords"].values())


def test_neither_passwords_nor_key_stand_in_the_database_as_they_are(home):
    secrets = json.loads((home / "demo-users").read_text())
    with closing(sqlite3.connect(home / "portal.sqlite3")) as database:
        text = "\n".join(database.iterdump())
    for secret in (*secrets["passwords"].values(), secrets["key"]):
        assert secret not in text


def test_a_second_demo_changes_nothing_and_prints_the_same_people_and_question(home):
    before = (commits(home), (home / "demo-users").read_bytes())
    done = live.tht(home, "demo", PORTAL_BIND="127.0.0.1:8765")
    assert done.returncode == 0, done.stderr
    assert (commits(home), (home / "demo-users").read_bytes()) == before
    secrets = json.loads(before[1])
    for word in (*secrets["passwords"].values(), secrets["key"], QUESTION, "127.0.0.1:8765"):
        assert word in done.stdout
    assert what_waits(home) == {"sources_new": 1}
    generations = of_portal(home, "publish", "status", SLUG)["generations"]
    assert [one["state"] for one in generations] == ["active"]


def test_a_demo_that_was_killed_while_it_published_is_finished_by_the_next_one(tmp_path):
    home = tmp_path / "home"
    killed = subprocess.Popen([*live.THT, "demo"], cwd=live.CHECKOUT, env=live.environment(home))
    live.wait_until(lambda: under_way(home), within_s=60, what="a candidate is worked on")
    killed.kill()
    killed.wait()
    with closing(sqlite3.connect(home / "portal.sqlite3", timeout=20)) as database, database:
        assert database.execute("SELECT state FROM publishing_approval").fetchall() == [("open",)]
        database.execute("UPDATE publishing_generation SET lease_expires_at = '2026-01-01'")
    of_portal(home, "demo")
    generations = of_portal(home, "publish", "status", SLUG)["generations"]
    assert [one["state"] for one in generations] == ["active"]


def test_two_demos_at_once_make_one(tmp_path):
    home = tmp_path / "home"
    both = [
        subprocess.Popen([*live.THT, "demo"], cwd=live.CHECKOUT, env=live.environment(home))
        for _ in range(2)
    ]
    assert [one.wait(timeout=120) for one in both] == [0, 0]
    assert what_waits(home) == {"sources_new": 1}
    generations = of_portal(home, "publish", "status", SLUG)["generations"]
    assert [one["state"] for one in generations] == ["active"]


def test_a_key_that_was_revoked_is_made_anew_by_the_next_demo(home):
    before = json.loads((home / "demo-users").read_text())["key"]
    of_portal(home, "keys", "revoke", before.split("_")[1])
    again = of_portal(home, "demo")
    assert again["workspace"] == SLUG
    assert again["key"] != before
    assert json.loads((home / "demo-users").read_text())["key"] == again["key"]
