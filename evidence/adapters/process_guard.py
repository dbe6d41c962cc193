"""A program of its own between the portal and Pi: it outlives Pi, and nothing outlives it.

Run as `python -I -S process_guard.py <status fd> <portal's pid> <program> [argument…]`. It makes
itself the reaper of everything below it, starts the program in a session of its own, waits for its
end or for SIGTERM, then kills whatever is left: a grandchild that holds the pipe, and one that
escaped into another session (spec 90, Subprocess). Its last word goes to the status descriptor as
JSON: `{"code": n}`, `{"signal": n}`, `{"errno": n}` when the program could not be started, or `{}`
when it was stopped. It stands alone, knows only the standard library, and Linux.
"""

from __future__ import annotations

import ctypes
import json
import os
import signal
import sys
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

PR_SET_PDEATHSIG, PR_SET_CHILD_SUBREAPER = 1, 36
WATCHED = frozenset({signal.SIGCHLD, signal.SIGTERM, signal.SIGINT, signal.SIGHUP})
SWEEP_S = 3.0
PAUSE_S = 0.005

Outcome = dict[str, int]


def main(arguments: list[str]) -> None:
    """Guard one program from its start until nothing of it is left."""
    status, portal, program = int(arguments[0]), int(arguments[1]), arguments[2:]
    os.set_inheritable(status, False)
    control(PR_SET_CHILD_SUBREAPER, 1)
    control(PR_SET_PDEATHSIG, signal.SIGTERM)
    signal.pthread_sigmask(signal.SIG_BLOCK, WATCHED)
    if os.getppid() != portal:  # it died before it could be told apart
        return
    child, errno = start(program)
    release_streams()
    outcome = {"errno": errno} if errno else wait(child)
    sweep()
    os.write(status, json.dumps(outcome).encode())


def control(option: int, value: int) -> None:
    """Set an attribute of this process (`man 2 prctl`)."""
    ctypes.CDLL(None).prctl(option, value, 0, 0, 0)


def start(program: list[str]) -> tuple[int, int]:
    """Start the program in a session of its own; give its pid, and an errno when that failed."""
    failure, told = os.pipe()
    child = os.fork()
    if child == 0:
        become(program, told)
    os.close(told)
    errno = os.read(failure, 16)
    return child, int(errno or 0)


def become(program: list[str], told: int) -> None:
    """Turn this fresh child into the program; say the errno when that fails."""
    try:
        os.setsid()
        control(PR_SET_PDEATHSIG, signal.SIGKILL)
        signal.signal(signal.SIGPIPE, signal.SIG_DFL)
        signal.pthread_sigmask(signal.SIG_SETMASK, ())
        os.execv(program[0], program)  # noqa: S606  (on purpose: never a shell)
    except OSError as error:
        os.write(told, str(error.errno).encode())
    finally:
        os._exit(127)


def release_streams() -> None:
    """Let go of the pipes, so that they end with the last process of the program."""
    nothing = os.open(os.devnull, os.O_RDWR)
    for descriptor in (0, 1, 2):
        os.dup2(nothing, descriptor)


def wait(child: int) -> Outcome:
    """Give how the program ended, or nothing when this process was told to stop."""
    while signal.sigwait(WATCHED) == signal.SIGCHLD:
        for pid, state in reaped():
            if pid == child:
                return outcome_of(state)
    return {}


def reaped() -> Iterator[tuple[int, int]]:
    """Take every child that has ended: its pid and wait status. Raises `ChildProcessError`.

    That is when there is no child at all, and since orphans come here, nothing below either.
    """
    while (ended := os.waitpid(-1, os.WNOHANG))[0]:
        yield ended


def outcome_of(state: int) -> Outcome:
    """Tell an exit code from a signal."""
    if os.WIFSIGNALED(state):
        return {"signal": os.WTERMSIG(state)}
    return {"code": os.WEXITSTATUS(state)}


def sweep() -> None:
    """Kill everything below this process, again and again until nothing is left.

    A group is killed whole, in one call that no fork escapes; a process that made itself another
    group is found in the next round.
    """
    deadline = time.monotonic() + SWEEP_S
    with suppress(ChildProcessError):
        while time.monotonic() < deadline:
            list(reaped())
            for group in groups_below(os.getpid()):
                with suppress(ProcessLookupError, PermissionError):
                    os.killpg(group, signal.SIGKILL)
            time.sleep(PAUSE_S)


def groups_below(ancestor: int) -> set[int]:
    """Give the process groups of all descendants, but never that of the ancestor itself."""
    children: dict[int, list[tuple[int, int]]] = {}
    for pid, parent, group in processes():
        children.setdefault(parent, []).append((pid, group))
    found: set[int] = set()
    waiting = [ancestor]
    while waiting:
        for pid, group in children.get(waiting.pop(), ()):
            found.add(group)
            waiting.append(pid)
    return found - {os.getpgid(ancestor)}


def processes() -> Iterator[tuple[int, int, int]]:
    """Give pid, parent and group of every process; a dead one counts until it is reaped."""
    for entry in Path("/proc").iterdir():
        if entry.name.isdecimal():
            with suppress(OSError):  # it ended meanwhile
                # The name in brackets may hold anything, brackets too (`man 5 proc_pid_stat`).
                fields = (entry / "stat").read_bytes().rpartition(b")")[2].split()
                yield int(entry.name), int(fields[1]), int(fields[2])


if __name__ == "__main__":
    main(sys.argv[1:])
