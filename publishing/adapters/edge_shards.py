"""A folder of the embedded engine, bare: its configuration, and how it is filled and read back.

Imports the engine and nothing that starts slowly, for the program that fills a folder. Raises what
the engine raises; `edge_engine` turns that into our faults.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

import qdrant_edge as edge

DENSE = ""
SPARSE = "bm25"
KEYWORDS = ("purposes", "evidence_kind", "concepts", "tables", "columns")
"""What is filtered on: in a folder of one generation everything else is a constant."""
_PAGE = 256

Shard = edge.EdgeShard
Bare = tuple[str, dict[str, object], list[float]]
"""A point's id, payload and dense vector; its text is in the payload."""


class VectorsMissing(Exception):
    """The engine gave back a point without both its vectors."""


def config(dimension: int) -> edge.EdgeConfig:
    """Give the vectors of a folder; the write-ahead log is on."""
    return edge.EdgeConfig(
        vectors=edge.EdgeVectorParams(size=dimension, distance=edge.Distance.Cosine),
        sparse_vectors={SPARSE: edge.EdgeSparseVectorParams(modifier=edge.Modifier.Idf)},
        max_search_threads=1,
        wal_enabled=True,
    )


def analyser(language: str, avg_len: int) -> edge.Bm25:
    """Give BM25 for the engine's name of a language, with the options of spec 50."""
    return edge.Bm25(edge.Bm25Config(language=language, avg_len=float(avg_len), ascii_folding=True))


def create(folder: Path, *, dimension: int) -> Shard:
    """Create an empty shard with its keyword indexes."""
    shard = edge.EdgeShard.create(str(folder), config(dimension))
    for field in KEYWORDS:
        shard.update(edge.UpdateOperation.create_field_index(field, edge.PayloadSchemaType.Keyword))
    return shard


def upsert(shard: Shard, points: Sequence[Bare], bm25: edge.Bm25) -> None:
    """Write points, each with its dense and its sparse vector."""
    made = [
        edge.Point(
            point_id, {DENSE: dense, SPARSE: bm25.embed_document(str(payload["text"]))}, payload
        )
        for point_id, payload, dense in points
    ]
    shard.update(edge.UpdateOperation.upsert_points(made))


def read_back(shard: Shard) -> Iterator[tuple[str, Mapping[str, object]]]:
    """Give every point as stored. Raises `VectorsMissing` when one lacks a vector."""
    offset: edge.PointId | None = None
    while True:
        records, offset = shard.scroll(
            edge.ScrollRequest(offset=offset, limit=_PAGE, with_payload=True, with_vector=True)
        )
        for record in records:
            if not isinstance(record.vector, dict) or {DENSE, SPARSE} - record.vector.keys():
                raise VectorsMissing(str(record.id))
            yield str(record.id), record.payload or {}
        if offset is None:
            return
