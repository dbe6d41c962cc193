"""A worker that takes one generation as far as it goes, and may be told where to die."""

from __future__ import annotations

import os
import signal
from collections.abc import Sequence
from functools import reduce
from importlib import import_module
from typing import Any
from uuid import UUID

from publishing import leases, publication, wiring


def obey(generation: str, spot: str = "") -> str:
    """Advance a generation; `spot` is `before|after <nth> <module>:<name>`."""
    if spot:
        _trap(spot.split())
    worker = leases.worker_name()
    return publication.advance(UUID(generation), worker=worker, parts=wiring.parts()).value


def _trap(spot: Sequence[str]) -> None:
    """Let the nth call of a function be the last thing that this process does."""
    when, nth, where = spot
    module, _, path = where.partition(":")
    *owners, name = path.split(".")
    owner = reduce(getattr, owners, import_module(module))
    real = getattr(owner, name)
    calls = 0

    def trap(*arguments: Any, **named: Any) -> Any:
        nonlocal calls
        calls += 1
        if calls == int(nth) and when == "before":
            _die()
        given = real(*arguments, **named)
        if calls == int(nth):
            _die()
        return given

    setattr(owner, name, trap)


def _die() -> None:
    os.kill(os.getpid(), signal.SIGKILL)
