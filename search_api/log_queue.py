"""What waits to be written behind an answer's back: a bounded queue, and a thread that empties it.

The thread begins with the first entry of its process, begins anew after a fork, and whatever ends
it; at the end of the process it finishes what it writes, and what still waits is written.
"""

from __future__ import annotations

import os
import queue
import threading
from collections.abc import Callable
from multiprocessing.util import Finalize
from typing import Final, Generic, TypeVar

from django.db import close_old_connections

Entry = TypeVar("Entry")
BATCH: Final = 100
EVERY_S: Final = 0.5
CLOSE_S: Final = 2.0
"""How long the end of a process waits for a thread that writes; a stuck one is left behind."""


class LogQueue(Generic[Entry]):
    """Entries that wait, at most `most`; `write` gets some and tells whether it could."""

    def __init__(self, write: Callable[[list[Entry]], bool], *, most: int) -> None:
        """Begin empty in this process and in each that is forked from it."""
        self._write, self._most = write, most
        self._begin()
        os.register_at_fork(after_in_child=self._begin)

    def _begin(self) -> None:
        """Hold nothing: what a parent has waiting the parent writes, and its locks may be held."""
        self._waiting: queue.Queue[Entry] = queue.Queue(self._most)
        self._starting = threading.Lock()
        self._closing = threading.Event()
        self._thread: threading.Thread | None = None

    def put(self, entry: Entry) -> bool:
        """Let an entry wait, and tell whether there was room."""
        try:
            self._waiting.put_nowait(entry)
        except queue.Full:
            return False
        return True

    def write_behind(self) -> None:
        """See to it that a thread of this process writes what waits."""
        with self._starting:
            if self._thread is None:
                # A server's worker that `multiprocessing` forked ends without Python's `atexit`.
                Finalize(None, self.close, exitpriority=1)
            if self._thread is None or not self._thread.is_alive():
                self._thread = threading.Thread(
                    target=self._write_now_and_then, name="search-log", daemon=True
                )
                self._thread.start()

    def write_waiting(self) -> None:
        """Write all that waits now; what cannot be written is dropped, and the rest waits on."""
        could, entries = True, self._taken()
        while could and entries:
            could = self._write(entries)
            entries = self._taken() if could else []

    def close(self) -> None:
        """Write what waits and begin nothing more; a thread that is stuck is not waited for."""
        self._closing.set()
        if self._thread is not None:
            self._thread.join(CLOSE_S)
        if self._thread is None or not self._thread.is_alive():
            self.write_waiting()

    def _write_now_and_then(self) -> None:
        while not self._closing.wait(EVERY_S):
            close_old_connections()
            self.write_waiting()

    def _taken(self) -> list[Entry]:
        entries: list[Entry] = []
        while len(entries) < BATCH:
            try:
                entries.append(self._waiting.get_nowait())
            except queue.Empty:
                break
        return entries
