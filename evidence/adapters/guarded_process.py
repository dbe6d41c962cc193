"""Run one program to its end, within a time and with bounded output, and leave nothing behind."""

from __future__ import annotations

import json
import os
import selectors
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO

GUARD = Path(__file__).with_name("process_guard.py")
STDOUT_BYTES, STDERR_BYTES, STATUS_BYTES = 1024 * 1024, 64 * 1024, 256
CHUNK = 64 * 1024
GRACE_S = 4.0
"""How long the guard may take to sweep (it gives up after 3 s) before it is killed itself."""
HUNT_S = 1.0


@dataclass(frozen=True, slots=True)
class Ended:
    """How a program ended and what it said.

    `code` is its exit code, `signal` what killed it, `errno` why it could not be started; all three
    are None when it was stopped, because it was `too_slow` or `too_much` came out of it.
    """

    out: bytes
    error: bytes
    code: int | None = None
    signal: int | None = None
    errno: int | None = None
    too_slow: bool = False
    too_much: bool = False


@dataclass(slots=True)
class _Capture:
    """The first `limit` bytes of a stream; one more is too much."""

    limit: int
    data: bytearray = field(default_factory=bytearray)

    def take(self, chunk: bytes) -> None:
        """Keep what fits, and one byte more."""
        self.data += chunk[: self.limit + 1 - len(self.data)]

    @property
    def overflows(self) -> bool:
        return len(self.data) > self.limit


def run(
    program: Sequence[str],
    *,
    stdin: bytes,
    environment: Mapping[str, str],
    folder: Path,
    timeout_s: float,
) -> Ended:
    """Run a program (an absolute path and its arguments, never a shell) and say how it ended.

    It has a session of its own, only this environment, in which `HOME` is its alone, and this
    folder. After `timeout_s` seconds,
    or once it wrote more than 1 MiB to stdout or 64 KiB to stderr, it is killed with everything it
    ever started, which takes at most 4 s more (spec 20, Pi).
    """
    deadline = time.monotonic() + timeout_s
    out, error, told = (_Capture(limit) for limit in (STDOUT_BYTES, STDERR_BYTES, STATUS_BYTES))
    with _guarded(program, stdin, environment, folder) as (guard, status):
        streams = {_pipe(guard.stdout): out, _pipe(guard.stderr): error, status: told}
        in_time = _read(streams, status, deadline)
    outcome = _outcome(bytes(told.data))
    if outcome is None:
        _hunt(f"HOME={environment['HOME']}".encode())
    return Ended(
        out=bytes(out.data),
        error=bytes(error.data),
        too_slow=not in_time,
        too_much=out.overflows or error.overflows,
        **(outcome or {}),
    )


@contextmanager
def _guarded(
    program: Sequence[str], stdin: bytes, environment: Mapping[str, str], folder: Path
) -> Iterator[tuple[subprocess.Popen[bytes], IO[bytes]]]:
    """Give the guard of a program and the pipe of its last word; both are gone afterwards."""
    reading, writing = os.pipe()
    with os.fdopen(reading, "rb", buffering=0) as status, tempfile.TemporaryFile() as message:
        # A file without a name, not a pipe: nobody has to write while the program is read.
        message.write(stdin)
        message.seek(0)
        try:
            guard = subprocess.Popen(
                [sys.executable, "-I", "-S", str(GUARD), str(writing), str(os.getpid()), *program],
                bufsize=0,
                stdin=message,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                env=dict(environment),
                cwd=folder,
                pass_fds=(writing,),
            )  # in our own session, so that Ctrl-C reaches it: it stops the program at once
        finally:
            os.close(writing)
        with guard:
            try:
                yield guard, status
            finally:
                _stop(guard)


def _read(streams: Mapping[IO[bytes], _Capture], status: IO[bytes], deadline: float) -> bool:
    """Read until the guard is gone or a stream holds too much; False when time was up first."""
    with selectors.DefaultSelector() as selector:
        for stream, capture in streams.items():
            selector.register(stream, selectors.EVENT_READ, capture)
        while open_streams := selector.get_map():
            guarded = status in open_streams
            ready = selector.select(max(0.0, deadline - time.monotonic()) if guarded else 0.0)
            if not ready:
                return not guarded
            for key, _ in ready:
                chunk = os.read(key.fd, CHUNK)
                key.data.take(chunk)
                if not chunk:
                    selector.unregister(key.fileobj)
            if any(capture.overflows for capture in streams.values()):
                break
    return True


def _stop(guard: subprocess.Popen[bytes]) -> None:
    """Have the guard sweep and end; should it be stuck, end it: the program dies with it."""
    if guard.poll() is None:
        guard.terminate()
    try:
        guard.wait(GRACE_S)
    except subprocess.TimeoutExpired:
        guard.kill()


def _outcome(told: bytes) -> dict[str, int] | None:
    """Read the guard's last word; None when it had none, because the program killed it."""
    try:
        said = json.loads(told)
    except ValueError:
        return None
    return {name: said[name] for name in ("code", "signal", "errno") if name in said}


def _hunt(mark: bytes) -> None:
    """Kill what outlived its guard: processes that hold this mark in their environment."""
    deadline = time.monotonic() + HUNT_S
    while (marked := tuple(_marked(mark))) and time.monotonic() < deadline:
        for pid in marked:
            with suppress(ProcessLookupError, PermissionError):
                os.kill(pid, signal.SIGKILL)
        time.sleep(0.01)


def _marked(mark: bytes) -> Iterator[int]:
    for entry in Path("/proc").iterdir():
        if entry.name.isdecimal():
            with suppress(OSError):  # it ended meanwhile, or belongs to somebody else
                if mark in (entry / "environ").read_bytes().split(b"\0"):
                    yield int(entry.name)


def _pipe(stream: IO[bytes] | None) -> IO[bytes]:
    if stream is None:  # never: the pipes were asked for
        raise ValueError("a stream that is no pipe")
    return stream
