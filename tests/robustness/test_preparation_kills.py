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

PROJECT = Path(__file__).parents[2]
KILLS = int(os.environ.get("ROBUSTNESS_KILLS", "50"))
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
def window(root: Path) -> tuple[float, float]:
    """When, in seconds after its start, a preparation has its hands on the files."""
    area = root.parent / ".git" / "evidence-portal"
    began = time.monotonic()
    process = started(root)
    while not area.exists() and process.poll() is None:
        time.sleep(0.001)
    first = time.monotonic() - began
    process.wait()
    last = time.monotonic() - began
    restore(root)
    return first, last


def restore(root: Path) -> None:
    """Go back to the commit."""
    git(root, "clean", "-qfdx", "evidence")
    git(root, "checkout", "-q", "--", ".")


@pytest.mark.parametrize("attempt", range(KILLS))
def test_a_killed_preparation_leaves_the_old_or_the_new_set(
    root: Path, new_set: dict[str, bytes], window: tuple[float, float], attempt: int
) -> None:
    process = started(root)
    time.sleep(random.Random(attempt).uniform(*window))  # noqa: S311
    process.send_signal(signal.SIGKILL)
    process.wait()
    tree = open_work_tree(root)
    tree.heal()
    assert managed(root) in ({}, new_set)
    assert [path for path in (tree.git_dir / "evidence-portal").iterdir() if path.is_dir()] == []
    restore(root)
