"""`tht search` and `tht keys`: the API's outcome and keys, at the terminal."""

from __future__ import annotations

import json

import pytest
from typer.testing import CliRunner

from search_api import keys
from search_api.commands import keys_app, search_app
from search_api.models import ApiKey
from tests.search_api.conftest import QUESTION, SLUG

pytestmark = pytest.mark.django_db

FIND = ["find", QUESTION["query"], "--workspace", SLUG, "--purpose", "sql_generation"]


def run(app, *arguments: str):
    return CliRunner().invoke(app, list(arguments))


def test_find_prints_the_very_outcome_of_the_api(published, ask):
    printed = run(search_app, *FIND, "--json")
    assert printed.exit_code == 0
    assert json.loads(printed.stdout) == ask().json()


def test_find_narrows_by_kind_and_number(published):
    printed = run(search_app, *FIND, "--kind", "example", "--top", "1", "--json")
    results = json.loads(printed.stdout)["results"]
    assert [unit["kind"] for unit in results] == ["example"]


def test_find_shows_people_a_table(published):
    printed = run(search_app, *FIND)
    assert printed.exit_code == 0
    assert "Fascia pediatrica" in printed.stdout


def test_an_unavailable_search_exits_with_1_and_prints_the_outcome(registered):
    printed = run(search_app, *FIND, "--json")
    assert printed.exit_code == 1
    assert json.loads(printed.stdout)["code"] == "no_active_generation"
    people = run(search_app, *FIND)
    assert (people.exit_code, people.stdout) == (1, "")
    assert "no_active_generation" in people.stderr


def test_a_workspace_that_is_not_registered_is_said_to_the_operator(registered):
    printed = run(search_app, "find", "x", "--workspace", "altrove", *FIND[4:], "--json")
    assert printed.exit_code == 1
    assert json.loads(printed.stdout)["error"]["code"] == "workspace_unknown"


def test_a_broken_store_leaves_nothing_but_json_on_stdout(published, settings, tmp_path):
    settings.PUBLISHING = settings.PUBLISHING | {"home": tmp_path}
    printed = run(search_app, *FIND, "--json")
    assert printed.exit_code == 1
    assert json.loads(printed.stdout)["code"] == "vector_store_unavailable"


def test_a_question_that_cannot_be_asked_is_an_error_with_a_code(registered):
    printed = run(search_app, "find", " ", *FIND[2:], "--json")
    assert printed.exit_code == 1
    assert json.loads(printed.stdout)["error"]["code"] == "question_refused"


@pytest.mark.parametrize(
    "wrong",
    [
        [*FIND, "--top", "0"],
        [*FIND, "--top", "11"],
        [*FIND, "--kind", "secret"],
        [*FIND, "--kind", "enum", "--kind", "formula"],
        [*FIND, "--purpose", "rewriting"],
        [*FIND, "--nonsense"],
        FIND[:2],
    ],
)
def test_misuse_exits_with_2(registered, wrong):
    assert run(search_app, *wrong).exit_code == 2


CREATE = ["create", "--workspace", SLUG, "--role", "reader"]


def test_a_key_made_here_opens_the_api(registered, ask):
    made = run(keys_app, *CREATE, "--json")
    assert made.exit_code == 0
    printed = json.loads(made.stdout)
    assert set(printed) == {"key", "prefix", "role", "workspaces", "expires_at"}
    assert (printed["role"], printed["workspaces"]) == ("reader", [SLUG])
    assert ask(headers={"X-API-Key": printed["key"]}).status_code == 503


def test_people_get_the_key_alone_on_stdout(registered):
    made = run(keys_app, *CREATE)
    assert made.stdout.startswith("tht_")
    assert len(made.stdout.split()) == 1


def test_a_key_expires_on_the_day_given(registered):
    made = json.loads(run(keys_app, *CREATE, "--expires", "2999-01-31", "--json").stdout)
    assert made["expires_at"].startswith("2999-01-31T00:00:00")


def test_the_list_shows_every_key_and_no_secret(registered):
    made = json.loads(run(keys_app, *CREATE, "--json").stdout)
    for arguments in (["list"], ["list", "--json"]):
        printed = run(keys_app, *arguments).stdout
        assert made["prefix"] in printed
        assert made["key"].split("_", 2)[2] not in printed
        assert ApiKey.objects.get().digest not in printed


def test_rotate_gives_a_new_key_and_revoke_ends_the_old_one(registered, ask):
    first = json.loads(run(keys_app, *CREATE, "--json").stdout)
    second = json.loads(run(keys_app, "rotate", first["prefix"], "--json").stdout)
    assert ask(headers={"X-API-Key": first["key"]}).status_code == 503
    ended = json.loads(run(keys_app, "revoke", first["prefix"], "--json").stdout)
    assert ended["revoked_at"]
    assert ask(headers={"X-API-Key": first["key"]}).status_code == 401
    assert ask(headers={"X-API-Key": second["key"]}).status_code == 503


@pytest.mark.parametrize(
    ("arguments", "code", "status"),
    [
        (["rotate", "zzzzzzzz"], "key_not_found", 1),
        (["revoke", "zzzzzzzz"], "key_not_found", 1),
        ([*CREATE, "--expires", "2001-01-01"], "key_unusable", 1),
        (["create", "--workspace", "no-such", "--role", "reader"], "workspace_unknown", 1),
        ([*CREATE, "--role", "writer"], "usage", 2),
        (["create", "--workspace", SLUG, "--role", "approver"], "usage", 2),
        (["create", "--role", "reader"], "usage", 2),
    ],
)
def test_what_cannot_be_done_prints_a_coded_error_and_makes_nothing(
    registered, arguments, code, status
):
    printed = run(keys_app, *arguments, "--json")
    assert printed.exit_code == status
    assert json.loads(printed.stdout)["error"]["code"] == code
    assert keys.listed() == []
