"""Private copies of sealed folders: one process's own, opened when first asked, shared by threads.

The engine refuses a second opener of a path and hangs when a shard is used after a fork. So every
process has a folder of its own under `run`, marked as alive by a file lock that the operating
system releases when the process ends, whatever ended it; folders of dead processes are swept.
"""

from __future__ import annotations

import atexit
import fcntl
import os
import secrets
import shutil
import time
import weakref
from collections import OrderedDict
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from threading import Lock
from uuid import UUID

from publishing.adapters.edge_engine import Shard, close_shard
from publishing.adapters.edge_seal import seal_stamp, storage_faults
from publishing.ports import VectorStoreUnavailable

MAX_OPEN = 8
"""How many generations one process keeps open; the one unused for longest goes first."""
_LOCK_NAME = "alive.lock"
_ABANDONED_S = 3600

Opener = Callable[[Path], Shard]
"""Copies into the given folder, which does not exist yet, and opens the copy."""


@dataclass(eq=False, slots=True)
class OpenCopy:
    """One opened copy and how many questions are using it now."""

    shard: Shard
    folder: Path
    stamp: tuple[int, int, int]
    users: int = 0
    is_retired: bool = False


@dataclass(eq=False, slots=True)
class _Process:
    """What belongs to one process and nothing of which a forked child may use."""

    lock: Lock = field(default_factory=Lock)
    opening: dict[UUID, Lock] = field(default_factory=dict)
    copies: OrderedDict[UUID, OpenCopy] = field(default_factory=OrderedDict)
    home: Path | None = None
    alive: int | None = None


class PrivateCopies:
    """The copies this process has opened, by generation."""

    def __init__(self, run: Path, *, max_open: int = MAX_OPEN) -> None:
        """Take the folder for running processes; nothing is created before the first question."""
        self._run = run
        self._max_open = max_open
        self._own = _Process()
        self._inherited: list[_Process] = []
        _EVERYONE.add(self)
        atexit.register(self.close)

    @contextmanager
    def use(self, generation: UUID, sealed: Path, opener: Opener) -> Iterator[Shard]:
        """Lend the opened copy of a sealed folder; opened anew when it was sealed anew.

        Raises `VectorStoreUnavailable` when the folder is gone or damaged.
        """
        copy = self._take(generation, sealed) or self._open(generation, sealed, opener)
        try:
            yield copy.shard
        finally:
            self._give_back(copy)

    def drop(self, generation: UUID) -> None:
        """Close the copy of a generation, now or when its last question is answered."""
        with self._own.lock:
            copy = self._own.copies.pop(generation, None)
        if copy is not None:
            self._retire([copy])

    def close(self) -> None:
        """Close every copy and remove this process's folder; the next question starts anew."""
        ended, self._own = self._own, _Process()
        self._retire(list(ended.copies.values()))
        if ended.home is not None:
            shutil.rmtree(ended.home, ignore_errors=True)
        if ended.alive is not None:
            os.close(ended.alive)

    def forget_inherited(self) -> None:
        """Start anew in a forked child: the parent's shards may be neither used nor closed here."""
        if self._own.alive is not None:
            os.close(self._own.alive)
        self._inherited.append(self._own)
        self._own = _Process()

    def _take(self, generation: UUID, sealed: Path) -> OpenCopy | None:
        try:
            stamp = seal_stamp(sealed)
        except VectorStoreUnavailable:
            self.drop(generation)
            raise
        with self._own.lock:
            copy = self._own.copies.get(generation)
            if copy is None or copy.stamp != stamp:
                return None
            self._own.copies.move_to_end(generation)
            copy.users += 1
            return copy

    def _open(self, generation: UUID, sealed: Path, opener: Opener) -> OpenCopy:
        with self._own.lock:
            opening = self._own.opening.setdefault(generation, Lock())
        with opening:
            copy = self._take(generation, sealed)
            if copy is not None:
                return copy
            stamp = seal_stamp(sealed)
            with storage_faults():
                folder = self._own_home() / f"{generation}-{secrets.token_hex(4)}"
            copy = OpenCopy(_opened(opener, folder), folder, stamp, users=1)
            self._retire(self._keep(generation, copy))
            return copy

    def _keep(self, generation: UUID, copy: OpenCopy) -> list[OpenCopy]:
        """Remember a copy; give those that it replaces or crowds out."""
        with self._own.lock:
            replaced = self._own.copies.pop(generation, None)
            out = [replaced] if replaced is not None else []
            self._own.copies[generation] = copy
            while len(self._own.copies) > self._max_open:
                out.append(self._own.copies.popitem(last=False)[1])
            return out

    def _give_back(self, copy: OpenCopy) -> None:
        with self._own.lock:
            copy.users -= 1
            is_last = copy.is_retired and copy.users == 0
        if is_last:
            _remove(copy)

    def _retire(self, copies: list[OpenCopy]) -> None:
        with self._own.lock:
            for copy in copies:
                copy.is_retired = True
            unused = [copy for copy in copies if copy.users == 0]
        for copy in unused:
            _remove(copy)

    def _own_home(self) -> Path:
        with self._own.lock:
            if self._own.home is not None:
                return self._own.home
            self._run.mkdir(parents=True, exist_ok=True)
            sweep(self._run)
            home, self._own.alive = _claim(self._run)
            self._own.home = home
            return home


def sweep(run: Path) -> None:
    """Remove the folders of processes that are gone, which is when nobody holds their lock."""
    for folder in run.iterdir():
        if folder.name.startswith("."):
            with suppress(OSError):
                if time.time() - folder.stat().st_mtime > _ABANDONED_S:
                    shutil.rmtree(folder, ignore_errors=True)
            continue
        with suppress(OSError), (folder / _LOCK_NAME).open("rb") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            shutil.rmtree(folder, ignore_errors=True)


def _claim(run: Path) -> tuple[Path, int]:
    """Make a folder that shows up under its name only when its lock is already held."""
    name = f"{os.getpid()}-{secrets.token_hex(6)}"
    hidden = run / f".{name}"
    hidden.mkdir(mode=0o700)
    alive = os.open(hidden / _LOCK_NAME, os.O_RDWR | os.O_CREAT, 0o600)
    fcntl.flock(alive, fcntl.LOCK_EX)
    return hidden.rename(run / name), alive


def _opened(opener: Opener, folder: Path) -> Shard:
    try:
        return opener(folder)
    except VectorStoreUnavailable:
        shutil.rmtree(folder, ignore_errors=True)
        raise


def _remove(copy: OpenCopy) -> None:
    with suppress(VectorStoreUnavailable):
        close_shard(copy.shard)
    shutil.rmtree(copy.folder, ignore_errors=True)


_EVERYONE: weakref.WeakSet[PrivateCopies] = weakref.WeakSet()


def _after_fork() -> None:
    for copies in list(_EVERYONE):
        copies.forget_inherited()


os.register_at_fork(after_in_child=_after_fork)
