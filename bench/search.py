"""What one question costs in few fragments and in ten times as many, the embedding left out.

Every fragment passes the filters and holds words of the question, the worst there is; even so ten
times as many fragments must cost clearly less than ten times as much.
"""

from __future__ import annotations

import tempfile
from collections.abc import Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import Final

from bench.measured import Measured, seconds, side_by_side
from publishing.adapters.qdrant_edge import QdrantEdgeStore
from publishing.domain.points import Point
from publishing.domain.query import SearchRequest, build_request
from publishing.hybrid import search_generation
from publishing.ports import StoredGeneration
from tests.fakes import BagOfWordsEmbedder
from tests.publishing.points import a_generation, a_unit, some_points

FRAGMENTS: Final = (1_000, 10_000)
ROUNDS: Final = 30
BATCH: Final = 500
EMBEDDER: Final = BagOfWordsEmbedder()


def measure() -> Measured:
    """Ask the same question of 1,000 and of 10,000 fragments, in turns."""
    request = build_request({"query": "Che cosa significa regola 7?", "purpose": "disambiguation"})
    with tempfile.TemporaryDirectory(prefix="bench-") as folder:
        store = QdrantEdgeStore(Path(folder))
        works = {
            f"{count:,} fragments": partial(_ask, store, built(store, count), request)
            for count in FRAGMENTS
        }
        for ask in works.values():
            ask(0)  # The first question copies and opens the sealed folder.
        found = side_by_side("ask one question", works, rounds=ROUNDS, target=8)
        store.close()
    return found


def built(store: QdrantEdgeStore, count: int) -> StoredGeneration:
    """Give a generation of `count` fragments that is in the store."""
    generation = a_generation(str(count))
    store.build(generation, _batches(generation, count))
    return generation


def _batches(generation: StoredGeneration, count: int) -> Iterator[Sequence[Point]]:
    for first in range(0, count, BATCH):
        units = [a_unit(f"Regola {number}") for number in range(first, first + BATCH)]
        yield some_points(units, generation, EMBEDDER)


def _ask(
    store: QdrantEdgeStore, generation: StoredGeneration, request: SearchRequest, _turn: int
) -> float:
    return seconds(
        lambda: search_generation(
            generation, request, store=store, embedder=EMBEDDER, threshold=None
        )
    )
