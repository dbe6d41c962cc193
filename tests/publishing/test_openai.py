"""The embedder over HTTP: batches, patience, and answers that are no vectors."""

from __future__ import annotations

import json
import math
import time
from collections.abc import Callable, Iterator
from contextlib import closing
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime

import pytest

from evidence.faults import Fault
from publishing.adapters.openai import BATCH, OpenAIEmbedder
from publishing.domain.vectors import VectorRefused
from publishing.ports import EmbedderRefused, EmbedderUnavailable
from tests.embedding_servers import EmbeddingStandIn, embedding_stand_in
from tests.scripted_http import Asked, Scripted

TEXTS = ["febbre alta", "bilancio in attivo"]


@pytest.fixture
def server() -> Iterator[EmbeddingStandIn]:
    with embedding_stand_in() as double:
        yield double


@pytest.fixture
def pauses() -> list[float]:
    return []


@pytest.fixture
def embedder(server: EmbeddingStandIn, pauses: list[float]) -> Iterator[OpenAIEmbedder]:
    opened = OpenAIEmbedder(server.url, "any/model:7b", api_key="segreto", pause=pauses.append)
    with closing(opened) as one:
        yield one


def answering(data: object) -> Callable[[Asked], Scripted]:
    return lambda _: Scripted(body=json.dumps({"data": data}).encode())


def first(count: int, scripted: Scripted) -> Callable[[Asked], Scripted | None]:
    """Play the script for the first requests, then let the double answer."""
    left = [scripted] * count
    return lambda _: left.pop() if left else None


def test_a_request_is_what_every_such_server_takes(server, embedder):
    embedder.embed_documents(TEXTS)
    asked = server.asked[0]
    assert (asked.method, asked.path) == ("POST", "/v1/embeddings")
    assert asked.body == {"model": "any/model:7b", "input": TEXTS, "encoding_format": "float"}
    assert asked.headers["authorization"] == "Bearer segreto"


@pytest.mark.parametrize("suffix", ["", "/", "/v1", "/v1/", "/v1/embeddings", "/v1/embeddings/"])
def test_an_address_may_be_written_in_any_usual_way(server, suffix):
    with closing(OpenAIEmbedder(server.url + suffix, "m")) as embedder:
        assert embedder.dimension == 64


def test_the_id_names_model_and_size(embedder):
    assert embedder.id == "openai/any%2Fmodel:7b/64"


def test_without_a_key_none_is_sent(server):
    with closing(OpenAIEmbedder(server.url, "m")) as embedder:
        embedder.embed_query("x")
    assert "authorization" not in server.asked[0].headers


def test_many_texts_go_in_batches_and_come_back_in_order(server, embedder):
    texts = [f"parola{number}" for number in range(2 * BATCH + 3)]
    vectors = embedder.embed_documents(texts)
    sent = [asked.body["input"] for asked in server.asked if asked.body["input"][0] != "dimension"]
    assert [len(batch) for batch in sent] == [BATCH, BATCH, 3]
    assert vectors == [pytest.approx(embedder.embed_documents([text])[0]) for text in texts]


def test_the_size_is_asked_for_once(server, embedder):
    for _ in range(3):
        assert (embedder.dimension, embedder.id[-3:]) == (64, "/64")
    assert len(server.asked) == 1


def test_vectors_come_back_with_length_one(server, embedder):
    assert embedder.dimension == 64
    server.script = answering([{"embedding": [3e100, 4e100] + [0.0] * 62}])
    [vector] = embedder.embed_documents(["x"])
    assert vector[:2] == pytest.approx([0.6, 0.8])


def test_without_an_index_the_order_decides(server, embedder):
    assert embedder.dimension == 64
    one, two = [1.0] + [0.0] * 63, [0.0] * 63 + [1.0]
    server.script = answering([{"embedding": one}, {"embedding": two}])
    assert embedder.embed_documents(TEXTS) == [one, two]


ONE = [1.0] + [0.0] * 63
RUBBISH: dict[str, object] = {
    "no_vectors": [],
    "fewer_vectors": [{"index": 0, "embedding": ONE}],
    "more_vectors": [{"index": place, "embedding": ONE} for place in range(3)],
    "one_place_twice": [{"index": 0, "embedding": ONE}, {"index": 0, "embedding": ONE}],
    "a_place_that_is_none": [{"index": 0, "embedding": ONE}, {"index": 2, "embedding": ONE}],
    "an_empty_vector": [{"embedding": ONE}, {"embedding": []}],
    "not_a_number": [{"embedding": ONE}, {"embedding": [math.nan, *ONE[1:]]}],
    "a_word": [{"embedding": ONE}, {"embedding": ["NaN", *ONE[1:]]}],
    "null": [{"embedding": ONE}, {"embedding": None}],
    "base64": [{"embedding": ONE}, {"embedding": "AACAPwAAAAA="}],
    "an_object": {"embedding": ONE},
}


@pytest.mark.parametrize("data", RUBBISH.values(), ids=RUBBISH)
def test_an_answer_that_is_not_one_vector_a_text_is_unavailable(server, embedder, pauses, data):
    assert embedder.dimension == 64
    server.script = answering(data)
    with pytest.raises(EmbedderUnavailable):
        embedder.embed_documents(TEXTS)
    assert pauses == []


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"<html>",
        b"[]",
        b'{"data"',
        b'{"error": "x"}',
        b"\xff",
        b"[" * 100_000,
        b'{"data": [{"embedding": [1e999]}]}',
    ],
)
def test_an_answer_that_is_no_such_json_is_unavailable(server, embedder, body):
    server.script = lambda _: Scripted(body=body)
    with pytest.raises(EmbedderUnavailable):
        embedder.embed_query("x")


@pytest.mark.parametrize(
    "vector", [ONE[:-1], [*ONE, 0.0], [0.0] * 64], ids=["short", "long", "zero"]
)
def test_a_vector_of_another_size_or_zero_is_refused(server, embedder, vector):
    assert embedder.dimension == 64
    server.script = answering([{"embedding": ONE}, {"embedding": vector}])
    with pytest.raises(VectorRefused):
        embedder.embed_documents(TEXTS)


@pytest.mark.parametrize("status", [408, 429, 500, 502, 503, 504])
def test_what_may_pass_is_tried_again_after_ever_longer_pauses(server, embedder, pauses, status):
    server.script = first(3, Scripted(status=status))
    assert len(embedder.embed_documents(TEXTS)) == 2
    assert pauses == [0.5, 1.0, 2.0]


def test_a_dropped_connection_is_tried_again(server, embedder, pauses):
    server.script = first(4, Scripted(drops=True))
    assert len(embedder.embed_documents(TEXTS)) == 2
    assert pauses == [0.5, 1.0]


@pytest.mark.parametrize(
    ("written", "pause"),
    [("7", 7), (" 7 ", 7), ("0", 0.5), ("soon", 0.5), ("-3", 0.5), ("1.5", 0.5)],
)
def test_the_pause_that_the_server_asks_for_is_kept(server, embedder, pauses, written, pause):
    server.script = first(1, Scripted(status=429, headers={"Retry-After": written}))
    embedder.embed_documents(TEXTS)
    assert pauses == [pause]


@pytest.mark.parametrize(("in_s", "least", "most"), [(30, 1, 30), (-86_400, 0.5, 0.5)])
def test_the_pause_may_be_given_as_a_date(server, embedder, pauses, in_s, least, most):
    at = format_datetime(datetime.now(UTC) + timedelta(seconds=in_s), usegmt=True)
    server.script = first(1, Scripted(status=429, headers={"Retry-After": at}))
    embedder.embed_documents(TEXTS)
    assert len(pauses) == 1
    assert least <= pauses[0] <= most


def test_a_pause_longer_than_the_time_there_is_is_not_waited_for(server, embedder, pauses):
    server.script = lambda _: Scripted(status=429, headers={"Retry-After": "9" * 400})
    with pytest.raises(EmbedderUnavailable):
        embedder.embed_documents(TEXTS)
    assert pauses == []


def test_a_question_does_not_wait_long(server):
    server.script = lambda _: Scripted(status=503)
    started = time.monotonic()
    with closing(OpenAIEmbedder(server.url, "m")) as embedder, pytest.raises(EmbedderUnavailable):
        embedder.embed_query("x")
    assert time.monotonic() - started < 2.0


@pytest.mark.parametrize("status", [204, 301, 400, 401, 403, 404, 413, 422])
def test_what_will_not_pass_is_the_operators_and_asked_once(server, embedder, pauses, status):
    server.script = lambda _: Scripted(status=status, body=b'{"error": "segreto"}')
    with pytest.raises(EmbedderRefused, match=str(status)) as refused:
        embedder.embed_documents(TEXTS)
    assert (len(server.asked), pauses) == (1, [])
    assert "segreto" not in str(refused.value)


def test_nobody_listening_is_unavailable_and_a_restart_heals_it(server, embedder):
    server.stop()
    with pytest.raises(EmbedderUnavailable):
        embedder.embed_query("x")
    server.start()
    assert len(embedder.embed_query("x")) == 64


def test_the_size_of_a_silent_server_is_unavailable_too(server, embedder):
    server.stop()
    for name in ("id", "dimension"):
        with pytest.raises(EmbedderUnavailable):
            getattr(embedder, name)
    server.start()


@pytest.mark.parametrize("url", ["http://a b", "ftp://x", "nonsense", ""])
def test_an_address_that_leads_nowhere_is_one_of_the_ports_faults(url):
    with pytest.raises(Fault) as raised:
        OpenAIEmbedder(url, "m", pause=lambda _: None).embed_query("x")
    assert isinstance(raised.value, EmbedderUnavailable)
