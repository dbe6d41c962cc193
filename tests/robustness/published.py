"""What a folder of vectors holds, read with the engine alone, and what it should hold."""

from __future__ import annotations

import shutil
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from uuid import uuid5

import qdrant_edge as edge

from publishing.models import Generation
from tests.publishing.making import SLUG, slug_of


@dataclass(frozen=True)
class Found:
    """How many points are missing, how many are too many, and what else lies about."""

    lost: int
    doubled: int
    litter: int

    @property
    def is_clean(self) -> bool:
        return not (self.lost or self.doubled or self.litter)


def look(home: Path, generation: Generation, terms: Mapping[str, str], *, aside: Path) -> Found:
    """Compare a generation's folder with the files it was made of, by an oracle of its own.

    A fragment's id is the UUIDv5 of its record key in the generation's id (spec 50).
    """
    attempts = home / "vectors" / SLUG / str(generation.pk)
    stored = _points(attempts / str(generation.attempt) / "shard", generation.dimension, aside)
    wanted = {
        str(uuid5(generation.pk, f"evidence:{slug_of(term)}#0")): text
        for term, text in terms.items()
    }
    right = {key for key, text in wanted.items() if text in stored.get(key, "")}
    litter = [path for path in attempts.iterdir() if path.name != str(generation.attempt)]
    return Found(
        lost=len(wanted) - len(right),
        doubled=len(stored.keys() - wanted.keys()),
        litter=len(litter),
    )


def states(slug: str = SLUG) -> Counter[str]:
    """Count a workspace's generations by state."""
    return Counter(Generation.objects.filter(workspace=slug).values_list("state", flat=True))


def _points(shard: Path, dimension: int, aside: Path) -> dict[str, str]:
    """Give text by id, from a copy: opening changes files."""
    shutil.rmtree(aside, ignore_errors=True)
    shutil.copytree(shard, aside)
    vectors = edge.EdgeVectorParams(size=dimension, distance=edge.Distance.Cosine)
    sparse = {"bm25": edge.EdgeSparseVectorParams(modifier=edge.Modifier.Idf)}
    opened = edge.EdgeShard.load(
        str(aside), edge.EdgeConfig(vectors=vectors, sparse_vectors=sparse)
    )
    try:
        records, rest = opened.scroll(edge.ScrollRequest(limit=10_000, with_payload=True))
        assert rest is None
        return {str(one.id): str((one.payload or {})["text"]) for one in records}
    finally:
        opened.close()
