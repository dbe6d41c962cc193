"""Look up objects of one repository one after the other, with a single Git process."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Final

from evidence.adapters import git_process
from evidence.messages import gettext_noop
from evidence.ports import RepositoryBroken

PIPE_BYTES: Final = 4_000
"""Questions of so many bytes always fit in a pipe that nobody reads."""


@dataclass(frozen=True, slots=True)
class Stored:
    """One object: its id, its kind (commit, tree, blob, tag) and its bytes."""

    id: str
    kind: str
    data: bytes


class Lookup:
    """Asks a running `git cat-file --batch`; what others write meanwhile is seen as well."""

    def __init__(self, ask: IO[bytes], answers: IO[bytes]) -> None:
        """Take both ends of the conversation."""
        self._ask = ask
        self._answers = answers
        self._kept: dict[str, Stored] = {}

    def fetch(self, names: Iterable[str]) -> None:
        """Ask for much at once, so that `get` need not wait; what is missing is passed over.

        On a busy machine each wait costs a turn of the processor. What does not fit in the pipe is
        left to `get`: both sides would wait for each other.
        """
        requests: list[bytes] = []
        room = PIPE_BYTES
        for request in map(_request, dict.fromkeys(names)):
            room -= len(request)
            if room < 0 or b"\n" in request[:-1]:
                break
            requests.append(request)
        self._say(b"".join(requests))
        for _ in requests:
            self._hear()

    def find(self, name: str) -> Stored | None:
        """Give what a name without line breaks stands for, or None. Raises `RepositoryBroken`."""
        self._say(_request(name))
        return self._hear()

    def get(self, object_id: str, kind: str) -> bytes:
        """Give the bytes of an object that must be there. Raises `RepositoryBroken`."""
        found = self._kept.get(object_id) or self.find(object_id)
        if found is None or found.kind != kind:
            raise _unreadable()
        return found.data

    def _say(self, requests: bytes) -> None:
        try:
            self._ask.write(requests)
            self._ask.flush()
        except BrokenPipeError as error:
            raise _unreadable() from error

    def _hear(self) -> Stored | None:
        header = self._answers.readline()
        if header.endswith((b" missing\n", b" ambiguous\n", b" submodule\n")):
            return None
        found = self._read(header.split())
        self._kept[found.id] = found
        return found

    def _read(self, header: list[bytes]) -> Stored:
        if len(header) != 3:
            raise _unreadable()
        object_id, kind, size = (part.decode() for part in header)
        data = self._answers.read(int(size) + 1)
        if len(data) != int(size) + 1:
            raise _unreadable()
        return Stored(object_id, kind, data[:-1])


@contextmanager
def lookup(directory: Path) -> Iterator[Lookup]:
    """Open the objects of a bare repository; the process is gone afterwards in any case."""
    with git_process.conversation(directory, "cat-file", "--batch") as (ask, answers):
        yield Lookup(ask, answers)


def _request(name: str) -> bytes:
    return name.encode("utf-8", "surrogateescape") + b"\n"


def _unreadable() -> RepositoryBroken:
    return RepositoryBroken(gettext_noop("The repository cannot be read."))
