"""A search is available or unavailable, and never pretends; a unit is read as it was approved."""

from __future__ import annotations

import shutil
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any
from uuid import UUID

import pytest

from evidence.domain.units import EvidenceKind
from evidence.faults import Fault
from evidence.messages import Message
from evidence.models import Workspace
from publishing import generations, hybrid, outcomes, retrieval, wiring
from publishing.adapters.qdrant_edge import QdrantEdgeStore
from publishing.domain.confidence import Confidence
from publishing.domain.lifecycle import GenerationState
from publishing.domain.points import Point
from publishing.models import Generation
from publishing.ports import (
    Bm25Unsupported,
    CollectionIncompatible,
    EmbedderUnavailable,
    LanguageUnsupported,
    MalformedPayload,
    StoredGeneration,
    VectorRefused,
    VectorStoreUnavailable,
)
from publishing.retrieval import Available, Unavailable, build_request
from tests.fakes import BagOfWordsEmbedder
from tests.makers import a_repository
from tests.publishing.making import SLUG, workspace_files
from tests.publishing.points import REVISION, a_generation, a_unit, some_points

pytestmark = pytest.mark.django_db
TITLES = ("Fascia pediatrica", "Ablazione cardiaca", "Regime di ricovero")
Publish = Callable[..., StoredGeneration]


@pytest.fixture(autouse=True)
def embedder(portal_home: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[BagOfWordsEmbedder]:
    fake = BagOfWordsEmbedder()
    monkeypatch.setattr(wiring, "embedder", lambda workspace=None: fake)
    yield fake
    opened = wiring.store()
    assert isinstance(opened, QdrantEdgeStore)
    opened.close()


@pytest.fixture
def publish(store: QdrantEdgeStore, embedder: BagOfWordsEmbedder) -> Publish:
    def build(
        name: str = "one",
        *,
        state: GenerationState = GenerationState.ACTIVE,
        points: Callable[[list[Point]], list[Point]] = list,
        revision: str = REVISION,
        **columns: Any,
    ) -> StoredGeneration:
        generation = a_generation(name, workspace=SLUG, revision=revision)
        units = [a_unit(title) for title in (*TITLES, name)]
        store.build(generation, [points(some_points(units, generation, embedder))])
        Generation.objects.create(
            id=generation.id,
            workspace=SLUG,
            revision=generation.revision,
            content_digest="sha256:x",
            state=state,
            collection=generation.collection,
            language=generation.language,
            dimension=generation.dimension,
            avg_len=generation.avg_len,
            attempt=generation.attempt,
            **{"embedder": embedder.id} | columns,
        )
        return generation

    return build


def question(query: str = "Che cosa significa ablazione?", **more: Any):
    return build_request({"query": query, "purpose": "disambiguation"} | more)


def search(request=None, **more: Any):
    return retrieval.search(SLUG, request or question(), **more)


def the_code(outcome: object) -> str:
    assert isinstance(outcome, Unavailable)
    return outcome.code.value


def test_the_active_generation_answers_with_its_units(publish):
    generation = publish()
    outcome = search()
    assert isinstance(outcome, Available)
    assert (outcome.generation, outcome.revision) == (generation.id, generation.revision)
    assert outcome.confidence is Confidence.GROUNDED
    best = outcome.results[0]
    assert best.evidence_id == "evidence:ablazione-cardiaca"
    assert best.first.evidence_kind is EvidenceKind.GLOSSARY
    assert best.first.path == "curated/glossary/ablazione-cardiaca.md"
    assert best.first.text.startswith("Glossary: Ablazione")


def test_top_n_cuts_units_and_changes_nothing_else(publish):
    publish()
    whole = search()
    assert len(whole.results) == 4
    assert search(question(top_n=2)).results == whole.results[:2]


def test_the_same_question_a_hundred_times_gives_one_answer(publish):
    publish()
    assert len({search() for _ in range(100)}) == 1


def test_no_result_is_a_good_and_weak_answer(publish):
    publish()
    outcome = search(question(context={"required_concepts": ["nessuno"]}))
    assert isinstance(outcome, Available)
    assert (outcome.results, outcome.confidence) == ((), Confidence.WEAK)
    assert outcome.best_dense is None


def test_a_question_about_something_else_is_weak_but_shown(publish):
    publish(threshold=0.99)
    outcome = search(question("Rammendare un calzino?"))
    assert outcome.results
    assert (outcome.confidence, outcome.lexical_hits) == (Confidence.WEAK, 0)


def test_the_threshold_of_the_exam_wins_over_the_embedders_own(publish, embedder):
    embedder.default_threshold = 0.99
    publish(threshold=-1.0)
    assert search(question("Rammendare un calzino?")).confidence is Confidence.GROUNDED
    Generation.objects.update(threshold=None)
    assert search(question("Rammendare un calzino?")).confidence is Confidence.WEAK


def test_only_the_question_counts_for_lexical_hits_and_not_its_context(publish):
    publish(threshold=0.99)
    outcome = search(question("Rammendare un calzino?", context={"concepts": ["ablazione"]}))
    assert outcome.lexical_hits == 0


def test_nothing_published_is_unavailable(publish):
    publish(state=GenerationState.READY)
    outcome = search()
    assert the_code(outcome) == "no_active_generation"
    assert not outcome.retriable
    assert the_code(retrieval.search("altrove", question())) == "no_active_generation"


def test_another_revision_than_the_pinned_one_is_unavailable(publish):
    generation = publish()
    assert the_code(search(question(workspace_revision="b" * 40))) == "revision_mismatch"
    assert isinstance(search(question(workspace_revision=generation.revision)), Available)


def test_a_retained_generation_answers_when_it_is_named(publish):
    publish("one")
    old = publish("two", state=GenerationState.SUPERSEDED)
    outcome = search(generation=old.id)
    assert outcome.generation == old.id


@pytest.mark.parametrize(
    "state", [state for state in GenerationState if state not in ("active", "superseded")]
)
def test_a_generation_that_is_not_released_is_unknown(publish, state):
    hidden = publish(state=state)
    with pytest.raises(retrieval.GenerationUnknown):
        search(generation=hidden.id)
    with pytest.raises(retrieval.GenerationUnknown):
        retrieval.document(SLUG, "evidence:eta", hidden.id)


def test_a_generation_of_another_workspace_is_unknown(publish):
    generation = publish()
    with pytest.raises(retrieval.GenerationUnknown):
        retrieval.search("altrove", question(), generation=generation.id)


def damage(home: Path, generation: StoredGeneration) -> None:
    folder = home / "vectors" / SLUG / str(generation.id)
    next(folder.rglob("segment.json")).write_text("{}")


def test_never_stale_store_damaged(publish, portal_home):
    damage(portal_home, publish())
    outcome = search()
    assert (the_code(outcome), outcome.retriable) == ("vector_store_unavailable", True)


def test_never_stale_store_gone_after_an_answer(publish, portal_home):
    publish()
    assert isinstance(search(), Available)
    shutil.rmtree(portal_home / "vectors")
    assert the_code(search()) == "vector_store_unavailable"


def test_never_stale_embedder_down(publish, embedder):
    publish()
    embedder.is_down = True
    outcome = search(question("Una domanda nuova"))
    assert (the_code(outcome), outcome.retriable) == ("embedder_unavailable", True)


def test_never_stale_embedder_changed(publish):
    publish(embedder="another/model/1")
    assert the_code(search()) == "embedder_unavailable"


def test_never_stale_embedder_gives_a_bad_vector(publish, embedder, monkeypatch):
    publish()
    monkeypatch.setattr(embedder, "embed_query", lambda text: [float("nan")] * 64)
    assert the_code(search(question("Un'altra domanda nuova"))) == "embedder_unavailable"


def test_never_stale_payload_of_another_revision(publish):
    def forged(points: list[Point]) -> list[Point]:
        payload = points[0].payload.model_copy(update={"workspace_revision": "b" * 40})
        return [replace(points[0], payload=payload), *points[1:]]

    publish(points=forged)
    outcome = search(question("Fascia pediatrica"))
    assert (the_code(outcome), outcome.retriable) == ("malformed_payload", False)


def test_never_stale_language_unknown(publish):
    publish()
    Generation.objects.update(language="tlh")
    assert the_code(search()) in ("vector_store_unavailable", "bm25_unsupported")


def test_a_fault_is_answered_within_two_seconds(publish, portal_home):
    damage(portal_home, publish())
    began = time.monotonic()
    search()
    assert time.monotonic() - began < 2


@pytest.mark.parametrize(
    ("fault", "code"),
    [
        (VectorStoreUnavailable, "vector_store_unavailable"),
        (CollectionIncompatible, "collection_incompatible"),
        (Bm25Unsupported, "bm25_unsupported"),
        (LanguageUnsupported, "bm25_unsupported"),
        (EmbedderUnavailable, "embedder_unavailable"),
        (VectorRefused, "embedder_unavailable"),
        (MalformedPayload, "malformed_payload"),
    ],
)
def test_every_fault_has_a_code_and_a_message_without_internals(fault: type[Fault], code):
    outcome = outcomes.unavailable_for(fault(Message("secret /var/lib/portal 10.0.0.1")))
    assert outcome.code == code
    assert "secret" not in str(outcome.message)
    assert 0 < len(outcome.message) < 100
    assert fault in outcomes.SEARCH_FAULTS


def test_every_code_has_a_message():
    assert set(outcomes.MESSAGES) == set(outcomes.UnavailableCode)


def test_a_generation_that_was_replaced_meanwhile_is_asked_for_anew(
    publish, portal_home, monkeypatch
):
    old = publish("one")
    before = generations.active(SLUG)
    Generation.objects.filter(id=old.id).update(state=GenerationState.DELETED)
    new = publish("two")
    shutil.rmtree(portal_home / "vectors" / SLUG / str(old.id))
    seen = iter([before])
    active = generations.active
    monkeypatch.setattr(generations, "active", lambda slug: next(seen, None) or active(slug))
    assert search().generation == new.id


def test_a_question_is_embedded_once(publish, embedder):
    publish()
    embedder.embedded.clear()
    for _ in range(3):
        search(question("Una domanda che si ripete"))
    assert embedder.embedded == ["Domanda: Una domanda che si ripete"]


def test_both_branches_get_the_rendered_text(publish, embedder, store):
    generation = publish()
    request = question("pediatrica", context={"concepts": ["ricovero", "ablazione"]})
    found = hybrid.search_generation(
        generation, request, store=store, embedder=embedder, threshold=None, depth=20
    )
    assert embedder.embedded[-1] == "Domanda: pediatrica\nConcetti: ablazione, ricovero"
    assert {hit.payload.title for hit in found.bm25} == set(TITLES)


@pytest.fixture
def in_git(portal_home: Path) -> str:
    (portal_home / "repositories").mkdir()
    repository = a_repository(portal_home / "repositories" / f"{SLUG}.git", workspace_files())
    Workspace.objects.create(slug=SLUG, title="Clinica", language="it", branch="main")
    return repository.head("main")


def test_a_whole_unit_is_read_at_the_revision_of_the_generation(publish, in_git):
    generation = publish(revision=in_git)
    found = retrieval.document(SLUG, "evidence:fascia-pediatrica")
    assert (found.generation, found.revision) == (generation.id, in_git)
    assert found.path == "curated/glossary/fascia-pediatrica.md"
    assert found.unit.title == "Fascia pediatrica"
    assert found.markdown.encode() == workspace_files()[f"evidence/{found.path}"]


def test_a_unit_that_the_revision_lacks_is_unknown(publish, in_git):
    publish(revision=in_git)
    with pytest.raises(retrieval.UnitUnknown):
        retrieval.document(SLUG, "evidence:mai-scritta")


def test_without_an_active_generation_there_is_no_document(in_git):
    with pytest.raises(retrieval.GenerationUnknown):
        retrieval.document(SLUG, "evidence:fascia-pediatrica")
    with pytest.raises(retrieval.GenerationUnknown):
        retrieval.document(SLUG, "evidence:fascia-pediatrica", UUID(int=7))
