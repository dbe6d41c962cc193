"""A search whose parts fail says so at once, and never gives an old answer (spec 90, Figures)."""

from __future__ import annotations

import shutil
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

import pytest
from pytest_django import Settings

from publishing import publication, retrieval, wiring
from publishing.adapters.openai import OpenAIEmbedder
from publishing.adapters.qdrant_edge import QdrantEdgeStore
from publishing.adapters.qdrant_server import QdrantServerStore
from publishing.domain.lifecycle import GenerationState
from publishing.domain.query import SearchRequest, build_request
from publishing.ports import EXAM_S
from publishing.retrieval import Available, Outcome
from tests.embedding_servers import EmbeddingStandIn, embedding_stand_in
from tests.publishing.making import SLUG, TERMS, a_registered, an_approver
from tests.qdrant_stand_in import QdrantStandIn
from tests.robustness.counts import times
from tests.robustness.figures import Figures
from tests.scripted_http import Scripted

WITHIN_S: Final = 2.0
BUSY_S: Final = 0.5
"""What a busy machine may add."""
SEARCHES: Final = 10
SILENT = Scripted(wait_s=5.0)
RUBBISH = Scripted(body=b"<html>welcome</html>")


@dataclass
class Place:
    """Something published, the servers it depends on, and questions that nobody asked before."""

    home: Path
    embedder: EmbeddingStandIn
    server: QdrantStandIn
    asked: int = 0
    slowest: float = 0.0
    kept: dict[str, Outcome] = field(default_factory=dict)

    def ask(self) -> Outcome:
        began = time.monotonic()
        outcome = retrieval.search(SLUG, self.question())
        self.slowest = max(self.slowest, time.monotonic() - began)
        return outcome

    def question(self) -> SearchRequest:
        """Give a question whose vector is in no cache."""
        self.asked += 1
        text = f"Che cosa si intende per codice triage, domanda {self.asked}?"
        return build_request({"query": text, "purpose": "sql_generation"})

    def vectors(self) -> Path:
        return self.home / "vectors"


Break = Callable[[Place], Callable[[], object]]
"""Breaks something and gives what makes it good again."""


def folder_gone(place: Place) -> Callable[[], object]:
    away = place.home / "away"
    place.vectors().rename(away)
    return lambda: away.rename(place.vectors())


def folder_damaged(place: Place) -> Callable[[], object]:
    """Damage a file, as seen by a process that opens the folder afterwards."""
    kept = shutil.copytree(place.vectors(), place.home / "kept")
    next(place.vectors().rglob("segment.json")).write_text("{}")
    close(wiring.store())

    def repair() -> None:
        shutil.rmtree(place.vectors())
        kept.rename(place.vectors())

    return repair


def embedder_down(place: Place) -> Callable[[], object]:
    place.embedder.stop()
    close(wiring.embedder())  # the double goes on with connections that it has
    return place.embedder.start


def scripted(double: str, answer: Scripted) -> Break:
    def break_(place: Place) -> Callable[[], object]:
        server = getattr(place, double)
        before, server.script = server.script, lambda _: answer
        return lambda: setattr(server, "script", before)

    return break_


def server_down(place: Place) -> Callable[[], object]:
    place.server.stop()
    close(wiring.store())
    return place.server.start


def points_gone(place: Place) -> Callable[[], object]:
    """Lose one point of the generation, as a server does that was restored from an old copy."""
    written = [body for body in place.server.asks("/points") if body]
    collection = place.server.collections[SLUG]
    collection.delete({"points": [written[-1]["points"][0]["id"]]})
    time.sleep(1.1)  # a look at the collection holds good for a second

    def repair() -> None:
        for body in written:
            collection.upsert(body)

    return repair


EDGE: Mapping[str, Break] = {
    "a folder that is gone": folder_gone,
    "a damaged folder": folder_damaged,
    "an embedder that is down": embedder_down,
    "an embedder that is silent": scripted("embedder", SILENT),
    "an embedder that answers rubbish": scripted("embedder", RUBBISH),
}
SERVER: Mapping[str, Break] = {
    "a server that is down": server_down,
    "a server that is silent": scripted("server", SILENT),
    "a server that fails": scripted("server", Scripted(status=500)),
    "a server that answers rubbish": scripted("server", RUBBISH),
    "a generation that lost a point": points_gone,
}
FAULTS = [("edge", name) for name in EDGE] + [("server", name) for name in SERVER]


def close(part: object) -> None:
    assert isinstance(part, QdrantEdgeStore | QdrantServerStore | OpenAIEmbedder)
    part.close()


@pytest.fixture
def place(
    request: pytest.FixtureRequest, db: None, portal_home: Path, settings: Settings
) -> Iterator[Place]:
    """Publish with the store that the test names, and with embeddings over HTTP."""
    with ExitStack() as stack:
        embedder = stack.enter_context(embedding_stand_in())
        server = stack.enter_context(QdrantStandIn.running(portal_home / "qdrant"))
        settings.PUBLISHING = settings.PUBLISHING | {
            "embedder": "openai",
            "embedder_url": embedder.url,
            "embedder_model": "words",
            "vectors": request.param,
            "qdrant_url": server.url,
        }
        workspace = a_registered(portal_home, single_approver=True)
        generation = workspace.approve(an_approver()).generation
        parts = wiring.parts()
        assert publication.finish(generation, parts=parts) == GenerationState.ACTIVE
        yield Place(portal_home, embedder, server)
        for part in (wiring.store(), parts.store, wiring.embedder(), wiring._embedder(EXAM_S)):
            close(part)


def is_right(outcome: Outcome) -> bool:
    return isinstance(outcome, Available) and len(outcome.results) == len(TERMS)


@pytest.mark.parametrize(("place", "fault"), FAULTS, indirect=["place"])
def test_whatever_fails_every_answer_is_unavailable_in_time_and_then_right_again(
    place: Place, fault: str, figures: Figures
) -> None:
    searches = times(SEARCHES)
    assert is_right(place.ask())
    place.slowest = 0.0
    repair = {**EDGE, **SERVER}[fault](place)
    told = [place.ask() for _ in range(searches)]
    slowest = place.slowest
    repair()
    unavailable = sum(not isinstance(one, Available) for one in told)
    figures.measured(
        "never stale",
        f"{fault}: {unavailable} of {searches} unavailable, {slowest:.1f} s at most",
        holds=unavailable == searches and slowest < WITHIN_S + BUSY_S and heals(place),
    )


def heals(place: Place) -> bool:
    """Tell whether the answer comes back by itself."""
    deadline = time.monotonic() + 10
    while not is_right(place.ask()):
        if time.monotonic() > deadline:
            return False
        time.sleep(0.1)
    return True


@pytest.mark.parametrize("place", ["edge"], indirect=True)
def test_an_answer_that_is_kept_for_bad_times_is_noticed(
    place: Place, figures: Figures, monkeypatch: pytest.MonkeyPatch
) -> None:
    kept = place.ask()
    real = retrieval.search

    def forgiving(workspace: str, request: SearchRequest) -> Outcome:
        outcome = real(workspace, request)
        return outcome if isinstance(outcome, Available) else kept

    monkeypatch.setattr(retrieval, "search", forgiving)
    repair = folder_gone(place)
    noticed = isinstance(place.ask(), Available)
    repair()
    figures.caught("never stale", "an answer that is kept for bad times", noticed=noticed)
