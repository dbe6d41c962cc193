"""Fills a folder with an engine that says in words alone that the disk is full."""

from __future__ import annotations

import sys

from publishing.adapters import edge_filler, edge_shards


def upsert(*_: object) -> None:
    raise Exception("Service runtime error: No space left on device (os error 28)")  # noqa: TRY002


edge_shards.upsert = upsert  # type: ignore[assignment]
edge_filler.main(sys.argv[1:])
