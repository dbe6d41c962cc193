"""What is kept, and what is forgotten once nothing that is kept uses it."""

from __future__ import annotations

import pytest

from publishing import publication, retention
from publishing.domain.lifecycle import GenerationState
from publishing.models import EmbeddingRecord, Generation
from tests.fakes import BagOfWordsEmbedder
from tests.makers import git
from tests.publishing.making import (
    TERMS,
    Scene,
    an_open_approval,
    questions,
    workspace_files,
)

pytestmark = pytest.mark.django_db
_S = GenerationState
KEEP_ONE = (
    workspace_files()["workspace.yaml"].decode() + "publication:\n  retained_generations: 1\n"
)
HARD = questions(TERMS).replace("purpose: sql_generation", "purpose: rewriting")


def test_a_vector_goes_when_no_kept_generation_uses_its_text(scene: Scene) -> None:
    scene.commit({"workspace.yaml": KEEP_ONE.encode()})
    scene.published()
    before = EmbeddingRecord.objects.count()
    scene.commit(workspace_files({**TERMS, "codice triage": "Un colore."}))
    scene.commit({"workspace.yaml": KEEP_ONE.encode()})
    scene.published()
    assert EmbeddingRecord.objects.count() == before == len(TERMS)


def test_a_vector_stays_while_a_retained_generation_uses_its_text(scene: Scene) -> None:
    scene.published()
    scene.commit(workspace_files({**TERMS, "codice triage": "Un colore."}))
    scene.published()
    assert retention.sweep_vectors() == 0
    assert EmbeddingRecord.objects.count() == len(TERMS) + 1


def test_a_failed_candidates_texts_are_not_embedded_again(scene: Scene) -> None:
    scene.commit({"evidence/evaluation.yaml": b"queries: []\n"})
    assert scene.advance(scene.candidate()) == _S.FAILED
    publication.tidy(parts=scene.parts)
    scene.commit(workspace_files())
    assert scene.published().embedded_count == 0


def test_a_deleted_generation_lets_its_commit_go(scene: Scene) -> None:
    scene.commit({"workspace.yaml": KEEP_ONE.encode()})
    first, second = scene.published(), scene.published()
    pins = git(scene.repository.path, "for-each-ref", "--format=%(refname)", "refs/evidence")
    assert Generation.objects.get(pk=first.pk).state == _S.DELETED
    assert pins == f"refs/evidence/generations/{second.pk}"


def test_a_rejected_candidate_can_be_examined_until_a_later_one_is_active(scene: Scene) -> None:
    scene.commit({"evidence/evaluation.yaml": HARD.encode()})
    rejected = scene.candidate()
    assert scene.advance(rejected) == _S.REJECTED
    assert not publication.reexamine("clinica", rejected.pk, parts=scene.parts).passed
    scene.commit(workspace_files())
    scene.published()
    assert Generation.objects.get(pk=rejected.pk).state == _S.DELETED


def test_a_rehearsal_of_another_embedder_is_not_activated(scene: Scene) -> None:
    row = scene.candidate()
    assert scene.advance(row) == _S.READY
    an_open_approval(Generation.objects.get(pk=row.pk))
    other = BagOfWordsEmbedder()
    other.id = "fake/other/1"
    changed = Scene(scene.repository, scene.store, other, scene.clock)
    assert changed.advance(row) == _S.DELETED
    row.refresh_from_db()
    assert row.error_code == "embedder_changed"
    assert row.approval is not None
    assert row.approval.state == "failed"
