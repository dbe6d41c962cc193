"""The skill file for a harness: its stages, requests and command are the portal's own."""

from __future__ import annotations

import json
import re
import shlex
from pathlib import Path

import pytest
from typer.testing import CliRunner

import search_api
from search_api.commands import search_app
from search_api.grounding import GroundBody
from search_api.packing import ContextBody
from search_api.schemas import SearchBody
from search_api.stages import PURPOSES

SKILL = Path(search_api.__file__).parent / "skills" / "evidence-search" / "SKILL.md"
TEXT = SKILL.read_text()


def test_the_stages_and_purposes_are_those_of_the_api():
    rows = re.findall(r"^ +\| (\w+) \| (\w+) \|$", TEXT, re.MULTILINE)
    assert rows[1:] == [(stage.value, purpose.value) for stage, purpose in PURPOSES.items()]


def test_its_requests_are_valid():
    bodies = [json.loads(body) for body in re.findall(r"```json\n(.*?)```", TEXT, re.DOTALL)]
    search, ground, context = bodies
    SearchBody.model_validate(search)
    GroundBody.model_validate(ground)
    ContextBody.model_validate(context)


@pytest.mark.django_db
def test_its_command_works(published):
    [line] = re.findall(r"```sh\n(.*?)```", TEXT, re.DOTALL)
    tht, search, *arguments = shlex.split(line)
    assert (tht, search) == ("tht", "search")
    done = CliRunner().invoke(search_app, arguments)
    assert done.exit_code == 0
    assert json.loads(done.stdout)["status"] == "available"


@pytest.mark.parametrize(
    "rule",
    [
        "Candidates are not truth",
        "independently in each of the five stages",
        "includes the approved CTE plan",
        "not another store",
        "a session proposal, not published evidence",
        "Show provenance",
        "An empty answer continues",
        "blocks the stage until a retry",
        "writes no decisions, artifacts or workflow state",
    ],
)
def test_it_says_every_rule(rule):
    assert rule in TEXT
