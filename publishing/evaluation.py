"""Examine a generation: every question through the very search that the API uses (spec 50)."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import PurePosixPath

from evidence.domain.identifiers import slug_from_id
from evidence.domain.questions import EvaluationSet, parse_evaluation
from evidence.domain.tree import EVALUATION_PATH, EvidenceTree
from evidence.domain.units import EvidencePurpose
from evidence.faults import CuratorFault
from evidence.messages import Message, gettext_noop
from publishing.domain.confidence import judge, separating_threshold
from publishing.domain.exam import LAST, Answered, Exam, OffTopic, Ranks
from publishing.domain.query import build_request
from publishing.domain.scoring import unit_ranks
from publishing.hybrid import Found, search_generation
from publishing.models import Evaluation, Generation
from publishing.ports import BRANCH, Embedder, StoredGeneration, VectorStore

Keep = Callable[[int, int], object]
"""Told how many questions are done, and of how many, before each; renews the lease meanwhile."""


class EvaluationMissing(CuratorFault):
    """The revision has no evaluation set, or it expects a unit that the revision lacks."""

    code = "evaluation_missing"


@dataclass(frozen=True, slots=True)
class Examiner:
    """One generation under examination."""

    generation: StoredGeneration
    store: VectorStore
    embedder: Embedder

    def ask(self, query: str, purpose: EvidencePurpose) -> Found:
        """Ask as the API does, and see both branches too."""
        return search_generation(
            self.generation,
            build_request({"query": query, "purpose": purpose, "top_n": LAST}),
            store=self.store,
            embedder=self.embedder,
            threshold=None,
            depth=BRANCH,
        )


def examine(
    generation: StoredGeneration,
    *,
    tree: EvidenceTree,
    store: VectorStore,
    embedder: Embedder,
    keep: Keep,
) -> Exam:
    """Run the evaluation set of the generation's own revision against it; changes nothing.

    Raises `EvaluationMissing`, `EvaluationInvalid`, and the faults of store and embedder.
    """
    questions = read_questions(tree)
    kinds = kinds_of(tree, {unit for one in questions.queries for unit in one.expected})
    examiner = Examiner(generation, store, embedder)
    found = list(_ask_all(examiner, questions, keep))
    strangers = [_ask_stranger(examiner, query, questions) for query in questions.off_topic]
    threshold = separating_threshold(_similarities(found), _similarities(strangers))
    line = embedder.default_threshold if threshold is None else threshold
    return Exam(
        revision=generation.revision,
        generation=str(generation.id),
        fusion=generation.fusion,
        answered=[
            Answered(question, _ranks(one))
            for question, one in zip(questions.queries, found, strict=True)
        ],
        kinds=kinds,
        threshold=line,
        off_topic=[
            _judged(query, stranger, line)
            for query, stranger in zip(questions.off_topic, strangers, strict=True)
        ],
    )


def record(exam: Exam, *, generation: Generation) -> Evaluation:
    """Keep the report, so that later ones can be compared with it."""
    return Evaluation.objects.create(
        workspace=generation.workspace,
        generation=generation,
        passed=exam.passed,
        hit_at_5=exam.hit_at_5,
        hit_at_10=exam.hit_at_10,
        question_count=len(exam.answered),
        report=exam.as_json(),
        answers=exam.answers(),
    )


def read_questions(tree: EvidenceTree) -> EvaluationSet:
    """Give the tree's evaluation set. Raises `EvaluationMissing`, `EvaluationInvalid`."""
    data = tree.files.get(EVALUATION_PATH)
    if data is None:
        raise EvaluationMissing(
            Message(gettext_noop("The revision has no evaluation.yaml.")), path=EVALUATION_PATH
        )
    return parse_evaluation(data.decode())


def kinds_of(tree: EvidenceTree, wanted: set[str]) -> dict[str, str]:
    """Give the kind of each expected unit from its canonical path `curated/<kind>/<slug>.md`.

    Raises `EvaluationMissing` for an id that the revision lacks.
    """
    kinds = {PurePosixPath(p).stem: PurePosixPath(p).parent.name for p in tree.under("curated/")}
    unknown = sorted(unit for unit in wanted if slug_from_id(unit) not in kinds)
    if unknown:
        raise EvaluationMissing(
            Message(gettext_noop("The revision has no unit %(id)s."), id=unknown[0]),
            path=EVALUATION_PATH,
        )
    return {unit: kinds[slug_from_id(unit)] for unit in wanted}


def _ask_all(examiner: Examiner, questions: EvaluationSet, keep: Keep) -> Iterator[Found]:
    total = len(questions.queries)
    for number, question in enumerate(questions.queries):
        keep(number, total)
        yield examiner.ask(question.query, question.purpose)
    keep(total, total)


def _ask_stranger(examiner: Examiner, query: str, questions: EvaluationSet) -> Found:
    """Ask an off-topic question for each purpose of the set, and give the most similar answer."""
    purposes = sorted({question.purpose for question in questions.queries})
    return max((examiner.ask(query, purpose) for purpose in purposes), key=_similarity)


def _ranks(found: Found) -> Ranks:
    return Ranks(
        dense=unit_ranks(found.dense[:BRANCH]),
        bm25=unit_ranks(found.bm25[:BRANCH]),
        fused=unit_ranks(found.fused),
    )


def _similarity(found: Found) -> float:
    return -1.0 if found.best_dense is None else found.best_dense


def _similarities(found: Sequence[Found]) -> list[float]:
    return [one.best_dense for one in found if one.best_dense is not None]


def _judged(query: str, found: Found, threshold: float) -> OffTopic:
    confidence = judge(
        found=bool(found.units),
        best_dense=found.best_dense,
        threshold=threshold,
        lexical_hits=found.lexical_hits,
    )
    return OffTopic(query=query, confidence=confidence)
