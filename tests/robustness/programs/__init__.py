"""Programs that work on one home in processes of their own, and how a test speaks to them.

Run as `python -m tests.robustness.programs <name>`. A program reads one JSON order a line and
answers each with one JSON line; the first line it writes says that it is ready.
"""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any, Self

from tests import live

SETTINGS = "tests.robustness.settings"


class Program:
    """One running program, ended with its block."""

    def __init__(self, name: str, home: Path, **settings: str) -> None:
        self.process = subprocess.Popen(
            [sys.executable, "-m", __name__, name],
            cwd=live.CHECKOUT,
            env=live.environment(home, DJANGO_SETTINGS_MODULE=SETTINGS, **settings),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
        )

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.kill()

    def ready(self) -> None:
        """Wait until it has started."""
        assert self.hear() == "ready"

    def tell(self, **order: object) -> None:
        """Send an order and do not wait."""
        assert self.process.stdin
        self.process.stdin.write(json.dumps(order) + "\n")
        self.process.stdin.flush()

    def hear(self) -> Any:
        """Wait for an answer; None when it ended instead."""
        assert self.process.stdout
        line = self.process.stdout.readline()
        return json.loads(line) if line else None

    def ask(self, **order: object) -> Any:
        """Send an order and wait for its answer."""
        self.tell(**order)
        return self.hear()

    def kill(self) -> None:
        """End it with -9, whatever it does."""
        self.process.kill()
        for pipe in (self.process.stdin, self.process.stdout):
            if pipe is not None:
                pipe.close()
        self.process.wait()
