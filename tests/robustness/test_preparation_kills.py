"""Preparation fails or is killed at any moment: the old or the new set (spec 90, Figures)."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path

import pytest

from evidence.adapters import exchange
from evidence.adapters.worktree import WorkTreeUnwritable, open_work_tree
from tests.evidence.test_worktree import CHANGE, NEW_SET, OLD, OLD_SET, STEPS, failing_at
from tests.evidence.trees import a_work_tree, bytes_below, git
from tests.robustness.counts import times
from tests.robustness.figures import Figures

PROJECT = Path(__file__).parents[2]
UNITS = 40
NOTES = {
    f"source/{number:02}.md": f"# Glossario\n\n**Termine {number}**: significato di prova.\n"
    for number in range(UNITS)
}
ONE_BY_ONE = """
import pathlib, sys, time
root = pathlib.Path(sys.argv[1]) / "evidence" / "curated" / "glossary"
root.mkdir(parents=True)
for number in range(1000):
    (root / f"termine-{number}.md").write_text("x")
    print("written", flush=True)
    time.sleep(0.01)
"""
"""A preparation that replaces file after file, as one would at first."""


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


def is_whole(root: Path, new_set: dict[str, bytes]) -> bool:
    """Tell whether the next command finds the old set or the new one, and no run is left over."""
    tree = open_work_tree(root)
    tree.heal()
    area = tree.git_dir / "evidence-portal"
    return managed(root) in ({}, new_set) and not (area.exists() and runs_in(area))


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


def test_a_killed_preparation_leaves_the_old_or_the_new_set(
    root: Path, new_set: dict[str, bytes], window: float, figures: Figures
) -> None:
    kills, mixed, new = times(50), 0, 0
    for attempt in range(kills):
        process = started(root)
        wait_for_hands(root, process)
        time.sleep(random.Random(attempt).uniform(0, window))  # noqa: S311
        process.send_signal(signal.SIGKILL)
        process.wait()
        mixed += not is_whole(root, new_set)
        new += managed(root) == new_set
        restore(root)
    words = f"{kills} kills: {kills - new - mixed} old, {new} new, {mixed} mixed"
    figures.measured("preparation", words, holds=not mixed)


def test_each_step_that_fails_leaves_the_old_or_the_new_set(
    tmp_path: Path, figures: Figures
) -> None:
    sets = []
    for number, (step, swap) in enumerate(
        (step, swap) for step in STEPS for swap in (exchange.swap_at_once, exchange.swap_by_renames)
    ):
        root = a_work_tree(tmp_path / str(number), OLD)
        tree = replace(open_work_tree(root), on_step=failing_at(step), swap=swap)
        with tree.alone(), pytest.raises(WorkTreeUnwritable):
            tree.apply(CHANGE, tree.read())
        sets.append(bytes_below(root))
    mixed = sum(each not in (OLD_SET, NEW_SET) for each in sets)
    words = f"{len(STEPS)} steps failed, with both ways to exchange: {mixed} mixed"
    figures.measured("preparation", words, holds=not mixed)


def test_files_written_one_by_one_would_be_noticed(
    root: Path, new_set: dict[str, bytes], figures: Figures
) -> None:
    writer = subprocess.Popen([sys.executable, "-c", ONE_BY_ONE, str(root)], stdout=subprocess.PIPE)
    assert writer.stdout is not None
    for _ in range(UNITS // 2):
        writer.stdout.readline()
    writer.kill()
    writer.communicate()
    noticed = not is_whole(root, new_set)
    restore(root)
    figures.caught("preparation", "files written one by one, killed half way", noticed=noticed)
