"""What a model really said, for the operator alone: a few files under `PORTAL_HOME/debug`."""

from __future__ import annotations

import logging
import os
import secrets
import time
from pathlib import Path

KEPT = 100

logger = logging.getLogger(__name__)


def keep(folder: Path, name: str, data: bytes) -> str:
    """Write a file that only its owner reads, drop the oldest ones, and give its file name.

    A folder that cannot be written costs a warning in the log and never an answer: "" then.
    """
    stamp = time.strftime("%Y%m%dT%H%M%SZ", time.gmtime())
    path = folder / f"{name}-{stamp}-{secrets.token_hex(4)}.txt"
    try:
        folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        with os.fdopen(descriptor, "wb") as file:
            file.write(data)
        _drop_oldest(folder, name)
    except OSError as error:
        logger.warning("Nothing could be kept in %s: %s", folder, error.strerror)
        return ""
    return path.name


def _drop_oldest(folder: Path, name: str) -> None:
    for path in sorted(folder.glob(f"{name}-*.txt"))[:-KEPT]:
        path.unlink(missing_ok=True)
