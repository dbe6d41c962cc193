"""The running program that fills a folder: told messages, listened to, killed with its worker."""

from __future__ import annotations

import errno
import os
import select
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Final

import structlog
from pydantic import BaseModel, ConfigDict, ValidationError

from evidence.messages import Message, gettext_noop
from publishing.adapters.edge_filler import ALIVE, HEAD
from publishing.adapters.edge_seal import DISK_FULL
from publishing.ports import Beat, VectorStoreUnavailable

log = structlog.get_logger(__name__)
MODULE: Final = "publishing.adapters.edge_filler"
CHECKOUT: Final = Path(__file__).resolve().parents[2]
BEAT_S: Final = 5.0
"""How often the lease is renewed while the program works; a lease lasts far longer."""
SILENT_S: Final = 300.0
"""For how long the program may neither take a byte nor show a sign of life."""
_ENDED: Final = {-signal.SIGBUS: errno.ENOSPC}
"""The engine writes through mapped files, and a full disk below one ends its process at once."""
_PIECE: Final = 64 * 1024
_FAILED: Final = gettext_noop("The vector engine failed.")


class Said(BaseModel):
    """The last word of the program: what the folder holds."""

    model_config = ConfigDict(extra="forbid")

    count: int
    digest: str
    files: dict[str, str]


class _Error(BaseModel):
    model_config = ConfigDict(extra="forbid")

    error: str
    errno: int | None


class FillingProgram:
    """Runs inside a `with` block and never outlives it."""

    def __init__(self, beat: Beat) -> None:
        """Take what to call every few seconds; what it raises ends the program."""
        self._beat = beat
        self._next_beat = time.monotonic() + BEAT_S
        self._heard = b""

    def __enter__(self) -> FillingProgram:
        """Start it, with nothing of the portal's settings and secrets."""
        environment = {name: os.environ[name] for name in ("PATH", "LANG") if name in os.environ}
        self._process = subprocess.Popen(
            [sys.executable, "-m", MODULE, str(os.getpid())],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            cwd=CHECKOUT,
            env=environment,
            bufsize=0,
        )
        # Both are pipes; the type alone does not know it.
        self._in, self._out = (_descriptor(self._process.stdin), _descriptor(self._process.stdout))
        return self

    def __exit__(self, *_: object) -> None:
        """Kill it, finished or not, and let go of its pipes."""
        self._process.kill()
        for pipe in (self._process.stdin, self._process.stdout):
            if pipe is not None:
                pipe.close()
        self._process.wait()

    def tell(self, text: str, numbers: bytes = b"") -> None:
        """Send one message. Raises `VectorStoreUnavailable`, and what the beat raises."""
        words = text.encode()
        self._write(HEAD.pack(len(words), len(numbers)) + words + numbers)

    def answer(self) -> Said:
        """Say that nothing follows, and give the last word.

        Raises `VectorStoreUnavailable`, and what the beat raises.
        """
        self._write(HEAD.pack(0, 0))
        return self._last_word()

    def _write(self, data: bytes) -> None:
        left = memoryview(data)
        while left:
            self._wait(self._in, select.POLLOUT)
            try:
                left = left[os.write(self._in, left[:_PIECE]) :]
            except BrokenPipeError:
                self._last_word()
                raise _failed() from None

    def _last_word(self) -> Said:
        while True:
            self._wait(self._out, select.POLLIN)
            piece = os.read(self._out, _PIECE)
            if not piece:
                break
            self._heard += piece
        words = self._heard.lstrip(ALIVE)
        try:
            return Said.model_validate_json(words)
        except ValidationError:
            raise self._fault(words) from None

    def _fault(self, words: bytes) -> VectorStoreUnavailable:
        try:
            said = _Error.model_validate_json(words)
        except ValidationError:
            code = self._process.wait()
            said = _Error(error=f"exit {code}", errno=_ENDED.get(code))
        log.error("vector_engine_failed", why=said.error, errno=said.errno)
        if said.errno in (errno.ENOSPC, errno.EDQUOT):
            return VectorStoreUnavailable(Message(DISK_FULL))
        return _failed()

    def _wait(self, descriptor: int, event: int) -> None:
        """Wait until the program takes or gives bytes, with the lease renewed meanwhile."""
        poll = select.poll()
        poll.register(descriptor, event)
        until = time.monotonic() + SILENT_S
        while not poll.poll(max(0.0, self._next_beat - time.monotonic()) * 1000):
            if time.monotonic() > until:
                log.error("vector_engine_silent", seconds=SILENT_S)
                raise _failed()
            self._renew()
        if time.monotonic() >= self._next_beat:
            self._renew()

    def _renew(self) -> None:
        self._beat()
        self._next_beat = time.monotonic() + BEAT_S


def _descriptor(pipe: object) -> int:
    descriptor: int = pipe.fileno()  # type: ignore[attr-defined]
    os.set_blocking(descriptor, False)
    return descriptor


def _failed() -> VectorStoreUnavailable:
    return VectorStoreUnavailable(Message(_FAILED))
