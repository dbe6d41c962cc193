"""Whatever the server does, the store fails with a fault of its port, and in time."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import closing

import pytest

from publishing.adapters.qdrant_server import QdrantServerStore
from publishing.ports import (
    Bm25Unsupported,
    CollectionIncompatible,
    MalformedPayload,
    StoredGeneration,
    VectorStoreRefused,
    VectorStoreUnavailable,
)
from tests.publishing.on_server import NAME, ask, build
from tests.publishing.points import a_generation
from tests.qdrant_stand_in import QdrantStandIn
from tests.scripted_http import Asked, Scripted


@pytest.fixture
def server(tmp_path) -> Iterator[QdrantStandIn]:
    with QdrantStandIn.running(tmp_path) as double:
        yield double


@pytest.fixture
def store(server: QdrantStandIn) -> Iterator[QdrantServerStore]:
    with closing(QdrantServerStore(server.url)) as opened:
        yield opened


OK = b'{"result": %s, "status": "ok", "time": 0.1}'
FAILURES: dict[str, Scripted] = {
    "500": Scripted(status=500, body=b'{"status": {"error": "boom"}}'),
    "503": Scripted(status=503, body=b"no healthy upstream"),
    "429": Scripted(status=429),
    "301": Scripted(status=301),
    "204": Scripted(status=204),
    "400": Scripted(status=400, body=b'{"status": {"error": "boom"}}'),
    "403": Scripted(status=403, body=b"\xff\xfe"),
    "404": Scripted(status=404),
    "dropped": Scripted(drops=True),
    "nothing": Scripted(body=b""),
    "html": Scripted(body=b"<html>welcome</html>"),
    "cut_off": Scripted(body=b'{"result": {"points": [{"id": 1'),
    "not_utf8": Scripted(body=b'{"result": "\xff"}'),
    "a_number_that_is_none": Scripted(body=OK % b'[{"points": [{"score": NaN}]}]'),
    "too_deep": Scripted(body=b"[" * 200_000),
    "a_list": Scripted(body=b"[]"),
    "no_result": Scripted(body=b'{"status": "ok"}'),
    "null": Scripted(body=OK % b"null"),
    "a_text": Scripted(body=OK % b'"yes"'),
    "another_shape": Scripted(body=OK % b'{"points": 3, "count": "many", "status": 1}'),
    "one_list_too_few": Scripted(body=OK % b'[{"points": []}]'),
    "silent": Scripted(wait_s=4.0),
    "dripping": Scripted(body=OK % (b" " * 100 + b"[]"), drips=True),
}
PORT_FAULTS = (
    VectorStoreUnavailable,
    VectorStoreRefused,
    Bm25Unsupported,
    CollectionIncompatible,
    MalformedPayload,
)
CALLS: dict[str, Callable[[QdrantServerStore, StoredGeneration], object]] = {
    "inspect": lambda store, generation: store.inspect(generation),
    "census": lambda store, generation: store.census(generation),
    "build": build,
    "summary": lambda store, generation: store.summary(generation),
    "query": ask,
    "delete": lambda store, generation: store.delete(generation),
}


@pytest.fixture(scope="module")
def built(tmp_path_factory) -> Iterator[tuple[QdrantStandIn, StoredGeneration]]:
    with QdrantStandIn.running(tmp_path_factory.mktemp("built")) as double:
        with closing(QdrantServerStore(double.url)) as store:
            generation = build(store)
        yield double, generation


def quick(name: str) -> bool:
    return name not in {"silent", "dripping"}


@pytest.mark.parametrize("name", [name for name in FAILURES if quick(name)])
@pytest.mark.parametrize("call", CALLS)
def test_whatever_the_server_answers_is_one_of_the_ports_faults(built, call, name):
    double, generation = built
    double.script = lambda _: FAILURES[name]
    with closing(QdrantServerStore(double.url)) as store:
        if name == "404" and call in {"inspect", "census", "delete"}:
            CALLS[call](store, generation)  # there is no such collection: no failure
            return
        with pytest.raises(PORT_FAULTS):
            CALLS[call](store, generation)


@pytest.mark.parametrize("name", FAILURES)
def test_a_question_fails_within_two_seconds_whichever_of_its_requests_fails(built, name):
    double, generation = built
    for path in ("", "/points/count", "/points/query/batch"):
        double.script = lambda one, path=path: (
            FAILURES[name] if one.path == f"/collections/{NAME}{path}" else None
        )
        started = time.monotonic()
        with closing(QdrantServerStore(double.url)) as store, pytest.raises(PORT_FAULTS):
            ask(store, generation)
        assert time.monotonic() - started < 2.5  # of which half a second is a busy machine's


def test_an_answer_that_is_too_long_is_not_read_to_its_end(built, monkeypatch):
    double, generation = built
    monkeypatch.setattr("publishing.adapters.bounded_http.MAX_ANSWER", 1000)
    double.script = lambda _: Scripted(body=OK % (b'"' + b"x" * 2000 + b'"'))
    with closing(QdrantServerStore(double.url)) as store, pytest.raises(VectorStoreUnavailable):
        store.inspect(generation)


def test_nobody_listening_is_unavailable_and_a_restart_heals_it(server, store):
    generation = build(store)
    server.stop()
    store.close()
    for call in CALLS.values():
        with pytest.raises(VectorStoreUnavailable):
            call(store, generation)
    server.start()
    assert ask(store, generation).fused


def test_a_connection_that_a_restart_cut_is_opened_again(server, store):
    generation = build(store)
    cut: list[str] = []

    def once(asked: Asked) -> Scripted | None:
        if asked.path in cut:
            return None
        cut.append(asked.path)
        return Scripted(drops=True)

    server.script = once
    assert ask(store, generation).fused
    assert len(cut) == 3


@pytest.mark.parametrize("url", ["http://[::1", "http://a b/", "http://127.0.0.1:1", "ftp://x"])
def test_an_address_that_leads_nowhere_is_unavailable(url):
    with pytest.raises(VectorStoreUnavailable):
        QdrantServerStore(url).inspect(a_generation())


def test_a_collections_name_never_leaves_its_place_in_the_path(server, store):
    for name in ("../points", "a/b?wait=false#x", "àè", "%2e%2e"):
        generation = a_generation(collection=name)
        build(store, generation)
        assert ask(store, generation).fused
    assert sorted(server.collections) == sorted(["../points", "a/b?wait=false#x", "àè", "%2e%2e"])
