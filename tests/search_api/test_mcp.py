"""`tht mcp` as the official client sees it: three tools over stdio, and nothing else on stdout."""

from __future__ import annotations

import asyncio
import subprocess
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from mcp import Client, StdioServerParameters

from tests.live import CHECKOUT, THT, copy_home, environment

QUESTION = "Come distinguo i pazienti pediatrici?"


@pytest.fixture(scope="module")
def home(demo_home: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return copy_home(demo_home, tmp_path_factory.mktemp("mcp") / "home")


def talk(home: Path, *calls: tuple[str, Mapping[str, Any]]) -> tuple[set[str], list[Any]]:
    """Give the names of the tools, and the results of the calls in one session."""

    async def session() -> tuple[set[str], list[Any]]:
        program = StdioServerParameters(
            command=THT[0], args=[*THT[1:], "mcp"], env=environment(home), cwd=CHECKOUT
        )
        async with Client(program) as client:
            tools = await client.list_tools()
            results = [await client.call_tool(name, dict(given)) for name, given in calls]
            return {tool.name for tool in tools.tools}, results

    return asyncio.run(asyncio.wait_for(session(), 120))


def test_the_official_client_searches_reads_and_grounds(home):
    here = {"workspace": "clinica-demo"}
    names, [found, unit, values] = talk(
        home,
        ("search_evidence", here | {"question": QUESTION, "purpose": "sql_generation"}),
        ("get_evidence", here | {"evidence_id": "evidence:fascia-pediatrica"}),
        ("ground_values", here | {"values": ["ablazione"]}),
    )
    assert names == {"search_evidence", "get_evidence", "ground_values"}
    assert found.structured_content["status"] == "available"
    assert found.structured_content["results"][0]["evidence_id"] == "evidence:fascia-pediatrica"
    assert unit.structured_content["kind"] == "formula"
    [value] = values.structured_content["values"]
    assert {row["column"] for row in value["matches"]} == {
        "clinical.procedure.procedure_code",
        "clinical.procedure.description",
    }


def test_what_is_wrong_is_an_error_of_the_tool_with_its_code(home):
    asked = {"question": QUESTION, "purpose": "rewriting"}
    _, [unknown, empty, gone] = talk(
        home,
        ("search_evidence", asked | {"workspace": "no-such"}),
        ("search_evidence", asked | {"workspace": "clinica-demo", "question": " "}),
        ("get_evidence", {"workspace": "clinica-demo", "evidence_id": "evidence:none"}),
    )
    for result, code in (
        (unknown, "workspace_unknown"),
        (empty, "question_refused"),
        (gone, "unit_unknown"),
    ):
        assert result.is_error
        assert code in result.content[0].text


def test_a_client_that_says_nothing_gets_nothing_on_stdout(home):
    done = subprocess.run(
        [*THT, "mcp"],
        cwd=CHECKOUT,
        env=environment(home),
        input="",
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert (done.returncode, done.stdout) == (0, "")
