"""What the last preparation of a folder found out about its files, kept for the next one.

It shortens the report of a preparation and nothing else: `validate` and the mirror, on whose word
something is published, always read the files. A kept memory is used only when its body has the
digest in its first line and when the rules are those that made it; else it counts as none. That
finds damage; who may write to this folder, which is its owner's alone, could also change the code.
"""

from __future__ import annotations

import hashlib
import json
import logging
import os
import platform
import unicodedata
from collections.abc import Iterable
from contextlib import suppress
from importlib.metadata import version
from pathlib import Path

from evidence.adapters.memory_wire import read_memory, write_memory
from evidence.adapters.whole_files import write_whole
from evidence.domain.memory import NOTHING_KNOWN, Memory

MAX_BYTES = 64 * 1024 * 1024
MAX_KEPT = 64
PACKAGE = Path(__file__).resolve().parent.parent

NO_MEMORY = (ValueError, TypeError, KeyError, AttributeError)
"""What `read_memory` raises."""

logger = logging.getLogger(__name__)


class FileMemories:
    """One file a workspace, replaced whole; the oldest beyond 64 are removed."""

    def __init__(self, folder: Path) -> None:
        """Take the folder, `PORTAL_HOME/cache/inspections`; it is made when it is needed."""
        self._folder = folder

    def get(self, name: str) -> Memory:
        """Give what is kept under a name, nothing when that cannot be used."""
        with suppress(OSError, RecursionError, *NO_MEMORY):
            path = self._path(name)
            if path.stat().st_size <= MAX_BYTES:
                digest, _, body = path.read_bytes().partition(b"\n")
                if digest.decode() == _digest(body):
                    return read_memory(json.loads(body), rules=rules_digest())
        return NOTHING_KNOWN

    def put(self, name: str, memory: Memory) -> None:
        """Keep a memory, whole or not at all; what cannot be written is only missed later."""
        body = json.dumps(write_memory(memory, rules=rules_digest())).encode()
        try:
            write_whole(self._path(name), _digest(body).encode() + b"\n" + body)
            self._forget_the_oldest()
        except OSError as error:
            logger.warning("Nothing could be kept in %s: %s", self._folder, error.strerror)

    def _path(self, name: str) -> Path:
        return self._folder / f"{_digest(os.fsencode(name))}.json"

    def _forget_the_oldest(self) -> None:
        kept = sorted(self._folder.glob("*.json"), key=lambda path: path.stat().st_mtime)
        for path in kept[:-MAX_KEPT]:
            path.unlink(missing_ok=True)


def rules_digest() -> str:
    """Give a digest of the code that judges files, and of the libraries it asks."""
    digest = hashlib.sha256()
    for line in (*_libraries(), *_code()):
        digest.update(line + b"\0")
    return digest.hexdigest()


def _libraries() -> Iterable[bytes]:
    names = ("pydantic", "sqlglot", "PyYAML", "charset-normalizer")
    known = (platform.python_version(), unicodedata.unidata_version, *map(version, names))
    return (each.encode() for each in known)


def _code() -> Iterable[bytes]:
    return (path.read_bytes() for path in sorted((PACKAGE / "domain").glob("*.py")))


def _digest(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()
