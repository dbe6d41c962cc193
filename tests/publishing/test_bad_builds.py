"""A build with a bad embedder, language or disk: coded, undone, and the worker goes on."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from contextlib import closing
from dataclasses import replace
from typing import Any

import pytest

from publishing import publication
from publishing.adapters import edge_program
from publishing.adapters.openai import OpenAIEmbedder
from publishing.domain.lifecycle import ApprovalState, GenerationState
from publishing.generations import stored
from publishing.models import Approval, EmbeddingRecord, Generation
from publishing.parts import Parts
from publishing.ports import CollectionState
from tests.embedding_servers import EmbeddingStandIn, embedding_stand_in
from tests.publishing.making import WORKSPACE_YAML, Scene
from tests.scripted_http import Asked, Scripted

pytestmark = pytest.mark.django_db
Vectors = list[list[float]]
ANSWERS: dict[str, tuple[str, Callable[[Vectors], Vectors]]] = {
    "fewer vectors": ("embedder_unavailable", lambda vectors: vectors[:-1]),
    "no vector": ("embedder_unavailable", lambda vectors: [[] for _ in vectors]),
    "another size": ("vector_refused", lambda vectors: [vector[:-1] for vector in vectors]),
    "NaN": ("embedder_unavailable", lambda vectors: [[float("nan")] * 64 for _ in vectors]),
    "zeros": ("vector_refused", lambda vectors: [[0.0] * 64 for _ in vectors]),
}
REFUSALS: dict[str, tuple[str, Scripted]] = {
    "429": ("embedder_unavailable", Scripted(status=429, headers={"retry-after": "1"})),
    "401": ("embedder_refused", Scripted(status=401)),
    "rubbish": ("embedder_unavailable", Scripted(body=b"<html>welcome</html>")),
}


@pytest.fixture
def server() -> Iterator[EmbeddingStandIn]:
    with embedding_stand_in() as double:
        yield double


@pytest.fixture
def parts(scene: Scene, server: EmbeddingStandIn) -> Iterator[Parts]:
    with closing(OpenAIEmbedder(server.url, "words", pause=lambda _: None)) as embedder:
        assert embedder.dimension == 64
        yield replace(scene.parts, embedder=lambda workspace: embedder)


def ended(scene: Scene, parts: Parts) -> Generation:
    """Publish until the candidate rests, and see that it ended and left nothing."""
    row = scene.candidate(approved=True)
    states = [publication.advance(row.pk, worker=f"worker {n}", parts=parts) for n in range(3)]
    assert states[-1] == GenerationState.FAILED
    row.refresh_from_db()
    assert Approval.objects.get(generations=row).state == ApprovalState.FAILED
    assert scene.store.inspect(stored(row)) is CollectionState.MISSING
    return row


def changed(server: EmbeddingStandIn, change: Callable[[Vectors], Vectors]) -> Callable[..., Any]:
    def answer(asked: Asked) -> Scripted:
        _, body = server.answer(asked)
        vectors = change([one["embedding"] for one in body["data"]])
        body["data"] = [
            {"index": place, "embedding": vector} for place, vector in enumerate(vectors)
        ]
        return Scripted(body=json.dumps(body).encode())

    return answer


@pytest.mark.parametrize("name", ANSWERS)
def test_vectors_that_are_no_good_end_the_candidate_and_nothing_is_kept(
    scene: Scene, parts: Parts, server: EmbeddingStandIn, name: str
) -> None:
    code, change = ANSWERS[name]
    server.script = changed(server, change)
    assert ended(scene, parts).error_code == code
    assert EmbeddingRecord.objects.count() == 0


@pytest.mark.parametrize("name", REFUSALS)
def test_an_endpoint_that_refuses_or_answers_rubbish_ends_the_candidate(
    scene: Scene, parts: Parts, server: EmbeddingStandIn, name: str
) -> None:
    code, answer = REFUSALS[name]
    server.script = lambda _: answer
    assert ended(scene, parts).error_code == code
    assert EmbeddingRecord.objects.count() == 0


def test_a_language_without_an_analyser_is_refused_before_anything_is_embedded(
    scene: Scene, parts: Parts, server: EmbeddingStandIn
) -> None:
    scene.commit({"workspace.yaml": WORKSPACE_YAML.replace("it\n", "tlh\n").encode()})
    asked = len(server.asked)
    row = scene.candidate(approved=True)
    Generation.objects.filter(pk=row.pk).update(language="tlh")
    assert publication.advance(row.pk, worker="worker", parts=parts) == GenerationState.FAILED
    row.refresh_from_db()
    assert row.error_code == "language_unsupported"
    assert len(server.asked) == asked


@pytest.mark.parametrize("program", ["full_disk", "mapped_file_on_a_full_disk"])
def test_a_full_disk_ends_the_candidate_and_not_the_worker(
    scene: Scene, monkeypatch: pytest.MonkeyPatch, program: str
) -> None:
    active = scene.published()
    monkeypatch.setattr(edge_program, "MODULE", f"tests.publishing.fillers.{program}")
    row = ended(scene, scene.parts)
    assert row.error_code == "vector_store_unavailable"
    assert row.error_message == "The disk for vectors is full."
    monkeypatch.undo()
    assert scene.ask(active, "Che cosa si intende per codice triage?")
    assert scene.published().state == GenerationState.ACTIVE
