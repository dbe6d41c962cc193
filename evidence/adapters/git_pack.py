"""Hand new objects to Git in one stream: it stores all of them, safely on disk, or none."""

from __future__ import annotations

import hashlib
import zlib
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from evidence.adapters import git_process

UNPACKED: Final = 100
"""Up to so many objects become single files, more stay one pack: Git's own `unpackLimit`."""
_KINDS: Final = {"commit": 1, "tree": 2, "blob": 3}
_SEVEN_BITS: Final = 0x7F
_MORE: Final = 0x80


@dataclass(frozen=True, slots=True)
class Made:
    """An object that is not stored yet, and the binary id that Git will give it."""

    kind: str
    data: bytes
    id: bytes = field(init=False)

    def __post_init__(self) -> None:
        """Name it by its content, as Git does (gitformat-loose)."""
        header = b"%s %d\0" % (self.kind.encode(), len(self.data))
        name = hashlib.sha1(header + self.data, usedforsecurity=False).digest()
        object.__setattr__(self, "id", name)


def store(directory: Path, objects: Iterable[Made]) -> None:
    """Store objects and return when they would survive a power cut. Raises `RepositoryBroken`."""
    wanted = tuple({made.id: made for made in objects}.values())
    if len(wanted) <= UNPACKED:
        # Git compresses each again for its own file, so here it would be for nothing.
        git_process.output(directory, "unpack-objects", "-q", stdin=_pack(wanted, level=0))
    else:
        git_process.output(directory, "index-pack", "--stdin", stdin=_pack(wanted, level=-1))


def _pack(objects: Sequence[Made], *, level: int) -> bytes:
    """Give a pack of whole objects (gitformat-pack, version 2)."""
    parts = [b"PACK" + (2).to_bytes(4) + len(objects).to_bytes(4)]
    for made in objects:
        parts += [bytes(_header(made)), zlib.compress(made.data, level)]
    body = b"".join(parts)
    return body + hashlib.sha1(body, usedforsecurity=False).digest()


def _header(made: Made) -> Iterator[int]:
    """Give kind and size: four bits of the size beside the kind, then seven a byte."""
    size = len(made.data)
    byte, size = (_KINDS[made.kind] << 4) | (size & 0x0F), size >> 4
    while size:
        yield byte | _MORE
        byte, size = size & _SEVEN_BITS, size >> 7
    yield byte
