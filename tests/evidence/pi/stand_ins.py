"""Programs that stand in for Pi: an obedient one that keeps what it was given, and hostile ones."""

from __future__ import annotations

import os
import signal
import sys
import time
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path

from evidence.adapters.pi import PiRestructurer
from evidence.environment import PiSettings
from evidence.ports import RestructureRequest
from tests.evidence.trees import NOTE

EMPTY_ANSWER = '{"schema_version": 1, "candidates": []}'
OBEDIENT = """
import json, os, pathlib
seen = {"arguments": sys.argv[1:], "environment": dict(os.environ), "folder": os.getcwd(),
        "session": os.getsid(0) == os.getpid(), "message": sys.stdin.buffer.read().decode(),
        "agent": sorted(os.listdir(os.environ["PI_CODING_AGENT_DIR"]))}
with open(__file__ + ".seen", "a") as file:
    file.write(json.dumps(seen) + "\\n")
print(pathlib.Path(__file__ + ".answer").read_text())
"""
HOSTILE: Mapping[str, str] = {
    "hangs": "time.sleep(60)",
    "leaves a grandchild that holds the pipes": "os.fork() or time.sleep(60)",
    "leaves a grandchild in a session of its own": """
if os.fork() == 0:
    os.setsid()
    os.fork() or time.sleep(60)
    os._exit(0)
time.sleep(0.2)
""",
    "floods stdout": "while True: os.write(1, b'x' * 65536)",
    "floods stderr and stdout": "while True: os.write(2, b'x' * 4096); os.write(1, b'y' * 100)",
    "fails": "print('partial', flush=True); sys.exit(3)",
    "speaks no UTF-8": "os.write(1, b'{\\xff\\xfe}')",
    "kills itself": "os.kill(os.getpid(), signal.SIGKILL)",
    "ignores every signal it can": """
for each in set(signal.Signals) - {signal.SIGKILL, signal.SIGSTOP}:
    signal.signal(each, signal.SIG_IGN)
time.sleep(60)
""",
    "forks many": """
for number in range(150):
    if os.fork() == 0:
        if number % 2:
            os.setsid()
        time.sleep(60)
time.sleep(60)
""",
    "kills its guard": "os.fork(); os.kill(os.getppid(), signal.SIGKILL); time.sleep(60)",
    "closes its pipes and hangs": "os.closerange(0, 3); time.sleep(60)",
}
"""What Pi could do to us, by what it is called, as Python that runs after the imports."""
CODES: Mapping[str, str] = {
    "hangs": "pi_timeout",
    "leaves a grandchild that holds the pipes": "pi_output_invalid",
    "leaves a grandchild in a session of its own": "pi_output_invalid",
    "floods stdout": "pi_output_too_large",
    "floods stderr and stdout": "pi_output_too_large",
    "fails": "pi_failed",
    "speaks no UTF-8": "pi_output_invalid",
    "kills itself": "pi_failed",
    "ignores every signal it can": "pi_timeout",
    "forks many": "pi_timeout",
    "kills its guard": "pi_failed",
    "closes its pipes and hangs": "pi_timeout",
}
REQUEST = RestructureRequest(
    source_file="source/età.md",
    source_sha256="sha256:" + "0" * 64,
    normalized_text=NOTE,
    language="it",
)


def a_program(folder: Path, code: str, *, version: str = "1.6.0") -> Path:
    """Write a program that answers `--version` and otherwise does this."""
    path = folder / "pi-stand-in"
    path.write_text(
        f"#!{sys.executable} -ISu\nimport os, signal, sys, time\n"
        f"if sys.argv[1:] == ['--version']:\n    print({version!r})\n    sys.exit()\n{code}\n"
    )
    path.chmod(0o755)
    return path


def obedient(folder: Path, answer: str = EMPTY_ANSWER) -> Path:
    """Write a program that answers this and notes what it was given in `<program>.seen`."""
    path = a_program(folder, OBEDIENT)
    Path(f"{path}.answer").write_text(answer)
    return path


def a_restructurer(program: Path | str, **settings: object) -> PiRestructurer:
    """Give a restructurer that starts this program; its debug files lie beside it."""
    given = {"executable": str(program), "timeout_s": 10.0} | settings
    return PiRestructurer(PiSettings.model_validate(given), debug=Path(program).parent / "debug")


def survivors(program: Path) -> list[int]:
    """Give every living process whose command line names this program: an oracle of its own."""
    found = []
    for entry in Path("/proc").iterdir():
        if entry.name.isdecimal():
            with suppress(OSError):
                alive = b") Z " not in (entry / "stat").read_bytes()
                if alive and os.fsencode(program) in (entry / "cmdline").read_bytes().split(b"\0"):
                    found.append(int(entry.name))
    return found


def survivors_soon(program: Path, *, within_s: float = 1.0) -> list[int]:
    """Give what still lives a moment later: a killed process takes its time to go."""
    deadline = time.monotonic() + within_s
    while (found := survivors(program)) and time.monotonic() < deadline:
        time.sleep(0.02)
    return found


def end(pids: list[int]) -> None:
    """Kill processes of ours."""
    for pid in pids:
        with suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)
