"""The real portal as a visitor runs it: `tht serve` over a home of its own, and sure to stop.

The fixtures are in `tests/conftest.py`: `demo_home` is a home in which `tht demo` has run, made
once a session and only to be copied; `live_portal` serves a copy of it for one module's tests.
"""

from __future__ import annotations

import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from functools import cached_property
from pathlib import Path
from typing import Any, Final

import httpx

CHECKOUT: Final = Path(__file__).resolve().parent.parent
THT: Final = (sys.executable, "-m", "portal.cli")
START_S: Final = 60
STOP_S: Final = 15
NOT_OURS: Final = ("PORTAL_", "DJANGO_SETTINGS_MODULE", "TEST_DATABASE_URL")


def environment(home: Path, **settings: str) -> dict[str, str]:
    """Give the environment of a portal over a home, free of what the tests themselves run with."""
    inherited = {name: value for name, value in os.environ.items() if not name.startswith(NOT_OURS)}
    return inherited | {"PORTAL_HOME": str(home)} | settings


def tht(home: Path, *arguments: str, **settings: str) -> subprocess.CompletedProcess[str]:
    """Run one `tht` command over a home and give its exit code and what it printed."""
    return subprocess.run(
        [*THT, *arguments],
        cwd=CHECKOUT,
        env=environment(home, **settings),
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )


def make_demo(home: Path, **settings: str) -> None:
    """Run `tht demo` over a home; the output of a failure is in the error."""
    done = tht(home, "demo", **settings)
    if done.returncode:
        raise AssertionError(done.stdout + done.stderr)


def copy_home(home: Path, to: Path) -> Path:
    """Copy a home that nobody serves; what belongs to running processes stays behind."""
    return shutil.copytree(home, to, ignore=shutil.ignore_patterns("run"))


def free_port() -> int:
    """Give a port of loopback on which nothing listens now."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def wait_until(holds: Callable[[], Any], *, within_s: float, what: str) -> Any:
    """Give what `holds` gives as soon as it is true. Raises `AssertionError` in the end."""
    end = time.monotonic() + within_s
    while not (found := holds()):
        if time.monotonic() > end:
            raise AssertionError(f"not within {within_s:.0f} s: {what}")
        time.sleep(0.1)
    return found


class LivePortal:
    """One portal: web, worker and broker in processes of their own."""

    def __init__(self, home: Path, **settings: str) -> None:
        """Take a home with the demo; more `PORTAL_…` settings may follow."""
        self.home = home
        self.port = free_port()
        self.address = f"http://127.0.0.1:{self.port}"
        self.settings = {"PORTAL_BIND": f"127.0.0.1:{self.port}", **settings}
        self.log = home / "serve.log"
        self._serving: subprocess.Popen[bytes] | None = None

    @cached_property
    def passwords(self) -> Mapping[str, str]:
        """Give the demo's passwords by user name: `curatrice` and `approvatore`."""
        return dict(self._secrets["passwords"])

    @cached_property
    def key(self) -> str:
        """Give the demo's reader key."""
        return str(self._secrets["key"])

    @cached_property
    def _secrets(self) -> dict[str, Any]:
        content: dict[str, Any] = json.loads((self.home / "demo-users").read_text())
        return content

    def start(self) -> None:
        """Serve, and return when the web process answers; else the error holds its log."""
        with self.log.open("ab") as log:
            self._serving = subprocess.Popen(
                [*THT, "serve"],
                cwd=CHECKOUT,
                env=environment(self.home, **self.settings),
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )
        try:
            wait_until(self._answers, within_s=START_S, what="/healthz answers")
        except AssertionError as error:
            self.stop()
            raise AssertionError(f"{error}\n{self.log.read_text()}") from error

    def stop(self) -> None:
        """Ask all processes to end, then end whichever is still there."""
        self.ask_to_stop()
        for pid in self.processes():
            end(pid)

    def ask_to_stop(self) -> int:
        """Do what a terminal that closes does; give the exit code, 0 when nothing was served."""
        serving, self._serving = self._serving, None
        if serving is None:
            return 0
        serving.terminate()
        try:
            return serving.wait(STOP_S)
        except subprocess.TimeoutExpired:
            os.killpg(serving.pid, signal.SIGKILL)
            return serving.wait()

    def restart(self) -> None:
        """Stop and start again at the same address."""
        self.stop()
        self.start()

    def processes(self, name: str = "") -> list[int]:
        """List the living processes of this portal whose command line holds a name."""
        return [pid for pid, command in _over(self.home) if name in command]

    def tht(self, *arguments: str) -> subprocess.CompletedProcess[str]:
        """Run one `tht` command beside what is served."""
        return tht(self.home, *arguments, **self.settings)

    def tht_json(self, *arguments: str, code: int = 0) -> Any:
        """Run a `tht` command that must exit with `code`; give the JSON it printed."""
        done = self.tht(*arguments, "--json")
        if done.returncode != code:
            raise AssertionError(f"exit {done.returncode}: {done.stdout}{done.stderr}")
        return json.loads(done.stdout)

    def get(self, path: str, **headers: str) -> httpx.Response:
        """Read a path of the API with the demo's key."""
        return httpx.get(self.address + path, headers=self._signed(headers), timeout=30)

    def ask(
        self, question: str, *, workspace: str = "clinica-demo", key: str = "", **fields: object
    ) -> httpx.Response:
        """Ask the API one question, for SQL generation unless `purpose` says otherwise."""
        return httpx.post(
            f"{self.address}/api/v1/workspaces/{workspace}/search",
            headers=self._signed({}, key),
            json={"query": question, "purpose": "sql_generation", **fields},
            timeout=30,
        )

    def _signed(self, headers: Mapping[str, str], key: str = "") -> dict[str, str]:
        return {"Authorization": f"Bearer {key or self.key}", **headers}

    def _answers(self) -> bool:
        if self._serving is not None and self._serving.poll() is not None:
            raise AssertionError(f"serving ended with {self._serving.returncode}")
        try:
            return httpx.get(f"{self.address}/healthz", timeout=2).status_code == 200
        except httpx.TransportError:
            return False


@contextmanager
def serving(home: Path, **settings: str) -> Iterator[LivePortal]:
    """Serve a home that has the demo, for as long as the block runs."""
    portal = LivePortal(home, **settings)
    try:
        portal.start()
        yield portal
    finally:
        portal.stop()


def end(pid: int) -> None:
    """Kill one process that may be gone already."""
    try:
        os.kill(pid, signal.SIGKILL)
    except ProcessLookupError:
        return


def _over(home: Path) -> Iterator[tuple[int, str]]:
    """Find processes by the home they were given: the manager puts each in a session of its own."""
    wanted = f"PORTAL_HOME={home}".encode()
    for process in Path("/proc").glob("[0-9]*"):
        try:
            if wanted in (process / "environ").read_bytes().split(b"\0"):
                yield int(process.name), (process / "cmdline").read_text().replace("\0", " ")
        except (FileNotFoundError, ProcessLookupError, PermissionError):
            continue
