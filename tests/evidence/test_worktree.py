"""A work tree holds the old set or the new one, whoever or whatever interrupts an exchange."""

from __future__ import annotations

import fcntl
import json
import os
import signal
import subprocess
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from evidence.adapters import exchange
from evidence.adapters.worktree import (
    DirtyCuratedState,
    UnsafePath,
    WorkTree,
    WorkTreeBusy,
    WorkTreeUnwritable,
    open_work_tree,
)
from evidence.domain.tree import ChangeSet
from tests.evidence.trees import a_work_tree, bytes_below, commit_all, git, put

OLD = {
    "curated/glossary/a.md": "vecchio a\n",
    "curated/glossary/b.md": "vecchio b\n",
    "manifest.yaml": "vecchio\n",
    "source/a.md": "nota\n",
}
CHANGE = ChangeSet(
    {
        "curated/glossary/a.md": b"nuovo a\n",
        "curated/glossary/b.md": None,
        "curated/formula/c.md": b"nuovo c\n",
        "manifest.yaml": b"nuovo\n",
    }
)
OLD_SET = {path: text.encode() for path, text in OLD.items()}
NEW_SET = {
    "curated/formula/c.md": b"nuovo c\n",
    "curated/glossary/a.md": b"nuovo a\n",
    "manifest.yaml": b"nuovo\n",
    "source/a.md": b"nota\n",
}
STEPS = (
    "staging", "staged", "journal written", "exchanged", "checked", "manifest replaced",
)  # fmt: skip


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """A committed workspace folder inside a work tree."""
    return a_work_tree(tmp_path / "top", OLD)


def leftovers(tree: WorkTree) -> list[Path]:
    """Give what an exchange left behind in the Git directory."""
    area = tree.git_dir / "evidence-portal"
    return [path for path in area.iterdir() if path.is_dir()] if area.exists() else []


def failing_at(step: str) -> Callable[[str], None]:
    """Give a callback that fails as a full disk does, once that step is reached."""

    def on_step(reached: str) -> None:
        if reached == step:
            raise OSError(28, "No space left on device", step)

    return on_step


# Which folder


def test_a_workspace_folder_in_a_work_tree_is_opened(root: Path) -> None:
    tree = open_work_tree(root)
    assert (tree.root, tree.folder) == (root, "kb/evidence")


def test_the_top_of_a_work_tree_may_be_the_workspace_folder(tmp_path: Path) -> None:
    root = a_work_tree(tmp_path, OLD, folder=".")
    assert open_work_tree(root).folder == "evidence"


def test_a_linked_work_tree_has_a_git_directory_of_its_own(root: Path, tmp_path: Path) -> None:
    git(root, "worktree", "add", "-q", str(tmp_path / "linked"))
    tree = open_work_tree(tmp_path / "linked" / "kb")
    assert tree.git_dir == root.parent / ".git" / "worktrees" / "linked"
    with tree.alone():
        tree.refuse_dirty()
        tree.apply(CHANGE, tree.read())
    assert bytes_below(tree.root) == NEW_SET
    assert bytes_below(root) == OLD_SET


@pytest.mark.parametrize("where", [".", "evidence", "evidence/curated"])
def test_a_symbolic_link_is_refused(root: Path, tmp_path: Path, where: str) -> None:
    real = root / where
    moved = tmp_path / "elsewhere"
    real.rename(moved)
    real.symlink_to(moved)
    with pytest.raises(UnsafePath):
        open_work_tree(root)


def test_a_link_above_the_folder_is_refused(root: Path, tmp_path: Path) -> None:
    (tmp_path / "alias").symlink_to(root.parent)
    with pytest.raises(UnsafePath):
        open_work_tree(tmp_path / "alias" / "kb")


@pytest.mark.parametrize("name", ["missing", "kb/workspace.yaml", ".git"])
def test_what_is_no_folder_of_the_work_tree_is_refused(root: Path, name: str) -> None:
    with pytest.raises(UnsafePath) as refused:
        open_work_tree(root.parent / name)
    assert refused.value.code == "unsafe_path"


def test_a_folder_outside_git_is_refused(tmp_path: Path) -> None:
    (tmp_path / "evidence").mkdir()
    with pytest.raises(UnsafePath):
        open_work_tree(tmp_path)


def test_git_variables_of_the_caller_are_not_obeyed(
    root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GIT_DIR", str(tmp_path / "other.git"))
    assert open_work_tree(root).git_dir == root.parent / ".git"


# Clean or dirty


def test_a_committed_folder_is_clean(root: Path) -> None:
    open_work_tree(root).refuse_dirty()


def test_a_note_that_is_being_written_is_no_dirt(root: Path) -> None:
    put(root, {"source/a.md": "altro\n", "source/b.md": "nuova\n"})
    open_work_tree(root).refuse_dirty()


@pytest.mark.parametrize(
    "files",
    [
        {"curated/glossary/a.md": "vecchio A\n"},
        {"curated/glossary/nuovo.md": "x\n"},
        {"curated/.nascosto": "x\n"},
        {"manifest.yaml": "altro\n"},
    ],
)
def test_an_edited_or_untracked_file_makes_it_dirty(root: Path, files: dict[str, str]) -> None:
    put(root, files)
    with pytest.raises(DirtyCuratedState):
        open_work_tree(root).refuse_dirty()


def test_a_deleted_file_makes_it_dirty(root: Path) -> None:
    (root / "evidence/curated/glossary/a.md").unlink()
    with pytest.raises(DirtyCuratedState):
        open_work_tree(root).refuse_dirty()


def test_an_ignored_file_makes_it_dirty(root: Path) -> None:
    (root / ".gitignore").write_text("*.tmp.md\n")
    commit_all(root.parent)
    put(root, {"curated/glossary/x.tmp.md": "x\n"})
    with pytest.raises(DirtyCuratedState):
        open_work_tree(root).refuse_dirty()


def test_an_edit_that_git_was_told_not_to_see_makes_it_dirty(root: Path) -> None:
    git(root, "update-index", "--assume-unchanged", "evidence/curated/glossary/a.md")
    path = root / "evidence/curated/glossary/a.md"
    before = path.stat()
    path.write_text("vecchio z\n")
    os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))
    assert git(root, "status", "--short") == ""
    with pytest.raises(DirtyCuratedState):
        open_work_tree(root).refuse_dirty()


def test_a_staged_but_uncommitted_unit_makes_it_dirty(root: Path) -> None:
    put(root, {"curated/glossary/nuovo.md": "x\n"})
    git(root, "add", "-A")
    with pytest.raises(DirtyCuratedState):
        open_work_tree(root).refuse_dirty()


def test_line_ends_that_a_checkout_rewrote_are_no_dirt(root: Path) -> None:
    put(root, {"curated/glossary/a.md": "vecchio a\r\n"})
    open_work_tree(root).refuse_dirty()


def test_a_repository_without_a_commit_is_clean_only_without_units(tmp_path: Path) -> None:
    (tmp_path / "evidence").mkdir()
    git(tmp_path, "init", "-q")
    open_work_tree(tmp_path).refuse_dirty()
    put(tmp_path, {"curated/glossary/a.md": "x\n"})
    with pytest.raises(DirtyCuratedState):
        open_work_tree(tmp_path).refuse_dirty()


# The exchange


def test_a_change_set_is_applied_as_one(root: Path) -> None:
    tree = open_work_tree(root)
    with tree.alone():
        tree.apply(CHANGE, tree.read())
    assert bytes_below(root) == NEW_SET
    assert leftovers(tree) == []


def test_a_first_change_set_needs_no_curated_folder(tmp_path: Path) -> None:
    root = a_work_tree(tmp_path / "top", {"source/a.md": "nota\n"})
    tree = open_work_tree(root)
    with tree.alone():
        tree.apply(
            ChangeSet({"curated/glossary/a.md": b"a\n", "manifest.yaml": b"m\n"}), tree.read()
        )
    assert sorted(bytes_below(root)) == ["curated/glossary/a.md", "manifest.yaml", "source/a.md"]


def test_an_empty_change_set_touches_nothing(root: Path) -> None:
    tree = open_work_tree(root)
    before = (root / "evidence/curated").stat().st_ino
    tree.apply(ChangeSet(), tree.read())
    assert (root / "evidence/curated").stat().st_ino == before


def test_an_edit_made_while_the_model_was_thinking_survives(root: Path) -> None:
    tree = open_work_tree(root)
    read = tree.read()
    put(root, {"curated/glossary/a.md": "edit umano\n"})
    with tree.alone(), pytest.raises(DirtyCuratedState):
        tree.apply(CHANGE, read)
    assert bytes_below(root) == OLD_SET | {"curated/glossary/a.md": b"edit umano\n"}
    assert leftovers(tree) == []


def test_what_a_tree_leaves_out_is_never_dropped_by_an_exchange(root: Path) -> None:
    (root / "evidence/curated/glossary/link.md").symlink_to("a.md")
    tree = open_work_tree(root)
    with pytest.raises(UnsafePath) as refused:
        tree.apply(CHANGE, tree.read())
    assert refused.value.code == "symlink_refused"
    assert (root / "evidence/curated/glossary/link.md").is_symlink()


@pytest.mark.parametrize("step", STEPS)
@pytest.mark.parametrize("swap", [exchange.swap_at_once, exchange.swap_by_renames])
def test_a_failure_at_any_step_leaves_the_old_or_the_new_set(
    root: Path, step: str, swap: exchange.Swap
) -> None:
    tree = replace(open_work_tree(root), on_step=failing_at(step), swap=swap)
    with tree.alone(), pytest.raises(WorkTreeUnwritable):
        tree.apply(CHANGE, tree.read())
    assert bytes_below(root) == (NEW_SET if step == "manifest replaced" else OLD_SET)
    assert leftovers(tree) == []


def test_a_rename_that_fails_half_way_leaves_the_old_set(root: Path) -> None:
    def half_a_swap(one: Path, other: Path, aside: Path) -> None:
        other.rename(aside)
        raise OSError(5, "Input/output error", str(one))

    tree = replace(open_work_tree(root), swap=half_a_swap)
    with tree.alone(), pytest.raises(WorkTreeUnwritable):
        tree.apply(CHANGE, tree.read())
    assert bytes_below(root) == OLD_SET


def test_a_git_directory_on_another_file_system_is_refused(root: Path) -> None:
    shared = Path("/dev/shm")  # noqa: S108
    if not shared.is_dir() or shared.stat().st_dev == root.stat().st_dev:
        pytest.skip("no second file system here")
    elsewhere = shared / f"git-{os.getpid()}"
    elsewhere.mkdir()
    try:
        tree = replace(open_work_tree(root), git_dir=elsewhere)
        with tree.alone(), pytest.raises(exchange.OtherFileSystem):
            tree.apply(CHANGE, tree.read())
        assert bytes_below(root) == OLD_SET
    finally:
        subprocess.run(["rm", "-r", str(elsewhere)], check=True)


def test_a_second_command_is_told_to_wait(root: Path) -> None:
    tree = open_work_tree(root)
    with tree.alone(), pytest.raises(WorkTreeBusy), tree.alone():
        pass


def test_a_lock_whose_holder_died_holds_nobody_up(root: Path) -> None:
    tree = open_work_tree(root)
    with tree.alone():
        pass
    lock = tree.git_dir / "evidence-portal" / "lock"
    assert lock.exists()
    with lock.open() as file:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)


# Killed

KILLED = """
import os, signal, sys
from dataclasses import replace
from pathlib import Path
from evidence.adapters import exchange
from evidence.adapters.worktree import open_work_tree
from tests.evidence.test_worktree import CHANGE

def on_step(step):
    if step == sys.argv[2]:
        os.kill(os.getpid(), signal.SIGKILL)

def dying_swap(one, other, aside):
    other.rename(aside); on_step("one rename")
    one.rename(other); on_step("two renames")
    aside.rename(one)

swap = dying_swap if "rename" in sys.argv[2] else exchange.swap_at_once
tree = replace(open_work_tree(Path(sys.argv[1])), on_step=on_step, swap=swap)
with tree.alone():
    tree.apply(CHANGE, tree.read())
"""
AFTER_A_KILL = {
    "staging": OLD_SET,
    "staged": OLD_SET,
    "journal written": OLD_SET,
    "one rename": OLD_SET,
    "two renames": NEW_SET,
    "exchanged": NEW_SET,
    "checked": NEW_SET,
    "manifest replaced": NEW_SET,
}


@pytest.mark.parametrize("step", AFTER_A_KILL)
def test_a_process_killed_at_a_step_is_completed_or_undone_by_the_next_command(
    root: Path, step: str
) -> None:
    project = Path(__file__).parents[2]
    killed = subprocess.run(
        [sys.executable, "-c", KILLED, str(root), step],
        env={"PYTHONPATH": str(project), "PATH": os.environ["PATH"]},
        cwd=project,
        check=False,
    )
    assert killed.returncode == -signal.SIGKILL
    tree = open_work_tree(root)
    tree.heal()
    assert bytes_below(root) == AFTER_A_KILL[step]
    assert leftovers(tree) == []


def test_an_interrupted_run_that_was_not_exchanged_keeps_edits_made_since(root: Path) -> None:
    tree = open_work_tree(root)
    with pytest.raises(KeyboardInterrupt), tree.alone():
        replace(tree, on_step=interrupt_at("journal written")).apply(CHANGE, tree.read())
    put(root, {"curated/glossary/a.md": "edit umano\n"})
    tree.heal()
    assert bytes_below(root)["curated/glossary/a.md"] == b"edit umano\n"


def interrupt_at(step: str) -> Callable[[str], None]:
    """Give a callback that behaves like Ctrl-C, once that step is reached."""

    def on_step(reached: str) -> None:
        if reached == step:
            raise KeyboardInterrupt

    return on_step


@pytest.mark.parametrize("journal", ["", "[]", '{"folder": 1}', "{"])
def test_a_journal_that_nobody_can_read_is_reported_and_left(root: Path, journal: str) -> None:
    tree = open_work_tree(root)
    run = tree.git_dir / "evidence-portal" / "run"
    run.mkdir(parents=True)
    (run / "journal.json").write_text(journal)
    with pytest.raises(exchange.JournalUnreadable):
        tree.heal()
    assert run.exists()


def test_a_journal_that_fits_neither_set_is_reported(root: Path) -> None:
    tree = open_work_tree(root)
    run = tree.git_dir / "evidence-portal" / "run"
    (run / "curated").mkdir(parents=True)
    facts = {"folder": "kb/evidence", "staged": 1, "manifest": True}
    (run / "journal.json").write_text(json.dumps(facts))
    with pytest.raises(exchange.JournalUnreadable):
        tree.heal()
    assert bytes_below(root) == OLD_SET
