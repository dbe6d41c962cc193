"""Files of a folder of vectors: hashed, copied byte by byte, made durable.

The engine's files are sparse, many megabytes of holes: a file's hash is taken over its size and its
non-zero blocks with their offsets, which is the same for equal content however a file system stores
it, and reading skips the holes. Standard library alone, so that a program that uses it starts fast.
"""

from __future__ import annotations

import errno
import hashlib
import os
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO

_BLOCK = 64 * 1024
_ZEROS = bytes(_BLOCK)


def make_durable(folder: Path) -> Iterator[tuple[str, str]]:
    """Put every file and directory below a folder on disk, and give each file's hash by its name.

    Names are relative to the folder, with slashes.
    """
    for path in files_below(folder):
        with path.open("rb") as file:
            yield path.relative_to(folder).as_posix(), file_digest(file)
            os.fsync(file.fileno())
    for directory in (*(path for path in folder.rglob("*") if path.is_dir()), folder):
        sync_directory(directory)


def sync_directory(directory: Path) -> None:
    """Make a directory's entries durable."""
    descriptor = os.open(directory, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def files_below(folder: Path) -> list[Path]:
    """List everything below a folder that is no directory."""
    return sorted(path for path in folder.rglob("*") if not path.is_dir() or path.is_symlink())


def file_digest(source: BinaryIO, copy: BinaryIO | None = None) -> str:
    """Give `sha256:` and the hash of a file, and write the same bytes into `copy` on the way."""
    size = os.fstat(source.fileno()).st_size
    digest = hashlib.sha256(b"%d" % size)
    for offset, block in _blocks(source.fileno(), size):
        digest.update(b"\n%d:" % offset)
        digest.update(block)
        if copy is not None:
            copy.seek(offset)
            copy.write(block)
    if copy is not None:
        copy.truncate(size)
    return f"sha256:{digest.hexdigest()}"


def _blocks(descriptor: int, size: int) -> Iterator[tuple[int, bytes]]:
    offset = _next_data(descriptor, 0, size)
    while offset < size:
        block = os.pread(descriptor, _BLOCK, offset)
        if block != _ZEROS[: len(block)]:
            yield offset, block
        offset = _next_data(descriptor, offset + _BLOCK, size)


def _next_data(descriptor: int, offset: int, size: int) -> int:
    """Give the start of the block with the next stored byte, or `size`; holes are only zeros."""
    if offset >= size:
        return size
    try:
        return os.lseek(descriptor, offset, os.SEEK_DATA) // _BLOCK * _BLOCK
    except OSError as error:
        # ENXIO: only a hole follows. Anything else: this file system cannot tell, so read it all.
        return size if error.errno == errno.ENXIO else offset
