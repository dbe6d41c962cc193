"""`tht evidence migrate-formulas` on real folders."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from evidence.adapters import new_files
from evidence.adapters.worktree import UnsafePath, WorkTreeUnwritable
from tests.evidence.domain.test_formula_migration import MARKDOWN, PAIR
from tests.evidence.test_commands import error_of, tht, told
from tests.evidence.trees import a_work_tree, bytes_below, commit_all, git

NOTE = "source/legacy/fascia-pediatrica.md"
UNIT = "curated/formula/fascia-pediatrica.md"


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return a_work_tree(tmp_path / "top", {"source/nota.md": "# Nota\n"})


@pytest.fixture
def legacy(tmp_path: Path) -> Path:
    """An old store: one reviewed formula in two files, one in Markdown, one draft."""
    folder = tmp_path / "old" / "concept_formulas"
    folder.mkdir(parents=True)
    for name, text in (PAIR | {"neonati.md": MARKDOWN, "bmi.sql": "a.b.c / 2"}).items():
        (folder / name).write_text(text, encoding="utf-8")
    (folder / "README.txt").write_text("not a formula")
    return folder.parent


def test_a_dry_run_shows_the_difference_and_writes_nothing(root: Path, legacy: Path) -> None:
    before = bytes_below(root)
    result = tht("migrate-formulas", legacy, root, "--dry-run")
    assert result.exit_code == 0
    assert f"+++ b/evidence/{UNIT}" in result.stdout
    assert bytes_below(root) == before
    told_difference = told(tht("migrate-formulas", legacy, root, "--dry-run", "--json"))["diff"]
    assert isinstance(told_difference, str)
    subprocess.run(
        ["git", "-C", str(root), "apply", "--check", "-"],
        input=told_difference.encode(),
        check=True,
    )


def test_the_formulas_are_written_and_nothing_is_committed(root: Path, legacy: Path) -> None:
    head = git(root, "rev-parse", "HEAD")
    report = told(tht("migrate-formulas", legacy, root, "--json"))
    assert [each["evidence_id"] for each in report["migrated"]] == [  # type: ignore[attr-defined]
        "evidence:fascia-pediatrica",
        "evidence:fascia-neonatale",
    ]
    assert [each["concept"] for each in report["proposals"]] == ["bmi"]  # type: ignore[attr-defined]
    assert {NOTE, UNIT, "manifest.yaml"} <= bytes_below(root).keys()
    assert git(root, "rev-parse", "HEAD") == head
    findings = told(tht("validate", root, "--json"))["findings"]
    codes = {each["code"] for each in findings}  # type: ignore[attr-defined]
    assert codes == {"evaluation_missing", "source_not_prepared"}


def test_running_again_changes_no_byte(root: Path, legacy: Path) -> None:
    tht("migrate-formulas", legacy, root)
    commit_all(root.parent)
    before = bytes_below(root)
    report = told(tht("migrate-formulas", legacy, root, "--json"))
    assert (report["migrated"], report["changed"]) == ([], [])
    assert bytes_below(root) == before
    assert tht("migrate-formulas", legacy, root, "--dry-run").stdout.count("---") == 0


def test_a_later_preparation_keeps_what_was_taken_over(root: Path, legacy: Path) -> None:
    tht("migrate-formulas", legacy, root)
    commit_all(root.parent)
    before = bytes_below(root)[UNIT]
    assert tht("prepare", root, "--upgrade").exit_code in {0, 3}
    assert bytes_below(root)[UNIT] == before


def test_refused_formulas_are_shown_and_make_the_command_end_with_3(
    root: Path, legacy: Path
) -> None:
    (legacy / "concept_formulas" / "rotta.yaml").write_text("status: reviewed\nsql: SELECT 1\n")
    result = tht("migrate-formulas", legacy, root)
    assert result.exit_code == 3
    assert "rotta" in result.stdout
    assert UNIT in bytes_below(root)


def test_edits_that_are_not_committed_stop_it_first(root: Path, legacy: Path) -> None:
    (root / "evidence/curated").mkdir()
    (root / "evidence/curated/mine.md").write_text("mine")
    result = tht("migrate-formulas", legacy, root, "--json")
    assert (result.exit_code, error_of(result)["code"]) == (1, "dirty_curated_state")
    assert NOTE not in bytes_below(root)


def test_a_folder_that_is_no_store_is_named(root: Path, tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    for folder in (tmp_path / "empty", tmp_path / "gone"):
        result = tht("migrate-formulas", folder, root, "--json")
        assert (result.exit_code, error_of(result)["code"]) == (1, "legacy_store_missing")


def test_links_in_the_store_are_not_followed(root: Path, legacy: Path, tmp_path: Path) -> None:
    (tmp_path / "secret.md").write_text(MARKDOWN.replace("neonatale", "segreta"))
    (legacy / "concept_formulas" / "segreta.md").symlink_to(tmp_path / "secret.md")
    report = told(tht("migrate-formulas", legacy, root, "--json"))
    assert "segreta" not in str(report)
    link = tmp_path / "linked"
    link.symlink_to(legacy / "concept_formulas")
    assert tht("migrate-formulas", link, root).exit_code == 1


def test_new_files_never_replace_others_and_never_go_through_links(tmp_path: Path) -> None:
    root = tmp_path / "root"
    (root / "a").mkdir(parents=True)
    new_files.write_new_files(root, {"a/b/c.md": b"one", "a/d.md": b"two"})
    new_files.write_new_files(root, {"a/b/c.md": b"one"})
    with pytest.raises(WorkTreeUnwritable):
        new_files.write_new_files(root, {"a/b/c.md": b"other"})
    assert (root / "a/b/c.md").read_bytes() == b"one"
    (root / "link").symlink_to(tmp_path)
    with pytest.raises(UnsafePath):
        new_files.write_new_files(root, {"link/x.md": b"one"})
    assert sorted(path.name for path in root.rglob("*.md*")) == ["c.md", "d.md"]
