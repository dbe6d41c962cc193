"""What the search log adds to a search: the same question with the log on and with the log off.

The log's thread writes to the database meanwhile, as it does in a portal. The embedding is left
out, so that a search is as short as it can be and the log as large a part of it as it can be.
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Final

from django.utils import timezone

from bench.measured import Measured, seconds, side_by_side
from bench.search import EMBEDDER, built
from publishing.adapters.qdrant_edge import QdrantEdgeStore
from publishing.domain.query import SearchRequest, build_request
from publishing.hybrid import search_generation
from publishing.outcomes import Available
from publishing.ports import StoredGeneration
from search_api import search_log

FRAGMENTS: Final = 1_000
ROUNDS: Final = 400


def measure() -> Measured:
    """Ask the same question with the log off and on, in turns; a tenth more is fine."""
    request = build_request({"query": "Che cosa significa regola 7?", "purpose": "disambiguation"})
    with tempfile.TemporaryDirectory(prefix="bench-") as folder:
        store = QdrantEdgeStore(Path(folder))
        generation = built(store, FRAGMENTS)
        works = {
            "log off": partial(_timed, partial(_ask, store, generation, request)),
            "log on": partial(_timed, partial(_ask_and_note, store, generation, request)),
        }
        for ask in works.values():
            ask(0)  # The first question copies and opens the sealed folder.
        found = side_by_side("search and log it", works, rounds=ROUNDS, target=1.1)
        search_log.waiting.close()
        store.close()
    return found


def _timed(work: Callable[[], object], _turn: int) -> float:
    return seconds(work)


def _ask(store: QdrantEdgeStore, generation: StoredGeneration, request: SearchRequest) -> Available:
    found = search_generation(generation, request, store=store, embedder=EMBEDDER, threshold=None)
    return Available(
        generation=generation.id,
        revision=generation.revision,
        confidence=found.confidence,
        results=found.units,
        best_dense=found.best_dense,
        lexical_hits=found.lexical_hits,
    )


def _ask_and_note(
    store: QdrantEdgeStore, generation: StoredGeneration, request: SearchRequest
) -> None:
    search_log.note(
        workspace="bench",
        question=request,
        outcome=_ask(store, generation, request),
        key_prefix="bench",
        now=timezone.now(),
    )
