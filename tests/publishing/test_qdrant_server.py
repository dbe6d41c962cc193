"""The server store's own promises: exact requests, shared collections, failures in bounded time."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import closing
from dataclasses import replace
from typing import Any

import pytest
import qdrant_edge as edge

from publishing.adapters.qdrant_server import QdrantServerStore
from publishing.ports import (
    Bm25Unsupported,
    CollectionIncompatible,
    CollectionState,
    MalformedPayload,
    VectorStoreRefused,
    VectorStoreUnavailable,
)
from tests.publishing import shared_collection as shared
from tests.publishing.on_server import EMBEDDER, NAME, TITLES, ask, build, question
from tests.publishing.points import REVISION, a_generation, a_unit, some_points
from tests.qdrant_stand_in import QdrantStandIn
from tests.scripted_http import Asked, Scripted

INDEXES = {
    "content_hash",
    "document_id",
    "kind",
    "record_key",
    "record_kind",
    "vector_generation",
    "workspace_id",
    "workspace_revision",
    "evidence_id",
    "evidence_kind",
    "purposes",
    "concepts",
    "tables",
    "columns",
    "language",
}
READS = ("/points/query/batch", "/points/scroll", "/points/count")


@pytest.fixture
def server(tmp_path) -> Iterator[QdrantStandIn]:
    with QdrantStandIn.running(tmp_path) as double:
        yield double


@pytest.fixture
def store(server: QdrantStandIn) -> Iterator[QdrantServerStore]:
    opened = QdrantServerStore(server.url)
    yield opened
    opened.close()


def is_read(asked: Asked) -> bool:
    return asked.method == "GET" or asked.path.endswith(READS)


def test_a_question_is_this_very_request(server, store):
    generation = build(store)
    context = {"required_kinds": ["glossary", "enum"], "required_tables": ["clinical.patient"]}
    query = replace(question(generation, context=context), vector=[0.5] * 64, branches=True)
    store.query(generation, query)
    filter_ = {
        "must": [
            {"key": "record_kind", "match": {"value": "evidence"}},
            {"key": "workspace_id", "match": {"value": "clinica-demo"}},
            {"key": "workspace_revision", "match": {"value": REVISION}},
            {"key": "vector_generation", "match": {"value": str(generation.id)}},
            {"key": "purposes", "match": {"value": "disambiguation"}},
            {"key": "evidence_kind", "match": {"any": ["glossary", "enum"]}},
            {"key": "tables", "match": {"any": ["clinical.patient"]}},
        ]
    }
    document = {
        "text": "Domanda: ablazione",
        "model": "qdrant/bm25",
        "options": {"language": "italian", "avg_len": 14, "ascii_folding": True},
    }
    dense = {"query": [0.5] * 64, "filter": filter_}
    sparse = {"query": document, "using": "bm25", "filter": filter_}
    assert server.asks("/points/query/batch") == [
        {
            "searches": [
                {
                    "prefetch": [{**dense, "limit": 20}, {**sparse, "limit": 20}],
                    "query": {"rrf": {}},
                    "limit": 40,
                    "with_payload": True,
                },
                {**dense, "limit": 1, "with_payload": False},
                {**dense, "limit": 20, "with_payload": True},
                {**sparse, "limit": 20, "with_payload": True},
            ]
        }
    ]


def test_a_workspace_may_choose_the_other_fusion(server, store):
    generation = build(store, a_generation(fusion="dbsf", prefetch=100))
    ask(store, generation)
    fused = server.asks("/points/query/batch")[0]["searches"][0]
    assert (fused["query"], fused["limit"]) == ({"fusion": "dbsf"}, 200)
    assert [one["limit"] for one in fused["prefetch"]] == [100, 100]


def test_a_point_carries_its_vector_and_the_text_that_the_server_analyses(server, store):
    generation = a_generation(language="en", avg_len=9)
    [point] = some_points([a_unit("Paediatric age")], generation, EMBEDDER)
    store.build(generation, [[point]])
    assert server.asks("/points") == [
        {
            "points": [
                {
                    "id": str(point.id),
                    "vector": {
                        "": list(point.dense),
                        "bm25": {
                            "text": point.text,
                            "model": "qdrant/bm25",
                            "options": {
                                "language": "english",
                                "avg_len": 9,
                                "ascii_folding": True,
                            },
                        },
                    },
                    "payload": point.payload.as_json(),
                }
            ]
        }
    ]


def test_a_new_collection_is_created_as_agreed_with_every_index(server, store):
    build(store)
    params, indexes = shared.config(server.url, NAME)
    assert params["vectors"] == {"size": 64, "distance": "Cosine"}
    assert params["sparse_vectors"] == {"bm25": {"modifier": "idf"}}
    assert {index["data_type"] for index in indexes.values()} == {"keyword"}
    assert indexes["workspace_id"]["params"]["is_tenant"] is True
    assert set(indexes) == INDEXES


def test_an_index_is_added_only_when_absent(server, store):
    build(store)
    added = len(server.asks("/index"))
    build(store, a_generation("two"))
    assert len(server.asks("/index")) == added == 15


def test_a_filter_field_without_its_index_is_filtered_on_all_the_same(server, store):
    generation = build(store)
    collection = server.collections[NAME]
    before = {hit.payload.evidence_id for hit in ask(store, generation).fused}
    for field in ("purposes", "vector_generation", "workspace_id", "record_kind"):
        collection.shard.update(edge.UpdateOperation.delete_field_index(field))
    assert {hit.payload.evidence_id for hit in ask(store, generation).fused} == before


def test_every_write_waits(server, store):
    store.delete(build(store))
    writes = [one for one in server.asked if not is_read(one) and one.path.count("/") > 2]
    assert {one.path.removeprefix(f"/collections/{NAME}") for one in writes} == {
        "/index",
        "/points",
        "/points/delete",
    }
    assert {one.params["wait"] for one in writes} == {"true"}


DENSE = {"size": 64, "distance": "Cosine"}
IDF = {"bm25": {"modifier": "idf"}}
COLLECTIONS = {
    "as_we_create_it": (CollectionState.COMPATIBLE, {"sparse_vectors": IDF}),
    "with_another_sparse_vector": (
        CollectionState.COMPATIBLE,
        {"sparse_vectors": {**IDF, "splade": {}}},
    ),
    "without_bm25": (CollectionState.UPGRADEABLE, {}),
    "with_another_sparse_vector_alone": (
        CollectionState.UPGRADEABLE,
        {"sparse_vectors": {"splade": {}}},
    ),
    "of_another_size": (CollectionState.INCOMPATIBLE, {"vectors": {**DENSE, "size": 32}}),
    "of_another_distance": (
        CollectionState.INCOMPATIBLE,
        {"vectors": {**DENSE, "distance": "Dot"}},
    ),
    "with_a_named_dense_vector": (CollectionState.INCOMPATIBLE, {"vectors": {"text": DENSE}}),
    "with_bm25_without_idf": (CollectionState.INCOMPATIBLE, {"sparse_vectors": {"bm25": {}}}),
}


@pytest.mark.parametrize(("state", "config"), COLLECTIONS.values(), ids=COLLECTIONS)
def test_a_collection_is_one_of_four_things_to_us(server, store, state, config):
    shared.create(server.url, NAME, dimension=64, **config)
    assert store.inspect(a_generation()) is state
    assert store.census(a_generation()).state is state


@pytest.mark.parametrize(
    "config",
    [config for state, config in COLLECTIONS.values() if state is CollectionState.INCOMPATIBLE],
)
def test_an_incompatible_collection_is_left_exactly_as_it_is(server, store, config):
    shared.create(server.url, NAME, dimension=64, **config)
    before = shared.config(server.url, NAME)
    started = len(server.asked)
    with pytest.raises(CollectionIncompatible):
        build(store)
    with pytest.raises(CollectionIncompatible):
        ask(store, a_generation())
    assert all(map(is_read, server.asked[started:]))
    assert shared.config(server.url, NAME) == before


def test_bm25_is_added_in_place_by_a_build_and_by_nothing_else(server, store):
    shared.create(server.url, NAME, dimension=64)
    shared.fill(server.url, NAME, dimension=64)
    generation = a_generation()
    started = len(server.asked)
    with pytest.raises(Bm25Unsupported):
        ask(store, generation)
    store.census(generation)
    store.delete(replace(generation, collection="elsewhere"))
    assert all(map(is_read, server.asked[started:]))
    build(store, generation)
    assert [one.body for one in server.asked if "/vectors/" in one.path] == [
        {"sparse": {"modifier": "idf"}}
    ]
    assert store.inspect(generation) is CollectionState.COMPATIBLE
    assert ask(store, generation).fused


def test_records_of_others_keep_everything_through_build_search_and_delete(server, store):
    shared.create(server.url, NAME, dimension=64)
    shared.fill(server.url, NAME, dimension=64)

    def seen() -> tuple[Any, ...]:
        return (
            shared.of_others(store.census(a_generation())),
            shared.everything(server.url, NAME),
            shared.dense_results(server.url, NAME, dimension=64),
        )

    before = seen()
    assert before[0][0] == shared.KINDS
    one, two = build(store), build(store, a_generation("two"))
    assert seen() == before
    ask(store, one)
    store.delete(one)
    store.delete(two)
    assert seen() == before
    assert "evidence" not in store.census(two).counts


def test_a_record_of_another_kind_is_spared_even_under_our_generation(server, store):
    generation = build(store)
    payload = {
        "record_kind": "memory",
        "workspace_id": generation.workspace,
        "vector_generation": str(generation.id),
    }
    point = {"id": 1, "vector": {"": [1.0] * 64}, "payload": payload}
    server.collections[NAME].upsert({"points": [point]})
    build(store)
    store.delete(generation)
    assert store.census(generation).counts == {"memory": 1}


KINDLESS = ({"record_kind": ["a", "b"]}, {"record_kind": 7}, {"record_kind": ""})


def test_records_without_a_kind_are_counted_and_hide_no_kind(server, store):
    shared.create(server.url, NAME, dimension=64)
    points = [
        {"id": number, "vector": [1.0] * 64, "payload": payload}
        for number, payload in enumerate(
            ({}, *KINDLESS, {"record_kind": "x"}, {"record_kind": "y"})
        )
    ]
    server.collections[NAME].upsert({"points": points})
    census = store.census(a_generation())
    assert census.counts == {"": 1 + len(KINDLESS), "x": 1, "y": 1}
    assert census.sample_ids == {"": ("0", "1", "2", "3"), "x": ("4",), "y": ("5",)}


@pytest.mark.parametrize(
    "changes",
    [{"workspace_id": "altrui"}, {"workspace_revision": "b" * 40}, {"record_kind": "memory"}],
)
def test_a_fragment_of_another_workspace_revision_or_kind_is_never_an_answer(
    server, store, changes
):
    generation = build(store)
    [point] = some_points([a_unit("Ablazione rara")], generation, EMBEDDER)
    forged = {**point.payload.as_json(), **changes}
    vector = {"": list(point.dense), "bm25": {"text": point.text, "model": "qdrant/bm25"}}
    body = {"id": str(point.id), "vector": vector, "payload": forged}
    server.collections[NAME].upsert({"points": [body]})
    titles = {hit.payload.title for hit in ask(store, generation).fused}
    assert titles == set(TITLES)


def test_a_foreign_key_in_our_payload_is_malformed(server, store):
    generation = build(store)
    [point] = some_points([a_unit("Ablazione rara")], generation, EMBEDDER)
    body = {
        "id": str(point.id),
        "vector": {"": list(point.dense)},
        "payload": {**point.payload.as_json(), "extra": 1},
    }
    server.collections[NAME].upsert({"points": [body]})
    with pytest.raises(MalformedPayload):
        ask(store, generation)


def test_a_generation_that_lost_or_won_a_point_does_not_answer(server, store):
    generation = build(store)
    whole = replace(generation, point_count=len(TITLES))
    assert ask(store, whole).fused
    for count in (len(TITLES) - 1, len(TITLES) + 1, 0):
        with pytest.raises(VectorStoreUnavailable):
            ask(store, replace(whole, point_count=count))


def test_a_point_without_its_sparse_vector_is_noticed(server, store):
    generation = build(store)
    [point] = some_points([a_unit("Ablazione rara")], generation, EMBEDDER)
    body = {"id": str(point.id), "vector": list(point.dense), "payload": point.payload.as_json()}
    server.collections[NAME].upsert({"points": [body]})
    with pytest.raises(VectorStoreUnavailable):
        store.summary(generation)


@pytest.mark.parametrize("version", ["1.17.3", "1.9.0", "0.11.1"])
def test_a_server_that_is_too_old_is_told_before_anything_is_written(server, store, version):
    server.version = version
    with pytest.raises(Bm25Unsupported, match=version.replace(".", r"\.")):
        build(store)
    assert server.collections == {}


@pytest.mark.parametrize("version", ["1.18.0", "1.18.2-dev", "1.21.0", "2.0.0"])
def test_a_newer_server_is_fine(server, store, version):
    server.version = version
    build(store)


def test_a_server_that_will_not_add_bm25_makes_evidence_unavailable(server, store):
    shared.create(server.url, NAME, dimension=64)
    server.script = lambda one: Scripted(status=404) if "/vectors/" in one.path else None
    with pytest.raises(Bm25Unsupported):
        build(store)
    assert store.inspect(a_generation()) is CollectionState.UPGRADEABLE


def test_a_write_that_the_server_only_noted_down_is_not_done(server, store):
    noted = {"result": {"operation_id": 7, "status": "acknowledged"}}
    server.script = lambda one: (
        Scripted(body=json.dumps(noted).encode()) if one.path.endswith("/points") else None
    )
    with pytest.raises(VectorStoreUnavailable):
        build(store)


def test_points_that_the_server_lost_are_noticed_by_the_build(server, store):
    done = {"result": {"operation_id": 7, "status": "completed"}}
    server.script = lambda one: (
        Scripted(body=json.dumps(done).encode()) if one.path.endswith("/points") else None
    )
    with pytest.raises(VectorStoreUnavailable):
        build(store)


def test_the_key_is_sent_and_a_wrong_one_is_the_operators(server, capsys):
    server.api_key = "segreto-giusto"
    with closing(QdrantServerStore(server.url, api_key="segreto-giusto")) as right:
        generation = build(right)
        assert ask(right, generation).fused
    with closing(QdrantServerStore(server.url, api_key="segreto-sbagliato")) as wrong:
        for asking in (wrong.census, wrong.inspect, wrong.summary, wrong.delete):
            with pytest.raises(VectorStoreRefused) as refused:
                asking(generation)
            assert "segreto" not in str(refused.value)
    captured = capsys.readouterr()
    assert "segreto" not in captured.out + captured.err


def test_a_server_that_will_not_create_the_collection_is_told_as_a_refusal(server, store):
    path = f"/collections/{NAME}"
    server.script = lambda one: (
        Scripted(status=403) if (one.method, one.path) == ("PUT", path) else None
    )
    with pytest.raises(VectorStoreRefused):
        build(store)
    assert server.collections == {}


def test_of_two_workers_that_create_or_upgrade_at_once_both_go_on(server, store):
    for dense_only in (False, True):
        generation = a_generation(collection=f"{NAME}-{dense_only}")
        if dense_only:
            shared.create(server.url, generation.collection, dimension=64)

        def quicker(asked: Asked, name: str = generation.collection) -> Scripted | None:
            """Let the rival's request through just before ours, which then is refused."""
            is_change = asked.path == f"/collections/{name}" or "/vectors/" in asked.path
            if asked.method == "PUT" and is_change:
                assert server.answer(asked)[0] == 200
            return None

        server.script = quicker
        build(store, generation)
        server.script = lambda _: None
        assert ask(store, generation).fused
