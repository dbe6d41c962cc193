"""The embedded engine as a worker and a search see it: its answers, and its errors as faults."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import lru_cache
from pathlib import Path
from typing import Any
from uuid import UUID

import qdrant_edge as edge
import structlog

from evidence.faults import Fault
from evidence.messages import Message, gettext_noop
from publishing.adapters import edge_shards as shards
from publishing.adapters.edge_shards import DENSE, SPARSE
from publishing.domain.languages import bm25_language
from publishing.domain.payload import FragmentPayload, parse_payload
from publishing.domain.query import EvidenceFilter
from publishing.domain.scoring import Hit
from publishing.ports import HybridAnswer, HybridQuery, StoredGeneration, VectorStoreUnavailable

_RRF_K = 2
"""Qdrant's own default, `{"rrf": {}}`; the binding has none."""
_FAILED = gettext_noop("The vector engine failed.")

log = structlog.get_logger(__name__)
Shard = shards.Shard


@contextmanager
def engine_faults() -> Iterator[None]:
    """Turn whatever the engine raises, a bare `Exception` or a Rust panic, into our fault.

    A panic is no `Exception`, hence the wide net; our own faults and exits pass.
    """
    try:
        yield
    except (Fault, KeyboardInterrupt, SystemExit, GeneratorExit):
        raise
    except BaseException as error:
        log.exception("vector_engine_failed", error_type=type(error).__name__)
        raise VectorStoreUnavailable(Message(_FAILED)) from error


@lru_cache(maxsize=64)
def analyser(language: str, avg_len: int) -> edge.Bm25:
    """Give BM25 for a language tag with the options of spec 50. Raises `LanguageUnsupported`."""
    name = bm25_language(language)
    with engine_faults():
        return shards.analyser(name, avg_len)


def count_terms(language: str, texts: Sequence[str]) -> list[int]:
    """Give the number of distinct terms of each text, as the engine tokenizes it."""
    bm25 = analyser(language, 1)
    with engine_faults():
        return [len(bm25.embed_document(text).indices) for text in texts]


def load_shard(folder: Path, *, dimension: int) -> Shard:
    """Open a shard; only ever a private copy, because opening rewrites files."""
    with engine_faults():
        return edge.EdgeShard.load(str(folder), shards.config(dimension))


def close_shard(shard: Shard) -> None:
    """Close a shard and release its files."""
    with engine_faults():
        shard.close()


def count(shard: Shard) -> int:
    """Count the points, exactly."""
    with engine_faults():
        return shard.count(edge.CountRequest(exact=True))


def first_ids(shard: Shard, *, limit: int) -> tuple[str, ...]:
    """Give the ids of the first points, in the engine's order."""
    with engine_faults():
        records, _ = shard.scroll(edge.ScrollRequest(limit=limit))
    return tuple(str(record.id) for record in records)


def read_back(shard: Shard) -> Iterator[tuple[UUID, FragmentPayload]]:
    """Give every point as stored, and prove that it has both vectors. Raises `MalformedPayload`."""
    with engine_faults():
        for point_id, payload in shards.read_back(shard):
            yield UUID(point_id), parse_payload(payload)


def answer(shard: Shard, generation: StoredGeneration, query: HybridQuery) -> HybridAnswer:
    """Run one question as one batch: fused, best dense, and the two branches when asked."""
    filter_ = _filter(query.filter)
    with engine_faults():
        sparse = analyser(generation.language, generation.avg_len).embed_query(query.text)
        dense_query = edge.Query.Nearest(list(query.vector), using=DENSE)
        sparse_query = edge.Query.Nearest(sparse, using=SPARSE)
        requests = [
            _fused(generation, [dense_query, sparse_query], filter_),
            _single(dense_query, filter_, limit=1),
        ]
        if query.branches:
            requests += [
                _single(one, filter_, limit=query.depth) for one in (dense_query, sparse_query)
            ]
        lists = shard.query_batch(edge.QueryBatchRequest(requests))
    fused, best, *branches = (tuple(map(_hit, points)) for points in lists)
    dense, bm25 = branches or ((), ())
    return HybridAnswer(
        fused=fused, best_dense=best[0].score if best else None, dense=dense, bm25=bm25
    )


def _fused(
    generation: StoredGeneration, queries: Sequence[edge.Query], filter_: edge.Filter
) -> edge.QueryRequest:
    """Both prefetches carry the full filter, and the fused list is taken whole."""
    prefetches = [
        edge.Prefetch(limit=generation.prefetch, query=query, filter=filter_) for query in queries
    ]
    # The stubs nest the two fusions in a class that is not their parent.
    fusion: Any = edge.Fusion.Dbsf() if generation.fusion == "dbsf" else edge.Fusion.Rrf(k=_RRF_K)
    limit = generation.prefetch * len(queries)
    return edge.QueryRequest(limit=limit, query=fusion, prefetches=prefetches, with_payload=True)


def _single(query: edge.Query, filter_: edge.Filter, *, limit: int) -> edge.QueryRequest:
    return edge.QueryRequest(limit=limit, query=query, filter=filter_, with_payload=True)


def _filter(wanted: EvidenceFilter) -> edge.Filter:
    lists = {
        "purposes": (wanted.purpose,),
        "evidence_kind": wanted.kinds,
        "concepts": wanted.concepts,
        "tables": wanted.tables,
        "columns": wanted.columns,
    }
    return edge.Filter(
        must=[
            edge.FieldCondition(key, match=edge.MatchAny([str(value) for value in values]))
            for key, values in lists.items()
            if values
        ]
    )


def _hit(point: edge.ScoredPoint) -> Hit:
    return Hit(score=point.score, payload=parse_payload(point.payload))
