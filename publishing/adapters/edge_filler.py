"""The program that fills one folder of the embedded engine, so that its faults stay in it.

Run as `python -m publishing.adapters.edge_filler <worker's pid>`. The engine holds the interpreter
while it works, and a full disk under a mapped file ends a process at once: here neither stops the
worker, which renews its lease meanwhile (spec 50, Ownership). Points come on stdin, told in
`edge_filling`; signs of life and then one JSON object go to stdout: `{"count", "digest", "files"}`,
or `{"error", "errno"}`. It dies with its worker, and needs 60 ms to start.
"""

from __future__ import annotations

import ctypes
import json
import os
import re
import signal
import sys
from array import array
from collections.abc import Iterator, Sequence
from pathlib import Path
from struct import Struct
from typing import BinaryIO, Final

from publishing.adapters import edge_shards as shards
from publishing.adapters.edge_files import make_durable
from publishing.domain.digests import PointsDigest, canonical

PR_SET_PDEATHSIG: Final = 1
HEAD: Final = Struct("<II")
"""Before a message: the length of its JSON, then that of its vectors; both 0 at the end."""
ALIVE: Final = b"."
OS_ERROR: Final = re.compile(r"\(os error (\d+)\)")

Message = tuple[str, bytes]


def main(arguments: list[str]) -> None:
    """Fill a folder until the end of the points, and say what it holds."""
    ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)
    if os.getppid() != int(arguments[0]):  # it died before it could be told apart
        return
    try:
        said = _filled(_messages(sys.stdin.buffer))
    except BaseException as error:  # noqa: BLE001 - the engine panics with a bare BaseException
        said = {"error": f"{type(error).__name__}: {error}"[:500], "errno": _errno(error)}
    sys.stdout.buffer.write(json.dumps(said).encode())
    sys.stdout.buffer.flush()


def _filled(messages: Iterator[Message]) -> dict[str, object]:
    order = json.loads(next(messages)[0])
    folder, dimension = Path(order["folder"]), int(order["dimension"])
    bm25 = shards.analyser(order["language"], order["avg_len"])
    shard = shards.create(folder, dimension=dimension)
    for text, numbers in messages:
        shards.upsert(shard, _points(text, numbers, dimension), bm25)
    shard.flush()
    digest = PointsDigest()
    for number, (point_id, payload) in enumerate(shards.read_back(shard)):
        digest.add(point_id, canonical(payload))
        _show_life(number)
    shard.close()
    found = digest.summary()
    return {"count": found.count, "digest": found.digest, "files": _on_disk(folder)}


def _errno(error: BaseException) -> int | None:
    """Give the number of the system's error; the engine has it in its words alone."""
    if isinstance(error, OSError):
        return error.errno
    found = OS_ERROR.search(str(error))
    return int(found[1]) if found else None


def _on_disk(folder: Path) -> dict[str, str]:
    files: dict[str, str] = {}
    for name, hashed in make_durable(folder):
        files[name] = hashed
        _show_life(0)
    return files


def _messages(stdin: BinaryIO) -> Iterator[Message]:
    while True:
        text_size, numbers_size = HEAD.unpack(_exactly(stdin, HEAD.size))
        if not text_size:
            return
        yield _exactly(stdin, text_size).decode(), _exactly(stdin, numbers_size)


def _exactly(stdin: BinaryIO, size: int) -> bytes:
    data = stdin.read(size)
    if len(data) != size:
        raise EOFError("the worker left")
    return data


def _points(text: str, numbers: bytes, dimension: int) -> Sequence[shards.Bare]:
    dense = array("f", numbers)
    return [
        (point_id, payload, dense[place * dimension : (place + 1) * dimension].tolist())
        for place, (point_id, payload) in enumerate(json.loads(text))
    ]


def _show_life(number: int) -> None:
    if number % 1000 == 0:
        sys.stdout.buffer.write(ALIVE)
        sys.stdout.buffer.flush()


if __name__ == "__main__":
    main(sys.argv[1:])
