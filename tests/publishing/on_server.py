"""A small generation on a server, and a question to it."""

from __future__ import annotations

from typing import Any, Final

from publishing.adapters.qdrant_server import QdrantServerStore
from publishing.domain.query import build_request, make_filter, render_query_text
from publishing.ports import HybridAnswer, HybridQuery, StoredGeneration
from tests.fakes import BagOfWordsEmbedder
from tests.publishing.points import COLLECTION, a_generation, a_unit, some_points

EMBEDDER: Final = BagOfWordsEmbedder()
TITLES: Final = ("Fascia pediatrica", "Ablazione cardiaca", "Regime di ricovero")
NAME: Final = COLLECTION


def build(store: QdrantServerStore, generation: StoredGeneration | None = None) -> StoredGeneration:
    generation = generation or a_generation()
    units = [a_unit(title) for title in TITLES]
    store.build(generation, [some_points(units, generation, EMBEDDER)])
    return generation


def question(generation: StoredGeneration, text: str = "ablazione", **changes: Any) -> HybridQuery:
    request = build_request({"query": text, "purpose": "disambiguation", **changes})
    rendered = render_query_text(request)
    vector = EMBEDDER.embed_query(rendered)
    return HybridQuery(rendered, vector, make_filter(request, generation.key))


def ask(store: QdrantServerStore, generation: StoredGeneration) -> HybridAnswer:
    return store.query(generation, question(generation))
