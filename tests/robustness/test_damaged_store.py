"""Every file of a sealed folder, damaged in every way (spec 90, Figures: damaged store)."""

from __future__ import annotations

import os
import random
import shutil
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from evidence.faults import Fault
from publishing.adapters import qdrant_edge
from publishing.adapters.edge_seal import SHARD_NAME, Seal
from publishing.adapters.qdrant_edge import QdrantEdgeStore
from publishing.domain.query import build_request
from publishing.hybrid import search_generation
from publishing.ports import VectorStoreUnavailable
from tests.fakes import BagOfWordsEmbedder
from tests.publishing.oracle import a_request_by_chance, a_unit_by_chance
from tests.publishing.points import a_generation, some_points
from tests.robustness.counts import times
from tests.robustness.figures import Figures

EMBEDDER = BagOfWordsEmbedder()
GENERATION = a_generation(prefetch=100)
RANDOM_PLACES = 300
QUESTIONS = [
    build_request({"query": "Unità 7", "purpose": "disambiguation"}),
    *(a_request_by_chance(random.Random(seed)) for seed in range(5)),  # noqa: S311
]


def truncate(path: Path, chance: random.Random) -> None:
    os.truncate(path, chance.randrange(path.stat().st_size))


def flip(path: Path, chance: random.Random) -> None:
    """Change one bit, of a byte that holds something where there is one."""
    with path.open("r+b") as file:
        data = file.read()
        places = [place for place, byte in enumerate(data[: 1 << 20]) if byte] or [0]
        place = chance.choice(places)
        file.seek(place)
        file.write(bytes([data[place] ^ (1 << chance.randrange(8))]))


def zero(path: Path, _: random.Random) -> None:
    """Keep the size and lose the content."""
    size = path.stat().st_size
    os.truncate(path, 0)
    os.truncate(path, size)


def delete(path: Path, _: random.Random) -> None:
    path.unlink()


WAYS = (truncate, flip, zero, delete)


@pytest.fixture
def store(tmp_path: Path) -> Iterator[QdrantEdgeStore]:
    """Give a store with one sealed generation."""
    opened = QdrantEdgeStore(tmp_path)
    chance = random.Random(90)  # noqa: S311
    units = [a_unit_by_chance(number, chance) for number in range(90)]
    opened.build(GENERATION, [some_points(units, GENERATION, EMBEDDER)])
    yield opened
    opened.close()


def answers(store: QdrantEdgeStore) -> object:
    """Give the units found: below them the engine leaves ties in no order."""
    return [
        search_generation(GENERATION, one, store=store, embedder=EMBEDDER, threshold=None).units
        for one in QUESTIONS
    ]


def damages(home: Path) -> Iterator[tuple[Path, Callable[[Path, random.Random], None]]]:
    """Give every file with every way to damage it, then places at random."""
    files = sorted(path for path in (home / "vectors").rglob("*") if path.is_file())
    solid = [path for path in files if path.stat().st_size]
    yield from ((path, way) for path in solid for way in WAYS)
    chance = random.Random(91)  # noqa: S311
    yield from ((chance.choice(solid), flip) for _ in range(times(RANDOM_PLACES)))


def outcomes(store: QdrantEdgeStore, home: Path, *, step: int = 1) -> Counter[str]:
    """Damage, ask, repair, and count how it ended: refused, right or wrong."""
    right, counted = answers(store), Counter[str]()
    chance = random.Random(92)  # noqa: S311
    for path, damage in list(damages(home))[::step]:
        kept = home / "kept"
        shutil.copy2(path, kept)
        damage(path, chance)
        is_changed = not path.exists() or path.read_bytes() != kept.read_bytes()
        store.close()
        try:
            counted["right" if answers(store) == right else "wrong"] += is_changed
        except VectorStoreUnavailable:
            counted["refused"] += is_changed
        except Fault:
            counted["another fault"] += is_changed
        kept.replace(path)
    store.close()
    assert answers(store) == right
    return counted


def test_no_damage_to_any_file_gives_a_wrong_answer(
    store: QdrantEdgeStore, figures: Figures, tmp_path: Path
) -> None:
    found = outcomes(store, tmp_path)
    figures.measured(
        "damaged store",
        f"{found.total()} damages: {found['refused']} refused, {found['wrong']} silently wrong",
        holds=found["refused"] == found.total() > 40,
    )


def trusting(folder: Path, target: Path, seal: Seal) -> None:
    """Copy a sealed folder without a look at any hash."""
    assert seal.files
    shutil.copytree(folder / SHARD_NAME, target)


def test_a_store_that_checks_no_hash_is_noticed(
    store: QdrantEdgeStore, figures: Figures, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(qdrant_edge, "copy_sealed", trusting)
    found = outcomes(store, tmp_path, step=11)
    noticed = found["wrong"] + found["right"] > 0
    figures.caught("damaged store", "a folder whose hashes are not checked", noticed=noticed)
