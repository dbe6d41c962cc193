"""Sealed folders: closed for good, with a manifest of hashes that a copy is checked against.

The engine answered silently wrong from 9 of 110 damaged files (spec 90, Facts), so nothing is read
that does not have the bytes it was sealed with. The engine's files are sparse, many megabytes of
holes: a file's hash is taken over its size and its non-zero blocks with their offsets, which is the
same for equal content however a file system stores it, and reading skips the holes.
"""

from __future__ import annotations

import errno
import hashlib
import json
import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

from evidence.messages import Message, gettext_noop
from publishing.domain.points import PointsSummary
from publishing.ports import VectorStoreUnavailable

SEAL_NAME = "seal.json"
SHARD_NAME = "shard"
_BLOCK = 64 * 1024
_ZEROS = bytes(_BLOCK)
_WRONG = gettext_noop("The stored vectors of this generation are damaged or gone.")
_FAILED = gettext_noop("The folder of vectors cannot be read or written.")


@dataclass(frozen=True, slots=True)
class Seal:
    """What a sealed folder holds: whose points, how many, and the hash of every file."""

    about: Mapping[str, str | int]
    points: PointsSummary
    files: Mapping[str, str]


def damaged() -> VectorStoreUnavailable:
    """Give the fault for a folder that is not what was sealed."""
    return VectorStoreUnavailable(Message(_WRONG))


@contextmanager
def storage_faults() -> Iterator[None]:
    """Turn what the operating system says about files into `VectorStoreUnavailable`."""
    try:
        yield
    except FileNotFoundError as error:
        raise damaged() from error
    except OSError as error:
        raise VectorStoreUnavailable(Message(_FAILED)) from error


def seal_folder(folder: Path, *, about: Mapping[str, str | int], points: PointsSummary) -> None:
    """Hash every file under `<folder>/shard`, make all of it durable, and write the seal last."""
    shard = folder / SHARD_NAME
    files: dict[str, str] = {}
    for path in _files(shard):
        with path.open("rb") as file:
            files[path.relative_to(shard).as_posix()] = _digest(file)
            os.fsync(file.fileno())
    body = {"about": dict(about), "count": points.count, "digest": points.digest, "files": files}
    with (folder / SEAL_NAME).open("x", encoding="utf-8") as seal:
        json.dump({"seal": body, "sha256": _body_digest(body)}, seal, indent=1, sort_keys=True)
        seal.flush()
        os.fsync(seal.fileno())
    for directory in (*(path for path in shard.rglob("*") if path.is_dir()), shard, folder):
        sync_directory(directory)


def read_seal(folder: Path) -> Seal:
    """Read a folder's seal and check it against its own hash. Raises `VectorStoreUnavailable`."""
    with storage_faults():
        text = (folder / SEAL_NAME).read_bytes()
    try:
        sealed = json.loads(text)
        body = sealed["seal"]
        if sealed["sha256"] != _body_digest(body):
            raise damaged()
        points = PointsSummary(count=body["count"], digest=body["digest"])
        return Seal(about=body["about"], points=points, files=body["files"])
    except (ValueError, KeyError, TypeError) as error:
        raise damaged() from error


def seal_stamp(folder: Path) -> tuple[int, int, int]:
    """Give what changes when a folder is sealed anew: raises `VectorStoreUnavailable` when gone."""
    with storage_faults():
        status = (folder / SEAL_NAME).stat()
    return (status.st_ino, status.st_mtime_ns, status.st_size)


def copy_sealed(folder: Path, target: Path, seal: Seal) -> None:
    """Copy the shard of a sealed folder and check each byte on the way; `target` must not exist.

    Raises `VectorStoreUnavailable` when a file is missing, unknown, or not what was sealed.
    """
    shard = folder / SHARD_NAME
    with storage_faults():
        found = {path.relative_to(shard).as_posix(): path for path in _files(shard)}
        if found.keys() != seal.files.keys():
            raise damaged()
        target.mkdir(parents=True)
        for directory in shard.rglob("*"):
            if directory.is_dir():
                (target / directory.relative_to(shard)).mkdir(parents=True, exist_ok=True)
        for name, path in found.items():
            with path.open("rb") as source, (target / name).open("xb") as copy:
                if _digest(source, copy) != seal.files[name]:
                    raise damaged()


def sync_directory(directory: Path) -> None:
    """Make a directory's entries durable."""
    descriptor = os.open(directory, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def _files(shard: Path) -> list[Path]:
    return sorted(path for path in shard.rglob("*") if not path.is_dir() or path.is_symlink())


def _body_digest(body: object) -> str:
    return hashlib.sha256(json.dumps(body, sort_keys=True).encode()).hexdigest()


def _digest(source: BinaryIO, copy: BinaryIO | None = None) -> str:
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
