"""`tht evidence …` on a folder: exit codes, JSON alone on stdout, and nothing but the folder."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
import typer
from typer.testing import CliRunner, Result

from evidence.commands import evidence_app
from tests.evidence.trees import a_work_tree, bytes_below, commit_all, git, put

CLEAR = "# Glossario\n\n**Ricovero ordinario**: degenza con almeno un pernottamento in reparto.\n"
DOUBTFUL = "# Glossario\n\n**Paziente grave**: forse chi ha un punteggio alto, chiedere a Paola.\n"
ID = "evidence:ricovero-ordinario"
UNIT = "curated/glossary/ricovero-ordinario.md"


def tht(*arguments: object) -> Result:
    """Run `tht evidence` with these arguments."""
    return CliRunner().invoke(evidence_app, [str(each) for each in arguments])


def told(result: Result) -> dict[str, object]:
    """Give the one JSON object on stdout."""
    data = json.loads(result.stdout)
    assert isinstance(data, dict)
    return data


def error_of(result: Result) -> dict[str, str]:
    """Give what `--json` says of a failure."""
    error = told(result)["error"]
    assert isinstance(error, dict)
    assert sorted(error) == ["code", "hint", "message", "path"]
    return error


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """A committed workspace with one clear note."""
    return a_work_tree(tmp_path / "top", {"source/glossario.md": CLEAR})


@pytest.fixture
def prepared(root: Path) -> Path:
    """The same, prepared and committed."""
    assert tht("prepare", root).exit_code == 0
    commit_all(root.parent)
    return root


def test_prepare_writes_units_and_commits_nothing(root: Path) -> None:
    before = git(root, "rev-parse", "HEAD")
    result = tht("prepare", root, "--json")
    assert result.exit_code == 0
    assert told(result)["created"] == [ID]
    assert UNIT in bytes_below(root)
    assert git(root, "rev-parse", "HEAD") == before
    assert git(root, "status", "--short", "-uall").splitlines() == [
        f"?? evidence/{UNIT}",
        "?? evidence/manifest.yaml",
    ]


def test_prepare_twice_makes_no_call_and_changes_no_byte(prepared: Path) -> None:
    before = bytes_below(prepared)
    report = told(tht("prepare", prepared, "--json"))
    assert (report["model_calls"], report["created"], report["updated"]) == (0, [], [])
    assert bytes_below(prepared) == before
    assert git(prepared, "status", "--short") == ""


def test_prepare_reports_every_list_of_the_specification(root: Path) -> None:
    assert set(told(tht("prepare", root, "--json"))) == {
        "changed", "unchanged", "created", "updated", "renamed", "orphaned", "findings",
        "model_calls", "cached", "omitted",
    }  # fmt: skip


def test_prepare_exits_with_3_when_something_needs_review(root: Path) -> None:
    put(root, {"source/gravi.md": DOUBTFUL})
    assert tht("prepare", root).exit_code == 3


def test_prepare_exits_with_3_for_an_orphan(prepared: Path) -> None:
    (prepared / "evidence/source/glossario.md").unlink()
    result = tht("prepare", prepared, "--json")
    assert (result.exit_code, told(result)["orphaned"]) == (3, [ID])


def test_prepare_refuses_a_dirty_tree_before_anything_is_read_by_a_model(prepared: Path) -> None:
    put(prepared, {UNIT: "edit\n", "source/glossario.md": "altro\n"})
    before = bytes_below(prepared)
    result = tht("prepare", prepared, "--json")
    assert (result.exit_code, error_of(result)["code"]) == (1, "dirty_curated_state")
    assert bytes_below(prepared) == before


def test_prepare_refuses_another_pipeline_version_unless_upgraded(prepared: Path) -> None:
    manifest = prepared / "evidence/manifest.yaml"
    text = manifest.read_text()
    manifest.write_text(text.replace("authoring-v1", "authoring-v0"))
    commit_all(prepared.parent)
    refused = tht("prepare", prepared, "--json")
    assert (refused.exit_code, error_of(refused)["code"]) == (1, "pipeline_version_mismatch")
    upgraded = tht("prepare", prepared, "--upgrade", "--json")
    assert (upgraded.exit_code, told(upgraded)["model_calls"]) == (0, 1)
    assert manifest.read_text() == text


def test_prepare_names_the_source_that_holds_a_credential(root: Path) -> None:
    put(root, {"source/segreta.md": "password = 'hunter2hunter2'\n"})
    result = tht("prepare", root, "--json")
    error = error_of(result)
    assert (result.exit_code, error["code"], error["path"]) == (
        1,
        "credential_detected",
        "source/segreta.md",
    )
    assert "hunter2" not in result.output


def test_prepare_with_a_restructurer_that_is_not_here_says_so(
    root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PORTAL_PI_EXECUTABLE", "/nowhere/pi")
    result = tht("prepare", root, "--restructurer", "pi", "--json")
    assert (result.exit_code, error_of(result)["code"]) == (1, "pi_not_found")


def test_validate_says_what_blocks_publication(prepared: Path) -> None:
    result = tht("validate", prepared, "--json")
    assert result.exit_code == 1
    report = told(result)
    assert list(report) == ["publishable", "findings", "omitted", "open_review_items", "orphans"]
    assert [each["code"] for each in report["findings"]] == ["evaluation_missing"]  # type: ignore[attr-defined]


def test_validate_exits_with_0_for_a_publishable_workspace(prepared: Path) -> None:
    put(prepared, {"evaluation.yaml": EVALUATION})
    result = tht("validate", prepared, "--json")
    assert (result.exit_code, told(result)["publishable"]) == (0, True)


def test_validate_exits_with_3_when_only_review_is_open(prepared: Path) -> None:
    put(prepared, {"evaluation.yaml": EVALUATION, "source/gravi.md": DOUBTFUL})
    assert tht("prepare", prepared).exit_code == 3
    assert tht("validate", prepared).exit_code == 3


def test_resolve_retires_a_unit_with_its_entry(prepared: Path) -> None:
    result = tht("resolve", prepared, ID, "--retire", "--json")
    assert result.exit_code == 0
    assert told(result) == {
        "evidence_id": ID,
        "action": "retired",
        "changed": [UNIT, "manifest.yaml"],
    }
    assert UNIT not in bytes_below(prepared)
    assert ID not in bytes_below(prepared)["manifest.yaml"].decode()


def test_resolve_relinks_an_orphan_to_a_prepared_source_with_its_excerpts(prepared: Path) -> None:
    (prepared / "evidence/source/glossario.md").unlink()
    assert tht("prepare", prepared).exit_code == 3
    commit_all(prepared.parent)
    put(prepared, {"source/altro.md": CLEAR + "\nE altro.\n"})
    unprepared = tht("resolve", prepared, ID, "--source", "source/altro.md", "--json")
    assert error_of(unprepared)["code"] == "source_not_prepared"
    tht("prepare", prepared)
    commit_all(prepared.parent)
    result = tht("resolve", prepared, ID, "--source", "source/altro.md", "--json")
    assert (result.exit_code, told(result)["action"]) == (0, "relinked")
    put(prepared, {"evaluation.yaml": EVALUATION})
    found = told(tht("validate", prepared, "--json"))["findings"]
    assert [each["code"] for each in found if each["severity"] == "error"] == []  # type: ignore[attr-defined]


@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        ((ID, "--source", "source/glossario.md"), "not_an_orphan"),
        (("evidence:ignota", "--retire"), "evidence_unknown"),
        (("evidence:ignota", "--source", "source/glossario.md"), "evidence_unknown"),
    ],
)
def test_resolve_refuses_what_it_cannot_do(
    prepared: Path, arguments: tuple[str, ...], code: str
) -> None:
    before = bytes_below(prepared)
    result = tht("resolve", prepared, *arguments, "--json")
    assert (result.exit_code, error_of(result)["code"]) == (1, code)
    assert bytes_below(prepared) == before


def test_resolve_refuses_a_dirty_tree(prepared: Path) -> None:
    put(prepared, {UNIT: "edit\n"})
    result = tht("resolve", prepared, ID, "--retire", "--json")
    assert (result.exit_code, error_of(result)["code"]) == (1, "dirty_curated_state")


@pytest.mark.parametrize(
    "arguments",
    [
        ("resolve", ".", ID),
        ("resolve", ".", ID, "--retire", "--source", "source/a.md"),
        ("prepare", ".", "--upgrade", "--upgrade"),
        ("prepare", ".", "--restructurer", "rules", "--restructurer", "rules"),
        ("prepare", ".", "--unknown"),
        ("prepare", ".", "--restructurer", "magic"),
        ("validate",),
        ("validate", ".", "another"),
        ("nothing",),
    ],
)
def test_misuse_exits_with_2(arguments: tuple[str, ...]) -> None:
    plain, as_json = tht(*arguments), tht(*arguments, "--json")
    assert (plain.exit_code, plain.stdout) == (2, "")
    assert (as_json.exit_code, error_of(as_json)["code"]) == (2, "usage")


@pytest.mark.parametrize("command", ["prepare", "validate"])
def test_an_unsafe_path_exits_with_2(root: Path, tmp_path: Path, command: str) -> None:
    (tmp_path / "link").symlink_to(root)
    (tmp_path / "plain").mkdir()
    for path in (tmp_path / "link", tmp_path / "plain", tmp_path / "missing"):
        result = tht(command, path, "--json")
        assert (result.exit_code, error_of(result)["code"]) == (2, "unsafe_path")


def test_prepare_of_a_workspace_without_its_evidence_folder_begins_one(root: Path) -> None:
    git(root, "rm", "-rq", "evidence")
    commit_all(root.parent)
    result = tht("prepare", root, "--json")
    assert (result.exit_code, told(result)["created"]) == (0, [])
    assert "manifest.yaml" in bytes_below(root)


def test_a_committed_link_among_the_units_is_refused_as_a_link(prepared: Path) -> None:
    (prepared / "evidence" / "curated" / "enum").symlink_to("glossary")
    commit_all(prepared.parent)
    result = tht("prepare", prepared, "--json")
    assert (result.exit_code, error_of(result)["code"]) == (2, "symlink_refused")


@pytest.mark.parametrize(
    ("path", "code"),
    [("workspace.yaml", "workspace_invalid"), ("evidence/manifest.yaml", "manifest_invalid")],
)
def test_a_broken_file_of_the_workspace_is_named(prepared: Path, path: str, code: str) -> None:
    (prepared / path).write_text("schema_version: 1\nsurprise: yes\n")
    commit_all(prepared.parent)
    error = error_of(tht("prepare", prepared, "--json"))
    assert (error["code"], error["path"]) == (code, Path(path).name)


def test_a_name_cannot_steer_the_terminal_of_whoever_reads_it(prepared: Path) -> None:
    put(prepared, {"source/a\x1b[2Jb\u202e.md": CLEAR})
    table = tht("validate", prepared).stdout.replace("\n", "")
    assert "\x1b[2J" not in table
    assert "\u202e" not in table
    refused = tht("prepare", prepared).stderr
    assert "a\\x1b[2Jb\\u202e.md" in refused


def test_people_get_a_message_with_code_place_and_hint_on_stderr(prepared: Path) -> None:
    put(prepared, {UNIT: "edit\n"})
    result = tht("prepare", prepared)
    assert result.stdout == ""
    assert "dirty_curated_state" in result.stderr
    assert UNIT in result.stderr
    assert "Commit or restore" in result.stderr


def test_people_get_a_table(root: Path) -> None:
    result = tht("prepare", root)
    assert "units created" in result.stdout
    assert "evaluation_missing" in result.stdout


def test_a_folder_is_worked_on_without_django_settings_database_or_broker(root: Path) -> None:
    code = "import sys; from evidence.commands import evidence_app as app; app(sys.argv[1:])"
    check = "import evidence.commands, sys; sys.exit('django' in sys.modules)"
    project = Path(__file__).parents[2]
    environment = {"PATH": os.environ["PATH"], "PYTHONPATH": str(project)}
    for command in ([code, "prepare", str(root)], [check]):
        done = subprocess.run(
            [sys.executable, "-c", *command], cwd=root, env=environment, check=False
        )
        assert done.returncode == 0


def test_every_command_explains_itself_with_an_example() -> None:
    for command in ("prepare", "validate", "resolve"):
        text = tht(command, "--help").stdout
        assert f"Example: tht evidence {command}" in " ".join(text.split())


def test_help_is_no_failure() -> None:
    assert isinstance(evidence_app, typer.Typer)
    assert tht("--help").exit_code == 0


EVALUATION = "schema_version: 1\nqueries:\n" + "".join(
    f"- id: {profile}\n  query: Che cos'è un ricovero ordinario?\n  profile: {profile}\n"
    f"  purpose: disambiguation\n  expected:\n  - {ID}\n"
    for profile in ("lexical", "semantic", "mixed")
)
