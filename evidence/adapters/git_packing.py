"""Keep a repository small: single objects are put into packs, off the way of any save."""

from __future__ import annotations

from pathlib import Path
from typing import Final

from evidence.adapters import git_process

LOOSE: Final = 1_000
"""From so many single objects on; a save leaves about five."""
TIMEOUT_S: Final = 600.0
_COUNT: Final = b"count: "
_MODESTLY: Final = ("-c", "pack.threads=1", "-c", "pack.windowMemory=64m")


def pack(directory: Path) -> bool:
    """Put single objects into packs once they are many, and tell whether they were.

    Packs grow geometrically, so that each object is written again a few times only. Nothing is
    ever removed: what no branch names any longer, a page that is open may still name (git-repack).
    Safe beside readers, writers and another packing. Raises `RepositoryBroken`.
    """
    counted = git_process.output(directory, "count-objects", "-v").split(b"\n")[0]
    if int(counted.removeprefix(_COUNT)) < LOOSE:
        return False
    answer = git_process.run(
        directory, *_MODESTLY, "repack", "-d", "-l", "-q", "--geometric=2", timeout=TIMEOUT_S
    )
    if answer.code:
        raise git_process.broken(answer)
    return True
