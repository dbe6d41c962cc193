"""Run one `git` process that trusts nothing around it: no foreign settings, hooks, prompts."""

from __future__ import annotations

import os
import signal
import subprocess
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO

from evidence.messages import Message, gettext_noop
from evidence.ports import RepositoryBroken, RevisionUnknown

TIMEOUT_S = 60.0
SETTINGS = (
    "core.hooksPath=/dev/null",
    "core.fsmonitor=false",
    "core.fsync=objects,pack-metadata,reference",
    "core.fsyncMethod=batch",
    "core.quotePath=false",
    "gc.auto=0",
    "maintenance.auto=false",
    "i18n.logOutputEncoding=UTF-8",
)
NO_PROTOCOL = "protocol.allow=never"
MISSING = ("bad object", "bad revision", "not a tree object", "Not a valid object name")
FILES_ONLY = ("protocol.allow=never", "protocol.file.allow=always")


class GitTooSlow(RepositoryBroken):
    """A Git process was killed because it took too long."""

    code = "repository_timeout"


@dataclass(frozen=True, slots=True)
class Answer:
    """What a finished process said."""

    code: int
    out: bytes
    error: str


def environment() -> dict[str, str]:
    """Give the whole environment of a Git process (spec 90, Git)."""
    return {
        "PATH": os.environ.get("PATH", os.defpath),
        "HOME": os.devnull,
        "LC_ALL": "C",
        "GIT_CONFIG_NOSYSTEM": "1",
        "GIT_CONFIG_GLOBAL": os.devnull,
        "GIT_ATTR_NOSYSTEM": "1",
        "GIT_NO_REPLACE_OBJECTS": "1",
        "GIT_LITERAL_PATHSPECS": "1",
        "GIT_TERMINAL_PROMPT": "0",
        "GIT_ASKPASS": os.devnull,
        "GIT_OPTIONAL_LOCKS": "0",
    }


def run(
    directory: Path,
    *arguments: str,
    stdin: bytes = b"",
    protocols: tuple[str, ...] = (NO_PROTOCOL,),
    timeout: float = TIMEOUT_S,
) -> Answer:
    """Run Git on a bare repository and give its answer, whatever its exit code.

    Raises `RepositoryBroken` when it cannot be started and `GitTooSlow` after `timeout` seconds.
    """
    process = _start(directory, arguments, protocols, stdin=subprocess.PIPE)
    try:
        out, error = process.communicate(stdin, timeout)
    except subprocess.TimeoutExpired as slow:
        _kill(process)
        raise GitTooSlow(gettext_noop("Git took too long and was stopped.")) from slow
    return Answer(process.returncode, out, error.decode("utf-8", "replace").strip())


def output(directory: Path, *arguments: str, stdin: bytes = b"") -> bytes:
    """Give what Git printed. Raises `RepositoryBroken` for any exit code but 0."""
    answer = run(directory, *arguments, stdin=stdin)
    if answer.code:
        raise broken(answer)
    return answer.out


def broken(answer: Answer) -> RepositoryBroken | RevisionUnknown:
    """Turn a failure into a fault with Git's own first line."""
    reason = answer.error.partition("\n")[0][:300]
    if any(sign in answer.error for sign in MISSING):
        message = gettext_noop("This revision is not in the repository: %(reason)s")
        return RevisionUnknown(Message(message, reason=reason))
    return RepositoryBroken(Message(gettext_noop("Git failed: %(reason)s"), reason=reason))


@contextmanager
def stream(directory: Path, *arguments: str, stdin: IO[bytes]) -> Iterator[IO[bytes]]:
    """Give the output of a process as it comes; the process is gone afterwards in any case."""
    # Nobody reads its complaints meanwhile, and a full pipe would block it: what it could not give
    # is missing from its output, and the reader of the output says so.
    process = _start(directory, arguments, (NO_PROTOCOL,), stdin=stdin, stderr=subprocess.DEVNULL)
    watchdog = threading.Timer(TIMEOUT_S, _kill_group, (process,))
    watchdog.start()
    try:
        if process.stdout is not None:
            yield process.stdout
    finally:
        watchdog.cancel()
        _kill(process)


@contextmanager
def conversation(directory: Path, *arguments: str) -> Iterator[tuple[IO[bytes], IO[bytes]]]:
    """Give both ends of a process that answers line by line; it is gone afterwards in any case."""
    process = _start(
        directory,
        arguments,
        (NO_PROTOCOL,),
        stdin=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
    )
    watchdog = threading.Timer(TIMEOUT_S, _kill_group, (process,))
    watchdog.start()
    try:
        if process.stdin is not None and process.stdout is not None:
            yield process.stdin, process.stdout
    finally:
        watchdog.cancel()
        _kill(process)


def _start(
    directory: Path,
    arguments: tuple[str, ...],
    protocols: tuple[str, ...],
    *,
    stdin: int | IO[bytes],
    stderr: int = subprocess.PIPE,
) -> subprocess.Popen[bytes]:
    settings = [part for setting in (*SETTINGS, *protocols) for part in ("-c", setting)]
    try:
        return subprocess.Popen(
            ["git", *settings, f"--git-dir={directory}", *arguments],
            stdin=stdin,
            stdout=subprocess.PIPE,
            stderr=stderr,
            env=environment(),
            start_new_session=True,
        )
    except OSError as error:
        message = Message(gettext_noop("Git cannot be started: %(reason)s"), reason=error.strerror)
        raise RepositoryBroken(message) from error


def _kill(process: subprocess.Popen[bytes]) -> None:
    """End a process and what it started: a grandchild may hold the pipe (spec 90)."""
    _kill_group(process)
    process.communicate()


def _kill_group(process: subprocess.Popen[bytes]) -> None:
    if process.poll() is None:
        os.killpg(process.pid, signal.SIGKILL)
