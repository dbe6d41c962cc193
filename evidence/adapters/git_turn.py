"""Writers of one repository take turns: a courtesy that saves work, never what keeps it correct."""

from __future__ import annotations

import fcntl
import os
import threading
import time
from contextlib import suppress
from pathlib import Path
from types import TracebackType

MAX_TRIES = 20
TRYING_S = 2.0
WAITING_S = 10.0
PAUSE_S = 0.004


class Turn:
    """An advisory lock, waited for at most ten seconds, then gone without (spec 30, Writing).

    The system frees it when its process dies. Correctness rests on the compare-and-swap alone.
    """

    def __init__(self, path: Path) -> None:
        """Take the lock file's place."""
        self._path = path
        self._queue: _Place | None = None
        self._began = 0.0

    def __enter__(self) -> Turn:
        """Wait for the turn and start the clock of the tries."""
        self._queue = _Place(os.open(self._path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600))
        self._queue.wait(WAITING_S)
        self._began = time.monotonic()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        fault: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Let the next writer in."""
        if self._queue is not None:
            self._queue.leave()

    def is_over(self) -> bool:
        """Tell whether the time for tries has passed; otherwise wait a moment before the next."""
        if time.monotonic() - self._began > TRYING_S:
            return True
        time.sleep(PAUSE_S)
        return False


class _Place:
    """A place in the kernel's queue for a lock, which is first come, first served; polling is not.

    A blocking `flock` has no time limit, so a thread waits in it. One that was left behind closes
    the file when its turn comes at last.
    """

    def __init__(self, file: int) -> None:
        self._file = file
        self._guard = threading.Lock()
        self._waiting = False
        self._left = False

    def wait(self, seconds: float) -> None:
        try:
            fcntl.flock(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            self._waiting = True
            waiter = threading.Thread(target=self._block, daemon=True)
            waiter.start()
            waiter.join(max(0.0, seconds))

    def leave(self) -> None:
        with self._guard:
            self._left = True
            if not self._waiting:
                os.close(self._file)

    def _block(self) -> None:
        # A file system without locks raises: then the compare-and-swap alone must do.
        with suppress(OSError):
            fcntl.flock(self._file, fcntl.LOCK_EX)
        with self._guard:
            self._waiting = False
            if self._left:
                os.close(self._file)
