"""Where the broker is: a configured URL, or the embedded Valkey that wrote down its port."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Final

from portal.env import Env

NOWHERE: Final = "redis://127.0.0.1:1/0"
"""Nothing listens there: sending fails at once, and the periodic wake-up does the work later."""


def address_file(home: Path) -> Path:
    """Give the file in which a running embedded broker keeps `{"url", "pid"}`."""
    return home / "run" / "broker.json"


def url(env: Env) -> str:
    """Give the broker's URL as this process should use it."""
    if env.broker_url:
        return env.broker_url
    try:
        return str(json.loads(address_file(env.home).read_text())["url"])
    except (OSError, ValueError, KeyError, TypeError):
        return NOWHERE
