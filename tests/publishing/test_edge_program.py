"""The program that fills a folder: whatever becomes of it, the worker goes on and nothing leaks."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from publishing.adapters import edge_filler, edge_program, edge_seal
from publishing.adapters.qdrant_edge import QdrantEdgeStore
from publishing.domain.points import Point
from publishing.ports import CollectionState, VectorStoreUnavailable
from tests.fakes import BagOfWordsEmbedder
from tests.publishing.points import a_generation, a_unit, some_points

GENERATION = a_generation()
POINTS = some_points(
    [a_unit(f"Regola {number}") for number in range(40)], GENERATION, BagOfWordsEmbedder()
)
FULL = "The disk for vectors is full."
FAILED = "The vector engine failed."


@pytest.fixture
def store(tmp_path: Path) -> Iterator[QdrantEdgeStore]:
    opened = QdrantEdgeStore(tmp_path)
    yield opened
    opened.close()


def children() -> list[int]:
    """Give the programs of this process that fill a folder."""
    found = []
    for status in Path("/proc").glob("[0-9]*/stat"):
        try:
            parent = int(status.read_text().rpartition(")")[2].split()[1])
            command = (status.parent / "cmdline").read_bytes()
        except (FileNotFoundError, ProcessLookupError):
            continue
        if parent == os.getpid() and b"fill" in command:
            found.append(int(status.parent.name))
    return found


def use(monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    monkeypatch.setattr(edge_program, "MODULE", f"tests.publishing.fillers.{name}")


def assert_nothing_is_left(store: QdrantEdgeStore, home: Path) -> None:
    assert children() == []
    assert store.inspect(GENERATION) is CollectionState.MISSING
    assert [path for path in (home / "vectors").rglob("*") if path.is_file()] == []


@pytest.mark.parametrize(
    ("program", "said"),
    [
        ("full_disk", FULL),
        ("full_disk_in_words", FULL),
        ("mapped_file_on_a_full_disk", FULL),
        ("panics", FAILED),
        ("forgetful", "The vector engine did not keep what was written."),
    ],
)
def test_a_program_that_fails_is_a_coded_fault_and_leaves_nothing(
    store, tmp_path, monkeypatch, program, said
):
    use(monkeypatch, program)
    with pytest.raises(VectorStoreUnavailable) as refused:
        store.build(GENERATION, [POINTS])
    assert str(refused.value.message) == said
    assert_nothing_is_left(store, tmp_path)
    monkeypatch.undo()
    assert store.build(GENERATION, [POINTS]).count == len(POINTS)


def test_a_silent_program_is_ended_and_the_lease_is_renewed_until_then(
    store, tmp_path, monkeypatch
):
    use(monkeypatch, "silent")
    monkeypatch.setattr(edge_program, "BEAT_S", 0.05)
    monkeypatch.setattr(edge_program, "SILENT_S", 0.5)
    beats: list[float] = []
    with pytest.raises(VectorStoreUnavailable):
        store.build(GENERATION, [POINTS], beat=lambda: beats.append(time.monotonic()))
    assert len(beats) >= 5
    assert_nothing_is_left(store, tmp_path)


def test_a_lost_lease_ends_the_program_at_once(store, tmp_path, monkeypatch):
    use(monkeypatch, "silent")
    monkeypatch.setattr(edge_program, "BEAT_S", 0.05)

    def lost() -> None:
        raise TimeoutError("the lease was lost")

    began = time.monotonic()
    with pytest.raises(TimeoutError):
        store.build(GENERATION, [POINTS], beat=lost)
    assert time.monotonic() - began < 5
    assert_nothing_is_left(store, tmp_path)


def test_a_program_that_is_killed_while_it_fills_is_a_coded_fault(store, tmp_path):
    def batches() -> Iterator[list[Point]]:
        yield POINTS[:20]
        [program] = children()
        os.kill(program, signal.SIGKILL)
        yield POINTS[20:]

    with pytest.raises(VectorStoreUnavailable):
        store.build(GENERATION, batches())
    assert_nothing_is_left(store, tmp_path)


def test_the_program_sees_none_of_the_portals_settings(store, monkeypatch):
    monkeypatch.setenv("PORTAL_SECRET_KEY", "canary-secret")
    seen: list[bytes] = []

    def batches() -> Iterator[list[Point]]:
        yield POINTS
        seen.extend(Path(f"/proc/{child}/environ").read_bytes() for child in children())

    store.build(GENERATION, batches())
    assert len(seen) == 1
    assert b"canary" not in seen[0]


def test_the_program_dies_with_its_worker(tmp_path):
    code = (
        "import subprocess, sys, os, time\n"
        "child = subprocess.Popen([sys.executable, '-m', 'publishing.adapters.edge_filler',"
        " str(os.getpid())], stdin=subprocess.PIPE, stdout=subprocess.PIPE)\n"
        "print(child.pid, flush=True)\n"
        "time.sleep(60)\n"
    )
    worker = subprocess.Popen(
        [sys.executable, "-c", code], stdout=subprocess.PIPE, cwd=edge_program.CHECKOUT
    )
    assert worker.stdout is not None
    program = int(worker.stdout.readline())
    worker.kill()
    worker.wait()
    worker.stdout.close()
    deadline = time.monotonic() + 10
    while is_alive(program) and time.monotonic() < deadline:
        time.sleep(0.02)
    assert not is_alive(program)


def is_alive(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except FileNotFoundError:
        return False


def test_the_program_starts_without_django_and_what_else_starts_slowly():
    code = f"import sys, {edge_filler.__name__}; print(*sys.modules)"
    command = [sys.executable, "-c", code]
    done = subprocess.run(
        command, capture_output=True, text=True, check=True, cwd=edge_program.CHECKOUT
    )
    assert not {"django", "pydantic", "structlog", "sqlglot"} & set(done.stdout.split())


def test_no_folder_is_opened_on_a_disk_that_is_nearly_full(store, monkeypatch):
    store.build(GENERATION, [POINTS])
    monkeypatch.setattr(edge_seal, "ROOM", 1 << 62)
    with pytest.raises(VectorStoreUnavailable) as refused:
        store.summary(GENERATION)
    assert str(refused.value.message) == FULL
    monkeypatch.undo()
    assert store.summary(GENERATION).count == len(POINTS)
