"""A build writes every fragment of its revision and embeds no text twice."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import pytest

from evidence.domain.tree import EvidenceTree, RefusedPath
from publishing import building, leases, vectors
from publishing.adapters.qdrant_edge import QdrantEdgeStore
from publishing.building import Built, TreeRefused
from publishing.leases import LeaseLost
from publishing.models import EmbeddingRecord, Generation
from publishing.ports import EmbedderUnavailable
from tests.fakes import BagOfWordsEmbedder
from tests.publishing.making import (
    TERMS,
    Clock,
    a_candidate,
    held,
    tree_of,
    workspace_files,
)

pytestmark = pytest.mark.django_db
TREE = tree_of(workspace_files())


def build(
    tree: EvidenceTree, store: QdrantEdgeStore, embedder: BagOfWordsEmbedder, clock: Clock
) -> Built:
    hold = held(a_candidate(tree), clock)
    return building.build(hold=hold, tree=tree, store=store, embedder=embedder)


def test_every_unit_is_stored_with_the_count_and_digest_that_are_read_back(
    store: QdrantEdgeStore, embedder: BagOfWordsEmbedder, clock: Clock
) -> None:
    built = build(TREE, store, embedder, clock)
    assert built.unit_count == len(TERMS)
    assert built.summary.count == len(TERMS)
    assert store.summary(built.stored) == built.summary
    assert built.stored.avg_len > 1
    assert (built.embedder, built.stored.dimension) == (embedder.id, embedder.dimension)


def test_only_curated_markdown_is_published(
    store: QdrantEdgeStore, embedder: BagOfWordsEmbedder, clock: Clock
) -> None:
    files = workspace_files() | {"evidence/curated/glossary/README.txt": b"not a unit"}
    assert build(tree_of(files), store, embedder, clock).unit_count == len(TERMS)


def test_a_second_build_of_the_same_texts_embeds_nothing(
    store: QdrantEdgeStore, embedder: BagOfWordsEmbedder, clock: Clock
) -> None:
    build(TREE, store, embedder, clock)
    count = len(embedder.embedded)
    again = build(TREE, store, embedder, clock)
    assert (again.embedded_count, len(embedder.embedded)) == (0, count)


def test_one_changed_unit_embeds_one_text(
    store: QdrantEdgeStore, embedder: BagOfWordsEmbedder, clock: Clock
) -> None:
    build(TREE, store, embedder, clock)
    changed = tree_of(workspace_files({**TERMS, "codice triage": "Un colore."}))
    assert build(changed, store, embedder, clock).embedded_count == 1


def test_another_embedder_has_vectors_of_its_own(
    store: QdrantEdgeStore, embedder: BagOfWordsEmbedder, clock: Clock
) -> None:
    build(TREE, store, embedder, clock)
    other = BagOfWordsEmbedder()
    other.id = "fake/other/1"
    assert build(TREE, store, other, clock).embedded_count == len(TERMS)


def test_what_was_embedded_before_a_fault_is_kept(
    store: QdrantEdgeStore, embedder: BagOfWordsEmbedder, clock: Clock
) -> None:
    many = {f"termine {number}": f"Significato numero {number}." for number in range(20)}
    tree = tree_of(workspace_files(many))
    fails_later = FailsAfter(1)
    with pytest.raises(EmbedderUnavailable):
        build(tree, store, fails_later, clock)
    kept = EmbeddingRecord.objects.count()
    assert 0 < kept < len(many)
    assert build(tree, store, embedder, clock).embedded_count == len(many) - kept


def test_long_texts_are_embedded_a_few_at_a_time_so_that_the_lease_is_renewed(
    store: QdrantEdgeStore, clock: Clock
) -> None:
    many = {f"termine {number}": f"Voce {number}." + " Parola." * 100 for number in range(20)}
    embedder = CountsCalls()
    build(tree_of(workspace_files(many)), store, embedder, clock)
    assert sum(embedder.calls) == len(many)
    assert all(size <= vectors.BATCH_CHARS for size in embedder.sizes)
    assert len(embedder.calls) > 2


def test_progress_and_lease_are_written_while_it_works(
    store: QdrantEdgeStore, embedder: BagOfWordsEmbedder, clock: Clock
) -> None:
    row = a_candidate(TREE)
    hold = held(row, clock)
    seen: list[tuple[int, int, str]] = []
    watched = replace(hold, watch=lambda *progress: seen.append(progress))
    building.build(hold=watched, tree=TREE, store=store, embedder=embedder)
    assert seen[-1] == (len(TERMS), len(TERMS), "building")
    saved = Generation.objects.get(pk=row.pk)
    assert (saved.progress_done, saved.progress_total) == (len(TERMS), len(TERMS))


def test_a_tree_with_a_refused_path_is_not_published(
    store: QdrantEdgeStore, embedder: BagOfWordsEmbedder, clock: Clock
) -> None:
    tree = replace(TREE, refused=(RefusedPath("curated/x", "symlink_refused"),))
    with pytest.raises(TreeRefused) as refused:
        build(tree, store, embedder, clock)
    assert refused.value.path == "curated/x"


def test_other_content_than_was_approved_is_not_published(
    store: QdrantEdgeStore, embedder: BagOfWordsEmbedder, clock: Clock
) -> None:
    hold = held(a_candidate(TREE), clock)
    other = tree_of(workspace_files({**TERMS, "codice triage": "Un colore."}))
    with pytest.raises(TreeRefused):
        building.build(hold=hold, tree=other, store=store, embedder=embedder)


def test_a_worker_that_lost_its_lease_stops_and_seals_nothing(
    store: QdrantEdgeStore, embedder: BagOfWordsEmbedder, clock: Clock
) -> None:
    row = a_candidate(TREE)
    late = held(row, clock, worker="late")
    clock.forward(hours=1)
    assert leases.claim(row.pk, worker="new", clock=clock) is not None
    with pytest.raises(LeaseLost):
        building.build(hold=late, tree=TREE, store=store, embedder=embedder)


class CountsCalls(BagOfWordsEmbedder):
    """Keeps how many texts and characters each call had."""

    def __init__(self) -> None:
        super().__init__()
        self.calls: list[int] = []
        self.sizes: list[int] = []

    def embed_documents(self, texts: Sequence[str]) -> list[list[float]]:
        self.calls.append(len(texts))
        self.sizes.append(sum(map(len, texts)))
        return super().embed_documents(texts)


class FailsAfter(BagOfWordsEmbedder):
    """Goes down after some calls."""

    def __init__(self, calls: int) -> None:
        super().__init__()
        self._left = calls

    def embed_documents(self, texts: Sequence[str]) -> list[list[float]]:
        self.is_down = self._left == 0
        self._left -= 1
        return super().embed_documents(texts)
