"""Required values against brute force, on both stores (spec 90, Figures: hard filters)."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, closing, contextmanager
from dataclasses import replace
from pathlib import Path

import pytest

from evidence.domain.units import CuratedEvidence, EvidenceKind
from publishing.adapters.qdrant_edge import QdrantEdgeStore
from publishing.adapters.qdrant_server import QdrantServerStore
from publishing.domain.query import EvidenceFilter
from publishing.domain.scoring import group_by_unit
from publishing.hybrid import search_generation
from publishing.ports import HybridAnswer, HybridQuery, StoredGeneration, VectorStore
from tests.fakes import BagOfWordsEmbedder
from tests.publishing import shared_collection as shared
from tests.publishing.oracle import a_request_by_chance, a_unit_by_chance, is_wanted
from tests.publishing.points import COLLECTION, a_generation, some_points
from tests.qdrant_stand_in import QdrantStandIn
from tests.robustness.counts import times
from tests.robustness.figures import Figures

EMBEDDER = BagOfWordsEmbedder()
GENERATION = a_generation(prefetch=100)
OTHER = a_generation("another", prefetch=100)
SEARCHES = 5_000
Open = Callable[[Path], AbstractContextManager[VectorStore]]


@contextmanager
def edge(folder: Path) -> Iterator[VectorStore]:
    with closing(QdrantEdgeStore(folder)) as store:
        yield store


@contextmanager
def server(folder: Path) -> Iterator[VectorStore]:
    """Give a collection that holds records of others too."""
    with QdrantStandIn.running(folder) as double:
        shared.create(double.url, COLLECTION, dimension=EMBEDDER.dimension)
        shared.fill(double.url, COLLECTION, dimension=EMBEDDER.dimension)
        with closing(QdrantServerStore(double.url)) as store:
            yield store


def units_by_chance(chance: random.Random) -> Sequence[CuratedEvidence]:
    return [a_unit_by_chance(number, chance) for number in range(90)]


def fill(store: VectorStore, units: Sequence[CuratedEvidence]) -> None:
    """Write the units, and the same units again as another generation."""
    for generation in (GENERATION, OTHER):
        store.build(generation, [some_points(units, generation, EMBEDDER)])


def leaks_and_misses(
    store: VectorStore, units: Sequence[CuratedEvidence], chance: random.Random, *, searches: int
) -> tuple[int, int]:
    """Ask at random and count the units that were found and should not be, and the reverse."""
    leaks = misses = 0
    for _ in range(searches):
        request = a_request_by_chance(chance)
        found = search_generation(
            GENERATION, request, store=store, embedder=EMBEDDER, threshold=None
        )
        ids = {unit.evidence_id for unit in group_by_unit(found.fused)}
        wanted = {unit.id for unit in units if is_wanted(unit, request)}
        foreign = {hit.payload.vector_generation for hit in found.fused} - {GENERATION.id}
        leaks += len(ids - wanted) + len(foreign)
        misses += len(wanted - ids)
    return leaks, misses


@pytest.mark.parametrize(("name", "opened"), [("edge", edge), ("server", server)])
def test_five_thousand_searches_leak_nothing_and_miss_nothing(
    name: str, opened: Open, figures: Figures, tmp_path: Path
) -> None:
    chance = random.Random(90)  # noqa: S311
    units, searches = units_by_chance(chance), times(SEARCHES)
    with opened(tmp_path) as store:
        fill(store, units)
        leaks, misses = leaks_and_misses(store, units, chance, searches=searches)
    figures.measured(
        "hard filters",
        f"{name} store, {searches:,} searches: {leaks} leaks, {misses} misses",
        holds=leaks == misses == 0,
    )


class Altered(QdrantEdgeStore):
    """Asks for something else than the question does."""

    def __init__(self, home: Path, alter: Callable[[EvidenceFilter], EvidenceFilter]) -> None:
        super().__init__(home)
        self._alter = alter

    def query(self, generation: StoredGeneration, query: HybridQuery) -> HybridAnswer:
        return super().query(generation, replace(query, filter=self._alter(query.filter)))


BUGS: dict[str, Callable[[EvidenceFilter], EvidenceFilter]] = {
    "a list of required tables that is dropped": lambda wanted: replace(wanted, tables=()),
    "only the first of two alternatives is asked for": lambda wanted: replace(
        wanted, concepts=wanted.concepts[:1]
    ),
    "a kind that nobody asked for": lambda wanted: replace(wanted, kinds=(EvidenceKind.GLOSSARY,)),
}


@pytest.mark.parametrize("bug", BUGS)
def test_a_filter_that_leaks_or_misses_is_noticed(
    bug: str, figures: Figures, tmp_path: Path
) -> None:
    chance = random.Random(91)  # noqa: S311
    units = units_by_chance(chance)
    with closing(Altered(tmp_path, BUGS[bug])) as store:
        fill(store, units)
        found = leaks_and_misses(store, units, chance, searches=100)
    figures.caught("hard filters", bug, noticed=found != (0, 0))
