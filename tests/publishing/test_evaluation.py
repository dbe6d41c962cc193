"""The exam asks what the API would ask, and reports where every expected unit came."""

from __future__ import annotations

import pytest

from evidence.domain.questions import EvaluationInvalid
from evidence.domain.tree import EvidenceTree
from publishing import building, evaluation
from publishing.adapters.qdrant_edge import QdrantEdgeStore
from publishing.domain.exam import Exam
from publishing.domain.query import build_request
from publishing.evaluation import EvaluationMissing
from publishing.hybrid import search_generation
from publishing.models import Evaluation
from publishing.ports import StoredGeneration
from tests.fakes import BagOfWordsEmbedder
from tests.publishing.making import (
    OFF_TOPIC,
    TERMS,
    Clock,
    a_candidate,
    held,
    questions,
    tree_of,
    workspace_files,
)

pytestmark = pytest.mark.django_db
TREE = tree_of(workspace_files())


@pytest.fixture
def built(store: QdrantEdgeStore, embedder: BagOfWordsEmbedder, clock: Clock) -> StoredGeneration:
    hold = held(a_candidate(TREE), clock)
    return building.build(hold=hold, tree=TREE, store=store, embedder=embedder).stored


def examine(
    built: StoredGeneration,
    store: QdrantEdgeStore,
    embedder: BagOfWordsEmbedder,
    tree: EvidenceTree = TREE,
) -> Exam:
    return evaluation.examine(
        built, tree=tree, store=store, embedder=embedder, keep=lambda done, total: None
    )


def with_evaluation(text: str) -> EvidenceTree:
    return tree_of(workspace_files(evaluation=text))


def test_a_workspace_that_finds_its_units_passes(
    built: StoredGeneration, store: QdrantEdgeStore, embedder: BagOfWordsEmbedder
) -> None:
    exam = examine(built, store, embedder)
    assert exam.passed
    assert exam.hit_at_10 == 1.0
    assert exam.by_kind() == {"glossary": {"expected": len(TERMS), "found_at_10": len(TERMS)}}


def test_the_fused_rank_is_the_place_in_the_answer_of_the_api(
    built: StoredGeneration, store: QdrantEdgeStore, embedder: BagOfWordsEmbedder
) -> None:
    for answer in examine(built, store, embedder).answered:
        asked = build_request({"query": answer.question.query, "purpose": answer.question.purpose})
        found = search_generation(built, asked, store=store, embedder=embedder, threshold=None)
        ids = [unit.evidence_id for unit in found.units]
        assert {ids[rank - 1]: rank for rank in range(1, len(ids) + 1)} == answer.ranks.fused


def test_both_branches_have_ranks_of_their_own(
    built: StoredGeneration, store: QdrantEdgeStore, embedder: BagOfWordsEmbedder
) -> None:
    for answer in examine(built, store, embedder).answered:
        expected = answer.question.expected[0]
        assert answer.ranks.dense[expected] >= 1
        assert answer.ranks.bm25[expected] == 1


def test_the_exam_repeated_gives_the_same_report(
    built: StoredGeneration, store: QdrantEdgeStore, embedder: BagOfWordsEmbedder
) -> None:
    first, second = (examine(built, store, embedder).as_json() for _ in range(2))
    assert first == second


def test_the_threshold_separates_questions_with_an_answer_from_those_without(
    built: StoredGeneration, store: QdrantEdgeStore, embedder: BagOfWordsEmbedder
) -> None:
    exam = examine(built, store, embedder)
    assert exam.threshold != embedder.default_threshold
    assert [(one.query, one.confidence) for one in exam.off_topic] == [(OFF_TOPIC, "weak")]


def test_without_questions_off_topic_the_threshold_is_the_embedders(
    built: StoredGeneration, store: QdrantEdgeStore, embedder: BagOfWordsEmbedder
) -> None:
    exam = examine(built, store, embedder, with_evaluation(questions(TERMS, off_topic=False)))
    assert exam.threshold == embedder.default_threshold
    assert exam.as_json()["off_topic"] == []


def test_a_purpose_that_the_unit_lacks_never_finds_it(
    built: StoredGeneration, store: QdrantEdgeStore, embedder: BagOfWordsEmbedder
) -> None:
    text = questions(TERMS).replace("purpose: sql_generation", "purpose: rewriting")
    exam = examine(built, store, embedder, with_evaluation(text))
    assert not exam.passed
    assert exam.as_json()["empty_queries"] == [
        "fascia-pediatrica",
        "giornata-di-degenza",
        "codice-triage",
        "terapia-anticoagulante",
    ]


def test_a_question_that_expects_an_unknown_unit_cannot_be_examined(
    built: StoredGeneration, store: QdrantEdgeStore, embedder: BagOfWordsEmbedder
) -> None:
    tree = with_evaluation(questions(TERMS).replace("evidence:codice-triage", "evidence:altro"))
    with pytest.raises(EvaluationMissing):
        examine(built, store, embedder, tree)


def test_a_revision_without_questions_cannot_be_examined(
    built: StoredGeneration, store: QdrantEdgeStore, embedder: BagOfWordsEmbedder
) -> None:
    files = workspace_files()
    del files["evidence/evaluation.yaml"]
    with pytest.raises(EvaluationMissing):
        examine(built, store, embedder, tree_of(files))


def test_an_unreadable_set_names_its_fault(
    built: StoredGeneration, store: QdrantEdgeStore, embedder: BagOfWordsEmbedder
) -> None:
    with pytest.raises(EvaluationInvalid):
        examine(built, store, embedder, with_evaluation("queries: []\n"))


def test_the_report_is_kept_as_it_is_printed(
    built: StoredGeneration, store: QdrantEdgeStore, embedder: BagOfWordsEmbedder
) -> None:
    exam = examine(built, store, embedder)
    evaluation.record(exam, generation=a_candidate(TREE))
    kept = Evaluation.objects.get()
    assert kept.report == exam.as_json()
    assert (kept.passed, kept.hit_at_10, kept.question_count) == (True, 1.0, len(TERMS))
