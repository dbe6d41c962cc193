"""Preparation killed at any moment: the old or the new set, never a mixture (spec 90, Figures)."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from evidence.adapters.worktree import open_work_tree
from tests.evidence.trees import a_work_tree, bytes_below, git
from tests.robustness.counts import times

PROJECT = Path(__file__).parents[2]
UNITS = 40
NOTES = {
    f"source/{number:02}.md": f"# Glossario\n\n**Termine {number}**: significato di prova.\n"
    for number in range(UNITS)
}


def started(root: Path) -> subprocess.Popen[bytes]:
    """Start `tht evidence prepare` as a process of its own."""
    code = "import sys; from evidence.commands import evidence_app as app; app(sys.argv[1:])"
    return subprocess.Popen(
        [sys.executable, "-c", code, "prepare", str(root), "--json"],
        env={"PATH": os.environ["PATH"], "PYTHONPATH": str(PROJECT)},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )


def managed(root: Path) -> dict[str, bytes]:
    """Give the units and the manifest, which belong together."""
    every = bytes_below(root)
    return {path: data for path, data in every.items() if not path.startswith("source/")}


@pytest.fixture(scope="module")
def root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A committed workspace that waits for its first preparation."""
    return a_work_tree(tmp_path_factory.mktemp("kills") / "top", NOTES)


@pytest.fixture(scope="module")
def new_set(root: Path, tmp_path_factory: pytest.TempPathFactory) -> dict[str, bytes]:
    """What an undisturbed preparation writes."""
    twin = a_work_tree(tmp_path_factory.mktemp("twin") / "top", NOTES)
    assert started(twin).wait() == 0
    return managed(twin)


@pytest.fixture(scope="module")
def window(root: Path) -> float:
    """For how many seconds a preparation has its hands on the files."""
    process = started(root)
    wait_for_hands(root, process)
    began = time.monotonic()
    process.wait()
    restore(root)
    return time.monotonic() - began


def wait_for_hands(root: Path, process: subprocess.Popen[bytes]) -> None:
    """Wait until a preparation begins to write, or has ended."""
    area = root.parent / ".git" / "evidence-portal"
    while process.poll() is None and not (area.exists() and runs_in(area)):
        time.sleep(0.0005)


def runs_in(area: Path) -> list[Path]:
    """Give the runs that are under way or were interrupted."""
    return [path for path in area.iterdir() if path.is_dir()]


def restore(root: Path) -> None:
    """Go back to the commit."""
    git(root, "clean", "-qfdx", "evidence")
    git(root, "checkout", "-q", "--", ".")


@pytest.mark.parametrize("attempt", range(times(50)))
def test_a_killed_preparation_leaves_the_old_or_the_new_set(
    root: Path, new_set: dict[str, bytes], window: float, attempt: int
) -> None:
    process = started(root)
    wait_for_hands(root, process)
    time.sleep(random.Random(attempt).uniform(0, window))  # noqa: S311
    process.send_signal(signal.SIGKILL)
    process.wait()
    tree = open_work_tree(root)
    tree.heal()
    assert managed(root) in ({}, new_set)
    assert runs_in(tree.git_dir / "evidence-portal") == []
    restore(root)
