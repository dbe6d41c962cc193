"""Every vector store keeps a generation whole, filters hard, and fails only with our faults."""

from __future__ import annotations

import math
import random
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import replace
from itertools import islice
from pathlib import Path

import pytest

from evidence.domain.units import CuratedEvidence
from publishing.adapters.qdrant_edge import QdrantEdgeStore
from publishing.adapters.qdrant_server import QdrantServerStore
from publishing.domain.points import Point, points_digest
from publishing.domain.query import SearchRequest, build_request, make_filter, render_query_text
from publishing.domain.scoring import group_by_unit, ordered
from publishing.ports import (
    Census,
    CollectionState,
    HybridAnswer,
    HybridQuery,
    LanguageUnsupported,
    MalformedPayload,
    StoredGeneration,
    VectorRefused,
    VectorStore,
    VectorStoreUnavailable,
)
from tests.fakes import BagOfWordsEmbedder
from tests.publishing.oracle import a_request_by_chance, a_unit_by_chance, is_wanted
from tests.publishing.points import a_generation, a_unit, some_points
from tests.qdrant_stand_in import QdrantStandIn

TITLES = ("Fascia pediatrica", "Ablazione cardiaca", "Regime di ricovero", "Indice di Charlson")
EMBEDDER = BagOfWordsEmbedder()


@contextmanager
def qdrant_edge(folder: Path) -> Iterator[VectorStore]:
    store = QdrantEdgeStore(folder)
    yield store
    store.close()


@contextmanager
def qdrant_server(folder: Path) -> Iterator[VectorStore]:
    with QdrantStandIn.running(folder) as server:
        store = QdrantServerStore(server.url)
        yield store
        store.close()


STORES = {"qdrant_edge": qdrant_edge, "qdrant_server": qdrant_server}


@pytest.fixture(params=STORES)
def store(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[VectorStore]:
    with STORES[request.param](tmp_path) as opened:
        yield opened


def some_units() -> list[CuratedEvidence]:
    return [a_unit(title) for title in TITLES]


def built(
    store: VectorStore, generation: StoredGeneration, units: list[CuratedEvidence] | None = None
) -> list[Point]:
    points = some_points(some_units() if units is None else units, generation, EMBEDDER)
    store.build(generation, [points])
    return points


def asked(query: str, *, purpose: str = "disambiguation", **context: object) -> SearchRequest:
    return build_request({"query": query, "purpose": purpose, "context": context})


def ask(
    store: VectorStore,
    generation: StoredGeneration,
    request: SearchRequest,
    *,
    branches: bool = False,
) -> HybridAnswer:
    text = render_query_text(request)
    query = HybridQuery(
        text=text,
        vector=EMBEDDER.embed_query(text),
        filter=make_filter(request, generation.key),
        branches=branches,
    )
    return store.query(generation, query)


def is_gone(store: VectorStore, generation: StoredGeneration) -> bool:
    """Tell whether the generation neither answers nor can be read back."""
    for asking in (store.summary, lambda one: ask(store, one, asked("Che cosa?"))):
        with suppress(VectorStoreUnavailable):
            asking(generation)
            return False
    return True


def test_what_was_written_is_read_back_and_nothing_else(store):
    generation = a_generation()
    points = some_points(some_units(), generation, EMBEDDER)
    summary = store.build(generation, [points[:1], points[1:3], [], points[3:]])
    assert summary == points_digest((point.id, point.payload) for point in points)
    assert store.summary(generation) == summary
    assert summary.count == len(TITLES)


def test_building_again_changes_nothing(store):
    generation = a_generation()
    points = some_points(some_units(), generation, EMBEDDER)
    first = store.build(generation, [points])
    assert store.build(generation, [points[::-1], points]) == first
    assert store.summary(generation) == first


def test_an_empty_generation_answers_with_nothing(store):
    generation = a_generation(point_count=0)
    assert store.build(generation, []).count == 0
    answer = ask(store, generation, asked("Che cosa?"), branches=True)
    assert (answer.fused, answer.dense, answer.bm25, answer.best_dense) == ((), (), (), None)


def test_a_question_finds_its_unit_by_words_and_by_meaning(store):
    generation = a_generation()
    points = built(store, generation)
    answer = ask(store, generation, asked("Come si calcola l'indice di Charlson?"), branches=True)
    for hits in (answer.fused, answer.dense, answer.bm25):
        assert ordered(hits)[0].payload == points[3].payload
    assert answer.best_dense == pytest.approx(ordered(answer.dense)[0].score)


def test_branches_come_only_when_asked(store):
    generation = a_generation()
    built(store, generation)
    answer = ask(store, generation, asked("ablazione"))
    assert answer.fused
    assert (answer.dense, answer.bm25) == ((), ())


def test_words_match_by_stem_and_without_accents(store):
    generation = a_generation()
    built(store, generation, [a_unit("Età dei pazienti"), a_unit("Altro")])
    for word in ("eta", "ETÀ", "paziente"):
        bm25 = ask(store, generation, asked(word), branches=True).bm25
        assert [hit.payload.title for hit in bm25] == ["Età dei pazienti"], word


def test_a_question_without_words_still_gets_an_answer(store):
    generation = a_generation()
    built(store, generation)
    assert len(ask(store, generation, asked("?!")).fused) == len(TITLES)


@pytest.mark.parametrize("fusion", ["rrf", "dbsf"])
def test_the_fused_list_is_taken_whole(store, fusion):
    generation = a_generation(fusion=fusion, prefetch=3)
    built(store, generation, [a_unit(f"Paziente {number}") for number in range(30)])
    answer = ask(store, generation, asked("Paziente"), branches=True)
    assert 3 <= len(answer.fused) <= 6
    assert len(answer.dense) == len(answer.bm25) == 20


def test_the_same_question_a_hundred_times_gives_one_list(store):
    generation = a_generation()
    units = [a_unit(f"Paziente {number % 3} {'x' * (number // 3)}") for number in range(60)]
    built(store, generation, units)
    request = asked("Paziente 1")
    lists = {
        tuple(
            (unit.evidence_id, unit.score)
            for unit in group_by_unit(ask(store, generation, request).fused)[:10]
        )
        for _ in range(100)
    }
    assert len(lists) == 1


def test_hard_filters_give_what_brute_force_gives(store):
    chance = random.Random(20260101)  # noqa: S311
    units = [a_unit_by_chance(number, chance) for number in range(60)]
    generation = a_generation(prefetch=100)
    built(store, generation, units)
    for _ in range(300):
        request = a_request_by_chance(chance)
        found = {unit.evidence_id for unit in group_by_unit(ask(store, generation, request).fused)}
        assert found == {unit.id for unit in units if is_wanted(unit, request)}


@pytest.mark.parametrize(
    "vector",
    [
        pytest.param([math.nan] + [1.0] * 63, id="nan"),
        pytest.param([math.inf] + [1.0] * 63, id="infinite"),
        pytest.param([1e200] * 64, id="too_long_to_be_normalized"),
        pytest.param([0.0] * 64, id="zero"),
        pytest.param([], id="missing"),
        pytest.param([1.0] * 63, id="too_short"),
        pytest.param([1.0] * 65, id="too_long"),
    ],
)
def test_a_bad_vector_is_refused_before_the_store(store, vector):
    generation = a_generation()
    points = some_points(some_units(), generation, EMBEDDER)
    with pytest.raises(VectorRefused):
        store.build(generation, [[*points[:2], replace(points[2], dense=tuple(vector))]])
    assert store.inspect(generation) is CollectionState.MISSING
    built(store, generation)
    query = HybridQuery(text="x", vector=vector, filter=make_filter(asked("x"), generation.key))
    with pytest.raises(VectorRefused):
        store.query(generation, query)


def test_an_unsupported_language_is_refused_before_anything_is_written(store):
    generation = a_generation(language="tlh")
    points = iter([some_points(some_units(), generation, EMBEDDER)])
    with pytest.raises(LanguageUnsupported):
        store.count_terms("tlh", ["nuqneH"])
    with pytest.raises(LanguageUnsupported):
        store.build(generation, points)
    assert store.inspect(generation) is CollectionState.MISSING
    assert len(list(islice(points, 2))) == 1


def test_terms_are_counted_once_each_without_stop_words(store):
    counts = store.count_terms("it", ["il paziente e i pazienti della clinica", "", "di che"])
    assert counts == [2, 0, 0]


def test_a_text_that_nobody_wrote_is_never_an_answer(store):
    generation = a_generation()
    points = some_points(some_units(), generation, EMBEDDER)
    changes = {"text": "Altro testo."}
    forged = replace(points[0], payload=points[0].payload.model_copy(update=changes))
    store.build(generation, [[forged, *points[1:]]])
    with pytest.raises(MalformedPayload):
        ask(store, generation, asked("Fascia pediatrica"))


def test_the_store_tells_what_is_there_without_changing_it(store):
    generation = a_generation()
    assert store.inspect(generation) is CollectionState.MISSING
    built(store, generation)
    assert store.inspect(generation) is CollectionState.COMPATIBLE
    assert store.inspect(replace(generation, dimension=384)) is CollectionState.INCOMPATIBLE


def test_a_census_counts_by_kind_and_shows_some_ids(store):
    generation = a_generation()
    assert store.census(generation) == Census(state=CollectionState.MISSING)
    points = built(store, generation, [a_unit(f"Paziente {number}") for number in range(7)])
    census = store.census(generation)
    assert census.counts == {"evidence": 7}
    assert len(census.sample_ids["evidence"]) == 5
    assert set(census.sample_ids["evidence"]) <= {str(point.id) for point in points}
    assert (census.state, census.dimension, census.has_bm25) == ("compatible", 64, True)
    assert store.census(generation) == census


def test_a_generation_that_is_not_there_is_unavailable(store):
    assert is_gone(store, a_generation())
    built(store, a_generation("another"))
    assert is_gone(store, a_generation())


def test_deleting_removes_one_generation_and_no_other(store):
    one, two = a_generation("one"), a_generation("two")
    built(store, one)
    built(store, two)
    assert ask(store, one, asked("ablazione")).fused
    store.delete(one)
    assert is_gone(store, one)
    assert ask(store, two, asked("ablazione")).fused
    store.delete(one)


def test_a_generation_that_was_built_anew_answers_anew(store):
    generation = a_generation()
    built(store, generation)
    assert ask(store, generation, asked("ablazione")).fused
    built(store, generation, [a_unit("Tutt'altro")])
    titles = {hit.payload.title for hit in ask(store, generation, asked("ablazione")).fused}
    assert titles == {"Tutt'altro"}


def test_a_build_that_was_interrupted_is_made_good_by_the_next(store):
    generation = a_generation()

    def interrupted() -> Iterator[list[Point]]:
        yield some_points(some_units(), generation, EMBEDDER)
        raise TimeoutError("the lease was lost")

    with pytest.raises(TimeoutError):
        store.build(generation, interrupted())
    units = [a_unit("Tutt'altro")]
    points = some_points(units, generation, EMBEDDER)
    assert store.build(generation, [points]).count == 1
    assert len(ask(store, generation, asked("ablazione")).fused) == 1


def test_an_interrupted_build_can_be_deleted(store):
    generation = a_generation()

    def interrupted() -> Iterator[list[Point]]:
        yield some_points(some_units(), generation, EMBEDDER)
        raise TimeoutError("the lease was lost")

    with pytest.raises(TimeoutError):
        store.build(generation, interrupted())
    store.delete(generation)
    assert is_gone(store, generation)
