"""The vector store on a Qdrant server, in a collection shared with records that are not ours."""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator, Sequence
from typing import Final
from uuid import UUID

from publishing.adapters import edge_engine as engine
from publishing.adapters import server_collection, server_generation
from publishing.adapters import server_requests as ask
from publishing.adapters.server_answers import Found
from publishing.adapters.server_api import Answer, QdrantApi
from publishing.domain.digests import PointsDigest, PointsSummary, canonical
from publishing.domain.languages import bm25_language
from publishing.domain.payload import parse_payload
from publishing.domain.points import Point
from publishing.domain.query import check_match
from publishing.domain.scoring import Hit
from publishing.domain.vectors import checked_vector
from publishing.ports import (
    QUESTION_S,
    Beat,
    Census,
    CollectionState,
    HybridAnswer,
    HybridQuery,
    StoredGeneration,
    no_beat,
)

SURE_S: Final = 1.0
"""How long a look at collection and count holds good for the questions that follow."""
UPSERT: Final = 64
"""Points a request: with vectors of 4,096 numbers still far below the server's 32 MB."""


class QdrantServerStore:
    """Generations side by side in collections of one server, told apart by their payload."""

    def __init__(self, url: str, *, api_key: str = "", question_s: float = QUESTION_S) -> None:
        """Take address and key of the server; nothing is asked yet."""
        self._question_s = question_s
        self._api = QdrantApi(url, api_key)
        self._sure: dict[StoredGeneration, float] = {}

    def count_terms(self, language: str, texts: Sequence[str]) -> list[int]:
        """Give the number of distinct terms of each text. Raises `LanguageUnsupported`.

        The server's own analyser cannot be asked; the engine here is the same code.
        """
        return engine.count_terms(language, texts)

    def inspect(self, generation: StoredGeneration) -> CollectionState:
        """Tell what the collection is to vectors of this generation."""
        found = server_collection.read(self._api, generation.collection)
        return server_collection.state(found, generation.dimension)

    def census(self, generation: StoredGeneration) -> Census:
        """Count everything in the generation's collection by its kind."""
        name, dimension = generation.collection, generation.dimension
        return server_collection.census(self._api, name, dimension=dimension)

    def build(
        self,
        generation: StoredGeneration,
        points: Iterable[Sequence[Point]],
        *,
        beat: Beat = no_beat,
    ) -> PointsSummary:
        """Write points beside whatever else is there, and prove that they and no others stand.

        An unfinished build leaves points that no search sees; the next build, or `delete`, takes
        care of them.
        """
        bm25_language(generation.language)
        written = PointsDigest()
        ids: set[UUID] = set()
        for chunk in _checked_chunks(points, dimension=generation.dimension):
            if not ids:
                self._prepare(generation)
            beat()
            self._api.write(ask.upsert(generation, chunk))
            for point in chunk:
                written.add(point.id, canonical(point.payload.as_json()))
                ids.add(point.id)
        if not ids:
            self._prepare(generation)
        return server_generation.prove(self._api, generation, written.summary(), ids, beat=beat)

    def summary(self, generation: StoredGeneration, *, beat: Beat = no_beat) -> PointsSummary:
        """Read count and digest back, and prove that every point has both its vectors."""
        return server_generation.summary(self._api, generation, beat=beat)

    def query(self, generation: StoredGeneration, query: HybridQuery) -> HybridAnswer:
        """Answer with one batch; every hit is checked against the whole filter here too."""
        checked_vector(query.vector, dimension=generation.dimension)
        until = time.monotonic() + self._question_s
        self._make_sure(generation, until=until)
        call = ask.hybrid(generation, query, timeout_s=max(1, round(self._question_s)))
        answer = self._api.send(call, until=until)
        if answer.is_refused:
            self._forget(generation)
            self._make_sure(generation, until=until)
        read = _read(answer, branches=query.branches)
        for hit in (*read.fused, *read.dense, *read.bm25):
            check_match(hit.payload, query.filter)
        return read

    def delete(self, generation: StoredGeneration) -> None:
        """Delete this generation's evidence; a missing generation or collection is fine."""
        self._forget(generation)
        if server_collection.read(self._api, generation.collection) is not None:
            self._api.write(ask.delete_generation(generation))

    def close(self) -> None:
        """Close the connections of this process."""
        self._api.close()

    def _prepare(self, generation: StoredGeneration) -> None:
        self._forget(generation)
        name, dimension = generation.collection, generation.dimension
        server_collection.prepare(self._api, name, dimension=dimension)

    def _make_sure(self, generation: StoredGeneration, *, until: float) -> None:
        """Look whether the collection can answer and the generation is whole, once a second."""
        if time.monotonic() < self._sure.get(generation, 0.0):
            return
        name = generation.collection
        found = server_collection.read(self._api, name, until=until)
        server_collection.check(found, name, dimension=generation.dimension)
        server_generation.check_whole(self._api, generation, until=until)
        now = time.monotonic()
        fresh = {one: end for one, end in list(self._sure.items()) if end > now}
        self._sure = {**fresh, generation: now + SURE_S}

    def _forget(self, generation: StoredGeneration) -> None:
        kept = list(self._sure.items())
        self._sure = {one: end for one, end in kept if one.id != generation.id}


def _checked_chunks(
    points: Iterable[Sequence[Point]], *, dimension: int
) -> Iterator[Sequence[Point]]:
    """Give the points in requests' worth; a batch with a bad vector is refused as a whole."""
    for batch in points:
        for point in batch:
            checked_vector(point.dense, dimension=dimension)
        for start in range(0, len(batch), UPSERT):
            yield batch[start : start + UPSERT]


def _read(answer: Answer, *, branches: bool) -> HybridAnswer:
    """Read the lists of a batch in the order in which `server_requests.hybrid` asks for them."""
    if branches:
        fused, best, dense, bm25 = answer.as_(tuple[Found, Found, Found, Found])
        return _answer(fused, best, dense=_hits(dense), bm25=_hits(bm25))
    fused, best = answer.as_(tuple[Found, Found])
    return _answer(fused, best)


def _answer(
    fused: Found, best: Found, *, dense: tuple[Hit, ...] = (), bm25: tuple[Hit, ...] = ()
) -> HybridAnswer:
    similarity = best.points[0].score if best.points else None
    return HybridAnswer(fused=_hits(fused), best_dense=similarity, dense=dense, bm25=bm25)


def _hits(found: Found) -> tuple[Hit, ...]:
    return tuple(
        Hit(score=point.score, payload=parse_payload(point.payload)) for point in found.points
    )
