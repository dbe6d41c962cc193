"""`tht evidence prepare --restructurer pi`: from the environment to units in the work tree."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from evidence.commands import evidence_app
from tests.evidence.pi.stand_ins import obedient
from tests.evidence.trees import EXCERPT, NOTE, a_work_tree, bytes_below

UNIT = "curated/glossary/paziente-pediatrico.md"
ANSWER = json.dumps(
    {
        "schema_version": 1,
        "candidates": [
            {
                "kind": "glossary",
                "title": "Paziente pediatrico",
                "purposes": ["disambiguation"],
                "excerpts": [EXCERPT],
                "payload": {"term": "paziente pediatrico", "definition": "Meno di 18 anni."},
            }
        ],
    }
)


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A portal whose Pi answers with one unit."""
    folder = tmp_path / "home"
    folder.mkdir()
    monkeypatch.setenv("PORTAL_HOME", str(folder))
    monkeypatch.setenv("PORTAL_PI_EXECUTABLE", str(obedient(tmp_path, ANSWER)))
    monkeypatch.setenv("PORTAL_PI_TIMEOUT_S", "20")
    return folder


def prepared(root: Path, *arguments: str) -> tuple[int, dict[str, Any]]:
    """Run the command with Pi; give its exit code and what it printed."""
    given = ["prepare", str(root), "--restructurer", "pi", "--json", *arguments]
    result = CliRunner().invoke(evidence_app, given)
    return result.exit_code, json.loads(result.stdout)


@pytest.mark.usefixtures("home")
def test_pi_prepares_a_folder(tmp_path: Path) -> None:
    root = a_work_tree(tmp_path / "top", {"source/eta.md": NOTE})
    code, report = prepared(root)
    assert (code, report["model_calls"], report["cached"]) == (0, 1, 0)
    assert report["created"] == ["evidence:paziente-pediatrico"]
    assert UNIT in bytes_below(root)


def test_an_answer_is_kept_below_home_and_used_again(tmp_path: Path, home: Path) -> None:
    counted = []
    for name in ("first", "second"):
        _, report = prepared(a_work_tree(tmp_path / name, {"source/eta.md": NOTE}))
        counted.append((report["model_calls"], report["cached"]))
    assert counted == [(1, 0), (0, 1)]
    assert len(list((home / "cache" / "restructuring").rglob("*.json"))) == 1
    assert len(list((home / "debug").iterdir())) == 1


@pytest.mark.usefixtures("home")
def test_personal_data_has_to_be_confirmed(tmp_path: Path) -> None:
    note = f"{NOTE}\nChiedere a paola.rossi@example.org.\n"
    root = a_work_tree(tmp_path / "top", {"source/eta.md": note})
    before = bytes_below(root)
    code, told = prepared(root)
    assert (code, told["error"]["code"]) == (1, "personal_data_suspected")
    assert told["error"]["path"] == "source/eta.md"
    assert "--confirm-personal-data" in told["error"]["hint"]
    assert bytes_below(root) == before
    code, report = prepared(root, "--confirm-personal-data")
    assert (code, report["model_calls"]) == (0, 1)


def test_a_failure_writes_nothing_and_names_the_source(
    tmp_path: Path, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PORTAL_PI_EXECUTABLE", str(obedient(tmp_path / "home", "Sure!")))
    root = a_work_tree(tmp_path / "top", {"source/eta.md": NOTE})
    before = bytes_below(root)
    code, told = prepared(root)
    assert (code, told["error"]["code"], told["error"]["path"]) == (
        1,
        "pi_output_invalid",
        "source/eta.md",
    )
    assert bytes_below(root) == before
    assert not (home / "cache").exists()
