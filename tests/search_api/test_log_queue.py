"""The thread behind the search log: at a fork, at the end, when it dies, when it is stuck."""

from __future__ import annotations

import os
import threading
import time

import pytest

from search_api import log_queue
from search_api.log_queue import LogQueue


@pytest.fixture(autouse=True)
def quick(monkeypatch):
    monkeypatch.setattr(log_queue, "EVERY_S", 0.01)
    monkeypatch.setattr(log_queue, "CLOSE_S", 0.3)


class Written:
    """Keeps what was written, in the batches it came in."""

    def __init__(self) -> None:
        self.batches: list[list[int]] = []

    def __call__(self, entries: list[int]) -> bool:
        self.batches.append(entries)
        return True

    @property
    def entries(self) -> list[int]:
        return [entry for batch in self.batches for entry in batch]


def until(holds) -> None:
    end = time.monotonic() + 10
    while not holds():
        assert time.monotonic() < end
        time.sleep(0.005)


def test_a_thread_writes_what_waits_in_its_order():
    written = Written()
    waiting = LogQueue(written, most=10)
    for entry in range(5):
        assert waiting.put(entry)
        waiting.write_behind()
    until(lambda: len(written.entries) == 5)
    assert written.entries == list(range(5))
    waiting.close()


def test_the_end_of_a_process_writes_all_that_waits_in_batches():
    written = Written()
    waiting = LogQueue(written, most=1_000)
    for entry in range(250):
        waiting.put(entry)
    waiting.close()
    assert [len(batch) for batch in written.batches] == [100, 100, 50]


def test_the_end_waits_for_what_is_being_written():
    began, done = threading.Event(), []

    def slow(entries: list[int]) -> bool:
        began.set()
        time.sleep(0.1)
        done.extend(entries)
        return True

    waiting = LogQueue(slow, most=10)
    waiting.put(1)
    waiting.write_behind()
    began.wait(5)
    waiting.put(2)
    waiting.close()
    assert done == [1, 2]


def test_the_end_does_not_wait_for_a_thread_that_is_stuck():
    stuck, release = threading.Event(), threading.Event()

    def wait(_entries: list[int]) -> bool:
        stuck.set()
        return release.wait(30)

    waiting = LogQueue(wait, most=10)
    waiting.put(1)
    waiting.write_behind()
    stuck.wait(5)
    began = time.monotonic()
    waiting.close()
    assert time.monotonic() - began < 5
    release.set()


def test_what_cannot_be_written_is_dropped_and_the_end_gives_up_at_once():
    tried = []

    def broken(entries: list[int]) -> bool:
        tried.append(len(entries))
        return False

    waiting = LogQueue(broken, most=1_000)
    for entry in range(1_000):
        waiting.put(entry)
    waiting.close()
    assert tried == [100]


@pytest.mark.filterwarnings("ignore::pytest.PytestUnhandledThreadExceptionWarning")
def test_a_thread_that_died_is_replaced():
    written = []

    def poisoned(entries: list[int]) -> bool:
        if 1 in entries:
            raise RuntimeError("poison")
        written.extend(entries)
        return True

    waiting = LogQueue(poisoned, most=10)
    waiting.put(1)
    waiting.write_behind()
    until(lambda: waiting._thread is not None and not waiting._thread.is_alive())
    waiting.put(2)
    waiting.write_behind()
    until(lambda: written == [2])
    waiting.close()


def test_a_forked_process_writes_its_own_entries_and_not_its_parent_s():
    mine = Written()
    out, into = os.pipe()

    def to_pipe(entries: list[int]) -> bool:
        os.write(into, bytes(entries))
        return mine(entries)

    waiting = LogQueue(to_pipe, most=10)
    waiting.put(1)
    waiting.write_behind()
    until(lambda: mine.entries == [1])
    with waiting._starting:  # a fork may come while a lock is held
        child = os.fork()
        if not child:
            waiting.put(7)
            waiting.write_behind()
            time.sleep(0.5)
            os._exit(0)
    assert os.waitpid(child, 0)[1] == 0
    waiting.close()
    os.close(into)
    assert sorted(os.read(out, 100)) == [1, 7]
    os.close(out)
