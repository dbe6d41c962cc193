"""A server's collections in the embedded engine: JSON in, the engine's own answers out."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import qdrant_edge as edge

Json = dict[str, Any]


class NotThere(Exception):
    """No such collection: 404."""


class Refused(Exception):
    """The engine, or the server before it, does not take it: 400."""


class Collection:
    """One collection: a shard, and the configuration that a server would tell."""

    def __init__(self, folder: Path, config: Json) -> None:
        folder.mkdir(parents=True)
        self.vectors: Json = config["vectors"]
        self.sparse: Json = dict(config.get("sparse_vectors") or {})
        self.indexes: dict[str, Json] = {}
        named = self.vectors if "size" not in self.vectors else {"": self.vectors}
        self.shard = edge.EdgeShard.create(
            str(folder),
            edge.EdgeConfig(
                vectors={name: _dense_params(params) for name, params in named.items()},
                sparse_vectors={
                    name: edge.EdgeSparseVectorParams(modifier=_modifier(params))
                    for name, params in self.sparse.items()
                },
                max_search_threads=1,
            ),
        )

    def info(self) -> Json:
        params: Json = {"vectors": self.vectors, "shard_number": 1, "on_disk_payload": True}
        if self.sparse:
            params["sparse_vectors"] = self.sparse
        return {
            "status": "green",
            "optimizer_status": "ok",
            "segments_count": self.shard.info().segments_count,
            "points_count": self.shard.info().points_count,
            "config": {
                "params": params,
                "hnsw_config": {"m": 16, "ef_construct": 100, "full_scan_threshold": 10000},
                "optimizer_config": {
                    "deleted_threshold": 0.2,
                    "vacuum_min_vector_number": 1000,
                    "default_segment_number": 0,
                    "flush_interval_sec": 5,
                },
            },
            "payload_schema": {
                name: {"data_type": schema["type"], "params": schema, "points": 0}
                for name, schema in self.indexes.items()
            },
        }

    def add_vector(self, name: str, config: Json) -> None:
        if "sparse" not in config or name in self.sparse:
            raise Refused(f"Wrong input: cannot add the vector {name}")
        modifier = _modifier(config["sparse"])
        self.shard.update(edge.UpdateOperation.create_sparse_vector(name, modifier))
        self.sparse[name] = config["sparse"]

    def add_index(self, body: Json) -> None:
        schema = body["field_schema"]
        params = schema if isinstance(schema, dict) else {"type": schema}
        if params["type"] != "keyword":
            raise Refused("the stand-in has keyword indexes only")
        kind = edge.KeywordIndexParams(is_tenant=params.get("is_tenant"))
        self.shard.update(edge.UpdateOperation.create_field_index(body["field_name"], kind))
        self.indexes[body["field_name"]] = params

    def upsert(self, body: Json) -> None:
        points = [
            edge.Point(point["id"], _vectors(point["vector"]), point.get("payload") or {})
            for point in body["points"]
        ]
        self.shard.update(edge.UpdateOperation.upsert_points(points))

    def delete(self, body: Json) -> None:
        if "filter" in body:
            operation = edge.UpdateOperation.delete_points_by_filter(_clauses(body["filter"]))
        else:
            operation = edge.UpdateOperation.delete_points(body["points"])
        self.shard.update(operation)

    def scroll(self, body: Json) -> Json:
        records, offset = self.shard.scroll(
            edge.ScrollRequest(
                offset=body.get("offset"),
                limit=body.get("limit", 10),
                filter=_filter(body.get("filter")),
                with_payload=body.get("with_payload", True),
                with_vector=body.get("with_vector", False),
            )
        )
        points = [_record(one) for one in records]
        return {"points": points, "next_page_offset": None if offset is None else _id(offset)}

    def count(self, body: Json) -> Json:
        request = edge.CountRequest(filter=_filter(body.get("filter")), exact=True)
        return {"count": self.shard.count(request)}

    def query(self, searches: list[Json]) -> list[Json]:
        requests = [_query_request(one) for one in searches]
        lists = self.shard.query_batch(edge.QueryBatchRequest(requests))
        return [{"points": [_scored(point) for point in points]} for points in lists]


def _record(record: edge.Record) -> Json:
    found: Json = {"id": _id(record.id), "payload": record.payload}
    if isinstance(record.vector, dict):
        vectors = {name: _vector(one) for name, one in record.vector.items()}
        found["vector"] = vectors[""] if list(vectors) == [""] else vectors
    elif record.vector is not None:
        found["vector"] = record.vector
    return found


def _vector(vector: Any) -> Any:
    if isinstance(vector, edge.SparseVector):
        return {"indices": vector.indices, "values": vector.values}
    return vector


def _scored(point: edge.ScoredPoint) -> Json:
    found = {"id": _id(point.id), "version": point.version, "score": point.score}
    return found if point.payload is None else {**found, "payload": point.payload}


def _id(value: object) -> str | int:
    return value if isinstance(value, int) else str(value)


def _dense_params(params: Json) -> edge.EdgeVectorParams:
    distance = getattr(edge.Distance, params["distance"])
    return edge.EdgeVectorParams(size=params["size"], distance=distance)


def _modifier(params: Json) -> edge.Modifier | None:
    return edge.Modifier.Idf if params.get("modifier") == "idf" else None


def _bm25(document: Json) -> edge.Bm25:
    if document["model"] != "qdrant/bm25":
        raise Refused(f"Service error: no model {document['model']}")
    return edge.Bm25(edge.Bm25Config(**document.get("options", {})))


def _vectors(vector: Any) -> Any:
    if isinstance(vector, list):
        return {"": vector}
    return {
        name: _bm25(value).embed_document(value["text"]) if isinstance(value, dict) else value
        for name, value in vector.items()
    }


def _query(query: Any, using: str) -> Any:
    if isinstance(query, list):
        return edge.Query.Nearest(query, using=using)
    if "model" in query:
        return edge.Query.Nearest(_bm25(query).embed_query(query["text"]), using=using)
    if "rrf" in query:
        return edge.Fusion.Rrf(k=query["rrf"].get("k", 2))
    if query.get("fusion") == "dbsf":
        return edge.Fusion.Dbsf()
    raise Refused(f"the stand-in knows no query {sorted(query)}")


def _query_request(body: Json) -> edge.QueryRequest:
    return edge.QueryRequest(
        limit=body.get("limit", 10),
        query=_query(body["query"], body.get("using", "")),
        filter=_filter(body.get("filter")),
        with_payload=body.get("with_payload", False),
        prefetches=[
            edge.Prefetch(
                limit=one.get("limit", 10),
                query=_query(one["query"], one.get("using", "")),
                filter=_filter(one.get("filter")),
            )
            for one in body.get("prefetch") or []
        ],
    )


def _filter(body: Json | None) -> edge.Filter | None:
    return None if body is None else _clauses(body)


def _clauses(body: Json) -> edge.Filter:
    must, must_not, should = (
        [_condition(one) for one in body[name]] if name in body else None
        for name in ("must", "must_not", "should")
    )
    return edge.Filter(must=must, must_not=must_not, should=should)


def _condition(body: Json) -> Any:
    if "has_vector" in body:
        return edge.HasVectorCondition(body["has_vector"])
    if "has_id" in body:
        return edge.HasIdCondition(body["has_id"])
    if "is_empty" in body:
        return edge.IsEmptyCondition(body["is_empty"]["key"])
    match = body["match"]
    if "any" in match:
        return edge.FieldCondition(body["key"], match=edge.MatchAny(match["any"]))
    return edge.FieldCondition(body["key"], match=edge.MatchValue(match["value"]))
