"""Fills a folder with an engine that panics, which is no `Exception`."""

from __future__ import annotations

import sys

from publishing.adapters import edge_filler, edge_shards


class PanicException(BaseException):
    """What the binding raises for a panic."""


def upsert(*_: object) -> None:
    raise PanicException("index out of bounds")


edge_shards.upsert = upsert  # type: ignore[assignment]
edge_filler.main(sys.argv[1:])
