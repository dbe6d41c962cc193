"""The embedded vector store: one sealed folder an attempt, searched through private copies."""

from __future__ import annotations

import secrets
import shutil
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from publishing.adapters import edge_engine as engine
from publishing.adapters.edge_copies import PrivateCopies
from publishing.adapters.edge_files import sync_directory
from publishing.adapters.edge_filling import fill
from publishing.adapters.edge_seal import (
    SEAL_NAME,
    SHARD_NAME,
    check_room,
    copy_sealed,
    damaged,
    read_seal,
    seal_folder,
    storage_faults,
)
from publishing.domain.digests import PointsDigest, PointsSummary, canonical
from publishing.domain.languages import bm25_language
from publishing.domain.points import Point
from publishing.domain.query import check_match
from publishing.domain.vectors import checked_vector
from publishing.ports import (
    SAMPLE,
    Beat,
    Census,
    CollectionState,
    HybridAnswer,
    HybridQuery,
    StoredGeneration,
    no_beat,
)

RECORD_KIND: Final = "evidence"
_PAGE: Final = 256
"""Points read back between two renewals of a lease."""


class QdrantEdgeStore:
    """Generations in folders `<home>/vectors/<workspace>/<generation>/<attempt>` (spec 50)."""

    def __init__(self, home: Path) -> None:
        """Take the portal's home; nothing is created before the first build or question."""
        self._folder = home / "vectors"
        self._copies = PrivateCopies(home / "run" / "vectors")

    def count_terms(self, language: str, texts: Sequence[str]) -> list[int]:
        """Give the number of distinct terms of each text. Raises `LanguageUnsupported`."""
        return engine.count_terms(language, texts)

    def inspect(self, generation: StoredGeneration) -> CollectionState:
        """Tell whether the folder is missing, this generation's, or another's."""
        sealed = self._attempt(generation)
        if not (sealed / SEAL_NAME).exists():
            return CollectionState.MISSING
        if read_seal(sealed).about != _about(generation):
            return CollectionState.INCOMPATIBLE
        return CollectionState.COMPATIBLE

    def census(self, generation: StoredGeneration) -> Census:
        """Count the fragments of this generation's folder; nothing else can stand there."""
        state = self.inspect(generation)
        if state is not CollectionState.COMPATIBLE:
            return Census(state=state)
        with self._opened(generation) as shard:
            return Census(
                state=state,
                dimension=generation.dimension,
                has_bm25=True,
                counts={RECORD_KIND: engine.count(shard)},
                sample_ids={RECORD_KIND: engine.first_ids(shard, limit=SAMPLE)},
            )

    def build(
        self,
        generation: StoredGeneration,
        points: Iterable[Sequence[Point]],
        *,
        beat: Beat = no_beat,
    ) -> PointsSummary:
        """Fill a new folder, close it, prove what it holds, seal it and put it in its place.

        A folder of the same attempt, finished or not, is replaced: building twice changes nothing.
        """
        bm25_language(generation.language)
        sealed = self._attempt(generation)
        building = sealed.with_name(f".building-{sealed.name}-{secrets.token_hex(4)}")
        try:
            with storage_faults():
                building.mkdir(parents=True)
            said = fill(building / SHARD_NAME, generation, points, beat=beat)
            summary = PointsSummary(count=said.count, digest=said.digest)
            with storage_faults():
                about = _about(generation)
                seal_folder(building, about=about, points=summary, files=said.files)
                _replace(sealed, building)
                _sweep_earlier(sealed)
        finally:
            shutil.rmtree(building, ignore_errors=True)
        return summary

    def summary(self, generation: StoredGeneration, *, beat: Beat = no_beat) -> PointsSummary:
        """Read count and digest back through the engine, from a copy that was checked."""
        digest = PointsDigest()
        with self._opened(generation) as shard:
            for number, (point_id, payload) in enumerate(engine.read_back(shard)):
                digest.add(point_id, canonical(payload.as_json()))
                if number % _PAGE == 0:
                    beat()
        return digest.summary()

    def query(self, generation: StoredGeneration, query: HybridQuery) -> HybridAnswer:
        """Answer from this process's copy; every hit is checked against the whole filter."""
        checked_vector(query.vector, dimension=generation.dimension)
        with self._opened(generation) as shard:
            answer = engine.answer(shard, generation, query)
        for hit in (*answer.fused, *answer.dense, *answer.bm25):
            check_match(hit.payload, query.filter)
        return answer

    def delete(self, generation: StoredGeneration) -> None:
        """Remove every attempt of this generation; a missing one is fine."""
        self._copies.drop(generation.id)
        folder = self._attempt(generation).parent
        with storage_faults():
            if folder.exists():
                # Renamed first, so that a reader finds all of it or nothing.
                folder.rename(folder.with_name(f".deleted-{secrets.token_hex(6)}"))
            for doomed in folder.parent.glob(".deleted-*"):
                shutil.rmtree(doomed, ignore_errors=True)

    def close(self) -> None:
        """Close the copies of this process and remove them."""
        self._copies.close()

    def _attempt(self, generation: StoredGeneration) -> Path:
        workspace, attempt = generation.workspace, str(generation.attempt)
        return self._folder / workspace / str(generation.id) / attempt

    @contextmanager
    def _opened(self, generation: StoredGeneration) -> Iterator[engine.Shard]:
        sealed = self._attempt(generation)

        def open_copy(target: Path) -> engine.Shard:
            return _open_copy(sealed, target, generation)

        with self._copies.use(generation.id, sealed, open_copy) as shard:
            yield shard


def _about(generation: StoredGeneration) -> dict[str, str | int]:
    """Give the constants of a generation's folder, checked once when a copy is opened."""
    return {
        "workspace": generation.workspace,
        "revision": generation.revision,
        "generation": str(generation.id),
        "dimension": generation.dimension,
        "language": generation.language,
        "avg_len": generation.avg_len,
    }


def _open_copy(sealed: Path, target: Path, generation: StoredGeneration) -> engine.Shard:
    seal = read_seal(sealed)
    if seal.about != _about(generation):
        raise damaged()
    copy_sealed(sealed, target, seal)
    check_room(target)
    shard = engine.load_shard(target, dimension=generation.dimension)
    if engine.count(shard) != seal.points.count:
        engine.close_shard(shard)
        raise damaged()
    return shard


def _replace(sealed: Path, building: Path) -> None:
    if sealed.exists():
        old = sealed.rename(sealed.with_name(f".replaced-{sealed.name}-{secrets.token_hex(4)}"))
        shutil.rmtree(old)
    building.rename(sealed)
    sync_directory(sealed.parent)


def _sweep_earlier(sealed: Path) -> None:
    """Remove what earlier attempts left, finished or not; a later one is never touched."""
    for folder in sealed.parent.iterdir():
        attempt = folder.name.removeprefix(".building-").removeprefix(".replaced-").split("-")[0]
        if attempt.isdecimal() and int(attempt) < int(sealed.name):
            shutil.rmtree(folder, ignore_errors=True)
