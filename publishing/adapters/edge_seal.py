"""Sealed folders: closed for good, with a manifest of hashes that a copy is checked against.

The engine answered silently wrong from 9 of 110 damaged files (spec 90, Facts), so nothing is read
that does not have the bytes it was sealed with.
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

from evidence.messages import Message, gettext_noop
from publishing.adapters.edge_files import file_digest, files_below, sync_directory
from publishing.domain.digests import PointsSummary
from publishing.ports import VectorStoreUnavailable

SEAL_NAME = "seal.json"
SHARD_NAME = "shard"
ROOM = 64 * 1024 * 1024
"""Bytes that must be free before a folder is opened."""
DISK_FULL = gettext_noop("The disk for vectors is full.")
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
        is_full = error.errno in (errno.ENOSPC, errno.EDQUOT)
        raise VectorStoreUnavailable(Message(DISK_FULL if is_full else _FAILED)) from error


def check_room(folder: Path) -> None:
    """Refuse to open a folder of the engine on a disk that is nearly full.

    The engine writes through mapped files while it opens one, and where no block is left for them
    the system ends the whole process (SIGBUS). Raises `VectorStoreUnavailable`.
    """
    with storage_faults():
        disk = os.statvfs(folder)
    if disk.f_bavail * disk.f_frsize < ROOM:
        raise VectorStoreUnavailable(Message(DISK_FULL))


def seal_folder(
    folder: Path, *, about: Mapping[str, str | int], points: PointsSummary, files: Mapping[str, str]
) -> None:
    """Write the seal over files that are on disk, given with their hashes, and make it durable."""
    body = {
        "about": dict(about),
        "count": points.count,
        "digest": points.digest,
        "files": dict(files),
    }
    with (folder / SEAL_NAME).open("x", encoding="utf-8") as seal:
        json.dump({"seal": body, "sha256": _body_digest(body)}, seal, indent=1, sort_keys=True)
        seal.flush()
        os.fsync(seal.fileno())
    sync_directory(folder)


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
        found = {path.relative_to(shard).as_posix(): path for path in files_below(shard)}
        if found.keys() != seal.files.keys():
            raise damaged()
        target.mkdir(parents=True)
        for directory in shard.rglob("*"):
            if directory.is_dir():
                (target / directory.relative_to(shard)).mkdir(parents=True, exist_ok=True)
        for name, path in found.items():
            with path.open("rb") as source, (target / name).open("xb") as copy:
                if file_digest(source, copy) != seal.files[name]:
                    raise damaged()


def _body_digest(body: object) -> str:
    return hashlib.sha256(json.dumps(body, sort_keys=True).encode()).hexdigest()
