"""Hard filters against brute force, and damage at random places (spec 90, Figures to reach)."""

from __future__ import annotations

import os
import random
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from publishing.adapters.qdrant_edge import QdrantEdgeStore
from publishing.domain.scoring import group_by_unit
from publishing.hybrid import search_generation
from publishing.ports import StoredGeneration, VectorStoreUnavailable
from tests.fakes import BagOfWordsEmbedder
from tests.publishing.oracle import a_request_by_chance, a_unit_by_chance, is_wanted
from tests.publishing.points import a_generation, some_points
from tests.robustness.counts import times

EMBEDDER = BagOfWordsEmbedder()


@pytest.fixture
def store(tmp_path: Path) -> Iterator[QdrantEdgeStore]:
    opened = QdrantEdgeStore(tmp_path)
    yield opened
    opened.close()


@pytest.fixture
def chance() -> random.Random:
    return random.Random(90)  # noqa: S311


def a_built_generation(store: QdrantEdgeStore, chance: random.Random):
    units = [a_unit_by_chance(number, chance) for number in range(90)]
    generation = a_generation(prefetch=100)
    store.build(generation, [some_points(units, generation, EMBEDDER)])
    return generation, units


def test_five_thousand_searches_leak_nothing_and_miss_nothing(store, chance):
    generation, units = a_built_generation(store, chance)
    for _ in range(times(5_000)):
        request = a_request_by_chance(chance)
        found = search_generation(
            generation, request, store=store, embedder=EMBEDDER, threshold=None
        )
        ids = {unit.evidence_id for unit in group_by_unit(found.fused)}
        assert ids == {unit.id for unit in units if is_wanted(unit, request)}


def test_no_byte_changed_anywhere_gives_a_wrong_answer(store, chance, tmp_path):
    generation, _ = a_built_generation(store, chance)
    right = _answer(store, generation)
    files = sorted(path for path in (tmp_path / "vectors").rglob("*") if path.is_file())
    for _ in range(times(300)):
        path = chance.choice(files)
        kept = tmp_path / "kept"
        shutil.copy2(path, kept)
        _damage(path, chance)
        store.close()
        with pytest.raises(VectorStoreUnavailable):
            _answer(store, generation)
        kept.rename(path)
    store.close()
    assert _answer(store, generation) == right


def _answer(store: QdrantEdgeStore, generation: StoredGeneration) -> object:
    request = a_request_by_chance(random.Random(1))  # noqa: S311
    return search_generation(generation, request, store=store, embedder=EMBEDDER, threshold=None)


def _damage(path: Path, chance: random.Random) -> None:
    size = path.stat().st_size
    offset = chance.randrange(size)
    match chance.randrange(3):
        case 0:
            os.truncate(path, offset)
        case 1:
            path.unlink()
        case _:
            with path.open("r+b") as file:
                file.seek(offset)
                byte = file.read(1)[0]
                file.seek(offset)
                file.write(bytes([byte ^ (1 << chance.randrange(8))]))
