"""What is asked of a Qdrant server, to the letter of its OpenAPI document (1.18.2).

Pure: generations, points and questions in, requests out. Writes wait until they are done.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final
from urllib.parse import quote
from uuid import UUID

from publishing.adapters.bounded_http import Call
from publishing.adapters.server_filters import TENANT, Json, of_generation, wanted
from publishing.domain.languages import bm25_language
from publishing.domain.points import Point
from publishing.ports import HybridQuery, StoredGeneration

DENSE: Final = ""
"""The unnamed vector, as the server itself calls it."""
SPARSE: Final = "bm25"
MODEL: Final = "qdrant/bm25"
INDEXES: Final = (
    "content_hash",
    "document_id",
    "kind",
    "record_key",
    "record_kind",
    "vector_generation",
    TENANT,
    "workspace_revision",
    "evidence_id",
    "evidence_kind",
    "purposes",
    "concepts",
    "tables",
    "columns",
    "language",
)
"""Keyword indexes, added when absent (spec 50, Collection contract)."""
PAGE: Final = 256
_WAIT: Final[Mapping[str, str | int]] = {"wait": "true", "timeout": 30}


def version() -> Call:
    """Ask which version answers."""
    return Call("GET", "/")


def collection(name: str) -> Call:
    """Ask for a collection's configuration and indexes."""
    return Call("GET", _path(name))


def create_collection(name: str, *, dimension: int) -> Call:
    """Create a collection as spec 50 wants it."""
    body = {
        "vectors": {"size": dimension, "distance": "Cosine"},
        "sparse_vectors": {SPARSE: {"modifier": "idf"}},
    }
    return Call("PUT", _path(name), body, {"timeout": 30})


def add_bm25(name: str) -> Call:
    """Add the sparse vector to a collection that has none; nothing else changes."""
    return Call("PUT", _path(name, f"/vectors/{SPARSE}"), {"sparse": {"modifier": "idf"}}, _WAIT)


def add_index(name: str, field: str) -> Call:
    """Add one keyword index."""
    schema: object = {"type": "keyword", "is_tenant": True} if field == TENANT else "keyword"
    body = {"field_name": field, "field_schema": schema}
    return Call("PUT", _path(name, "/index"), body, _WAIT)


def upsert(generation: StoredGeneration, points: Sequence[Point]) -> Call:
    """Write points: the dense vector as numbers, the sparse one as a text the server analyses."""
    body = {
        "points": [
            {
                "id": str(point.id),
                "vector": {
                    DENSE: list(point.dense),
                    SPARSE: bm25_document(generation, point.text),
                },
                "payload": point.payload.as_json(),
            }
            for point in points
        ]
    }
    return Call("PUT", _path(generation.collection, "/points"), body, _WAIT)


def bm25_document(generation: StoredGeneration, text: str) -> Json:
    """Give a text for the server's own BM25; options are the same at ingest and query."""
    return {
        "text": text,
        "model": MODEL,
        "options": {
            "language": bm25_language(generation.language),
            "avg_len": generation.avg_len,
            "ascii_folding": True,
        },
    }


def hybrid(generation: StoredGeneration, query: HybridQuery, *, timeout_s: int) -> Call:
    """Ask in one batch for the fused list, the best similarity, and the branches when wanted."""
    filter_ = wanted(query.filter)
    dense: Json = {"query": list(query.vector), "filter": filter_}
    sparse: Json = {
        "query": bm25_document(generation, query.text),
        "using": SPARSE,
        "filter": filter_,
    }
    searches = [
        _fused(generation, [dense, sparse]),
        {**dense, "limit": 1, "with_payload": False},
    ]
    if query.branches:
        searches += [{**one, "limit": query.depth, "with_payload": True} for one in (dense, sparse)]
    path = _path(generation.collection, "/points/query/batch")
    return Call("POST", path, {"searches": searches}, {"timeout": timeout_s})


def scroll(name: str, filter_: Json, *, offset: object = None, limit: int = PAGE) -> Call:
    """Read a page of points with their payload and without their vectors."""
    body: dict[str, object] = {"filter": filter_, "limit": limit, "with_payload": True}
    if offset is not None:
        body["offset"] = offset
    return Call("POST", _path(name, "/points/scroll"), body)


def count(name: str, filter_: Json) -> Call:
    """Count points exactly."""
    return Call("POST", _path(name, "/points/count"), {"filter": filter_, "exact": True})


def delete_generation(generation: StoredGeneration) -> Call:
    """Delete one generation's evidence, and nothing that is not evidence."""
    return _delete(generation.collection, {"filter": of_generation(generation)})


def delete_points(name: str, ids: Sequence[UUID]) -> Call:
    """Delete points by their ids."""
    return _delete(name, {"points": [str(one) for one in ids]})


def _fused(generation: StoredGeneration, branches: Sequence[Json]) -> Json:
    """Both prefetches carry the full filter, and the fused list is taken whole."""
    fusion: Json = {"fusion": "dbsf"} if generation.fusion == "dbsf" else {"rrf": {}}
    return {
        "prefetch": [{**branch, "limit": generation.prefetch} for branch in branches],
        "query": fusion,
        "limit": generation.prefetch * len(branches),
        "with_payload": True,
    }


def _delete(name: str, selector: Json) -> Call:
    return Call("POST", _path(name, "/points/delete"), selector, _WAIT)


def _path(name: str, rest: str = "") -> str:
    return f"/collections/{quote(name, safe='')}{rest}"
