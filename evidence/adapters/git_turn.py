"""Writers of one repository take turns: a courtesy that saves work, never what keeps it correct."""

from __future__ import annotations

import fcntl
import os
import time
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
        self._file = -1
        self._began = 0.0

    def __enter__(self) -> Turn:
        """Wait for the turn and start the clock of the tries."""
        self._file = os.open(self._path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        deadline = time.monotonic() + WAITING_S
        while not self._taken() and time.monotonic() < deadline:
            time.sleep(PAUSE_S)
        self._began = time.monotonic()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        fault: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Let the next writer in."""
        os.close(self._file)

    def is_over(self) -> bool:
        """Tell whether the time for tries has passed; otherwise wait a moment before the next."""
        if time.monotonic() - self._began > TRYING_S:
            return True
        time.sleep(PAUSE_S)
        return False

    def _taken(self) -> bool:
        try:
            fcntl.flock(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
        return True
