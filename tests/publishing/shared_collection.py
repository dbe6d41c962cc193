"""A collection that others filled before us, and what of it must never change."""

from __future__ import annotations

import os
import random
from contextlib import suppress
from typing import Any, Final
from uuid import UUID, uuid5

import httpx

from publishing.adapters.bounded_http import Call
from publishing.ports import Census
from tests.publishing.points import SPACE

KINDS: Final = {"schema_table": 7, "schema_column": 9, "memory": 6, "solved_question": 4}
"""Records that are not ours, by kind (spec 50, Collection contract)."""
OTHERS: Final = frozenset(KINDS)


def create(url: str, name: str, *, dimension: int, **config: Any) -> None:
    """Create a collection with an unnamed dense vector and nothing else, or as asked."""
    body = {"vectors": {"size": dimension, "distance": "Cosine"}, **config}
    _sent("PUT", f"{url}/collections/{name}", body)


def fill(url: str, name: str, *, dimension: int) -> None:
    """Write records of every kind: numbers and UUIDs as ids, the unnamed vector alone."""
    chance = random.Random(dimension)  # noqa: S311
    points = []
    for number, kind in enumerate(kind for kind, count in KINDS.items() for _ in range(count)):
        identity: int | str = number if number % 2 else str(other_id(number))
        vector = [chance.uniform(-1, 1) for _ in range(dimension)]
        payload = {"record_kind": kind, "text": f"Record {number}", "kind": kind}
        points.append({"id": identity, "vector": vector, "payload": payload})
    upsert(url, name, points)


def upsert(url: str, name: str, points: list[Any]) -> None:
    """Write points as they are."""
    _sent("PUT", f"{url}/collections/{name}/points?wait=true", {"points": points})


def searched(url: str, name: str, searches: list[Any]) -> list[list[Any]]:
    """Give the points that each query finds."""
    path = f"{url}/collections/{name}/points/query/batch"
    return [one["points"] for one in _sent("POST", path, {"searches": searches})]


def sent(url: str, call: Call) -> Any:
    """Send one of the portal's own requests."""
    return _sent(call.method, url + call.path, call.body)


def other_id(number: int) -> UUID:
    return uuid5(SPACE, f"other {number}")


def of_others(census: Census) -> tuple[dict[str, int], dict[str, tuple[str, ...]]]:
    """Give counts and sample ids of the records that are not ours."""
    counts = {kind: count for kind, count in census.counts.items() if kind in OTHERS}
    ids = {kind: found for kind, found in census.sample_ids.items() if kind in OTHERS}
    return counts, ids


def dense_results(url: str, name: str, *, dimension: int) -> list[list[tuple[Any, float]]]:
    """Ask as others do: dense alone, their kind alone; ids with their scores, best first."""
    chance = random.Random(7)  # noqa: S311
    searches = [
        {
            "query": [chance.uniform(-1, 1) for _ in range(dimension)],
            "filter": {"must": [{"key": "record_kind", "match": {"value": kind}}]},
            "limit": 20,
        }
        for kind in KINDS
    ]
    lists = searched(url, name, searches)
    return [[(point["id"], round(point["score"], 6)) for point in points] for points in lists]


def everything(url: str, name: str) -> list[Any]:
    """Read every record that is not ours, whole: id, payload and the unnamed vector."""
    filter_ = {"must": [{"key": "record_kind", "match": {"any": sorted(OTHERS)}}]}
    body = {"filter": filter_, "limit": 100, "with_payload": True, "with_vector": True}
    found: list[Any] = _sent("POST", f"{url}/collections/{name}/points/scroll", body)["points"]
    return [{**one, "vector": _unnamed(one["vector"])} for one in found]


def _unnamed(vector: Any) -> Any:
    """Give the one vector of a record, which a server may or may not put under its empty name."""
    return vector[""] if isinstance(vector, dict) and list(vector) == [""] else vector


def config(url: str, name: str) -> Any:
    """Read the vectors and indexes of a collection."""
    info = _sent("GET", f"{url}/collections/{name}", None)
    return info["config"]["params"], info["payload_schema"]


def delete(url: str, name: str) -> None:
    """Delete a collection; one that is not there is fine."""
    with suppress(NotThere):
        _sent("DELETE", f"{url}/collections/{name}", None)


class NotThere(Exception):
    """The server knows no such collection."""


def _sent(method: str, url: str, body: Any) -> Any:
    key = os.environ.get("QDRANT_API_KEY", "")
    headers = {"api-key": key} if key else {}
    answer = httpx.request(method, url, json=body, headers=headers, timeout=30, trust_env=False)
    if answer.status_code == 404:
        raise NotThere(url)
    answer.raise_for_status()
    return answer.json()["result"]
