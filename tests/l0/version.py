"""The one version of Qdrant that all is held against: that of `compose.yaml`."""

from __future__ import annotations

import re
from pathlib import Path

from tests.qdrant_stand_in import schema

COMPOSE = Path(__file__).resolve().parents[2] / "compose.yaml"
IMAGE = re.compile(r"qdrant/qdrant:v(\d+\.\d+\.\d+)")


def of_compose() -> str | None:
    """Give the version that `compose.yaml` runs, or None without such a file."""
    found = IMAGE.search(COMPOSE.read_text()) if COMPOSE.exists() else None
    return found[1] if found else None


def wanted() -> str:
    """Give the version a server must have; the vendored document names the same one."""
    return of_compose() or schema.VERSION
