"""What only a server can show: its version, its own BM25, an upgrade beside records of others."""

from __future__ import annotations

from contextlib import closing
from dataclasses import replace

import httpx
import pytest

from publishing.adapters import server_requests as ask
from publishing.adapters.qdrant_server import QdrantServerStore
from publishing.domain.query import build_request, make_filter, render_query_text
from publishing.ports import CollectionState, HybridQuery
from tests.fakes import BagOfWordsEmbedder
from tests.l0 import version
from tests.l0.conftest import API_KEY
from tests.publishing import shared_collection as shared
from tests.publishing.points import COLLECTION, a_generation, a_unit, some_points
from tests.qdrant_stand_in import schema

EMBEDDER = BagOfWordsEmbedder()
TEXTS = {
    1: "La fascia pediatrica comprende i pazienti con meno di quattordici anni.",
    2: "L'ablazione cardiaca è un intervento eseguito in sala di elettrofisiologia.",
}


def test_compose_and_the_vendored_document_name_one_version():
    assert version.of_compose() in (None, schema.VERSION)


def test_the_server_has_the_version_of_compose(real_url):
    answer = httpx.get(real_url, headers={"api-key": API_KEY} if API_KEY else {}, trust_env=False)
    assert answer.json()["version"] == version.wanted()


@pytest.mark.parametrize(("question", "found"), [("paziente PEDIATRICO", 1), ("ablazioni", 2)])
def test_two_italian_texts_are_told_apart_by_the_servers_own_bm25_alone(url, question, found):
    shared.create(url, COLLECTION, dimension=64)
    shared.sent(url, ask.add_bm25(COLLECTION))
    params, _ = shared.config(url, COLLECTION)
    assert params["sparse_vectors"]["bm25"]["modifier"] == "idf"
    generation = a_generation()
    points = [
        {"id": number, "vector": {"bm25": ask.bm25_document(generation, text)}}
        for number, text in TEXTS.items()
    ]
    shared.upsert(url, COLLECTION, points)
    query = {"query": ask.bm25_document(generation, question), "using": "bm25", "limit": 10}
    [lists] = shared.searched(url, COLLECTION, [query])
    assert [point["id"] for point in lists] == [found]


def test_bm25_is_added_beside_records_of_others_which_stay_as_they_are(url):
    shared.create(url, COLLECTION, dimension=64)
    shared.fill(url, COLLECTION, dimension=64)
    generation = a_generation()
    with closing(QdrantServerStore(url, api_key=API_KEY)) as store:

        def seen() -> tuple[object, ...]:
            return (
                shared.of_others(store.census(generation)),
                shared.everything(url, COLLECTION),
                shared.dense_results(url, COLLECTION, dimension=64),
            )

        before = seen()
        assert store.inspect(generation) is CollectionState.UPGRADEABLE
        units = [a_unit(title) for title in ("Fascia pediatrica", "Ablazione cardiaca")]
        summary = store.build(generation, [some_points(units, generation, EMBEDDER)])
        assert store.inspect(generation) is CollectionState.COMPATIBLE
        assert seen() == before
        request = build_request({"query": "ablazioni", "purpose": "disambiguation"})
        query = HybridQuery(
            text=render_query_text(request),
            vector=EMBEDDER.embed_query(request.query),
            filter=make_filter(request, generation.key),
            branches=True,
        )
        answer = store.query(replace(generation, point_count=summary.count), query)
        assert [hit.payload.title for hit in answer.bm25] == ["Ablazione cardiaca"]
        store.delete(generation)
        assert seen() == before
        assert store.census(generation).counts == shared.KINDS
