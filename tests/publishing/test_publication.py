"""From a candidate to the active generation, and every way in which it does not get there."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from pathlib import Path

import pytest
from pytest_django import Settings

from publishing import leases, publication
from publishing.adapters.qdrant_edge import QdrantEdgeStore
from publishing.domain.digests import PointsSummary
from publishing.domain.lifecycle import ApprovalState, GenerationState
from publishing.domain.points import Point
from publishing.generations import stored
from publishing.models import Approval, Evaluation, Generation, PublicationEvent
from publishing.ports import (
    Beat,
    CollectionState,
    StoredGeneration,
    VectorStoreUnavailable,
    no_beat,
)
from publishing.publication import NothingToExamine
from tests.makers import git
from tests.publishing.making import TERMS, Scene, an_open_approval, questions, workspace_files

pytestmark = pytest.mark.django_db
_S = GenerationState
QUESTION = "Che cosa si intende per codice triage?"
HARD = questions(TERMS).replace("purpose: sql_generation", "purpose: rewriting")


class StoreDown(QdrantEdgeStore):
    """A store that answers to nobody."""

    def build(
        self,
        generation: StoredGeneration,
        points: Iterable[Sequence[Point]],
        *,
        beat: Beat = no_beat,
    ) -> PointsSummary:
        raise VectorStoreUnavailable("The store is down.")

    def delete(self, generation: StoredGeneration) -> None:
        raise VectorStoreUnavailable("The store is down.")


def steps(generation: Generation) -> list[str]:
    events = PublicationEvent.objects.filter(generation=generation).order_by("id")
    return [event.to_state for event in events]


def test_an_approved_candidate_becomes_active(scene: Scene) -> None:
    row = scene.published()
    assert steps(row) == ["building", "evaluating", "ready", "active"]
    assert row.approval is not None
    assert row.approval.state == ApprovalState.ACTIVATED
    assert (row.unit_count, row.point_count) == (len(TERMS), len(TERMS))
    assert row.threshold is not None
    assert scene.ask(row, QUESTION)[0] == "evidence:codice-triage"
    assert (row.lease_owner, row.lease_expires_at) == ("", None)


def test_the_activation_is_the_approvers_word(scene: Scene) -> None:
    row = scene.published()
    event = PublicationEvent.objects.get(generation=row, to_state="active")
    assert (event.actor, event.reason) == ("approvatore", "Marzo")


def test_the_commit_stays_reachable(scene: Scene) -> None:
    row = scene.published()
    kept = git(scene.repository.path, "rev-parse", f"refs/evidence/generations/{row.pk}")
    assert kept == row.revision


def test_a_rehearsal_waits_ready_and_is_activated_by_an_approval_without_a_build(
    scene: Scene,
) -> None:
    row = scene.candidate()
    assert scene.advance(row) == _S.READY
    embedded = len(scene.embedder.embedded)
    assert scene.advance(row) == _S.READY
    an_open_approval(Generation.objects.get(pk=row.pk))
    assert scene.advance(row) == _S.ACTIVE
    assert len(scene.embedder.embedded) == embedded


def test_a_candidate_that_fails_its_exam_leaves_the_active_one_untouched(scene: Scene) -> None:
    active = scene.published()
    before = scene.ask(active, QUESTION)
    scene.commit({"evidence/evaluation.yaml": HARD.encode()})
    row = scene.candidate(approved=True)
    assert scene.advance(row) == _S.REJECTED
    approval = Approval.objects.get(generations=row)
    assert approval.state == ApprovalState.EXAM_FAILED
    assert approval.outcome
    active.refresh_from_db()
    assert active.state == _S.ACTIVE
    assert scene.ask(active, QUESTION) == before
    assert not Evaluation.objects.get(generation=row).passed


def test_a_new_generation_supersedes_the_old_one_and_both_keep_their_own_answers(
    scene: Scene,
) -> None:
    first = scene.published()
    scene.commit(workspace_files({**TERMS, "indice di comorbilita": "Somma di punti."}))
    second = scene.published()
    first.refresh_from_db()
    assert first.state == _S.SUPERSEDED
    wanted = "Che cosa si intende per indice di comorbilita?"
    assert scene.ask(second, wanted)[0] == "evidence:indice-di-comorbilita"
    assert "evidence:indice-di-comorbilita" not in scene.ask(first, wanted)


def test_a_fault_of_the_operator_fails_at_once_and_closes_the_approval(scene: Scene) -> None:
    scene.commit({"workspace.yaml": b"schema_version: 1\nslug: clinica\n"})
    row = scene.candidate(approved=True)
    assert scene.advance(row) == _S.FAILED
    row.refresh_from_db()
    assert row.error_code == "workspace_invalid"
    assert Approval.objects.get(generations=row).state == ApprovalState.FAILED


def test_a_fault_from_outside_is_tried_again_and_then_fails(scene: Scene) -> None:
    row = scene.candidate(approved=True)
    scene.embedder.is_down = True
    assert [scene.advance(row) for _ in range(3)] == [_S.BUILDING, _S.BUILDING, _S.FAILED]
    row.refresh_from_db()
    assert row.error_code == "embedder_unavailable"
    assert Approval.objects.get(generations=row).state == ApprovalState.FAILED


def test_a_fault_that_passes_does_no_harm(scene: Scene) -> None:
    row = scene.candidate(approved=True)
    scene.embedder.is_down = True
    assert scene.advance(row) == _S.BUILDING
    scene.embedder.is_down = False
    assert scene.advance(row) == _S.ACTIVE
    row.refresh_from_db()
    assert (row.error_code, row.attempt) == ("", 2)


def test_a_failed_candidate_leaves_nothing_in_the_store(scene: Scene) -> None:
    scene.commit({"evidence/evaluation.yaml": b"queries: []\n"})
    row = scene.candidate()
    assert scene.advance(row) == _S.FAILED
    row.refresh_from_db()
    assert row.point_count == len(TERMS)
    assert scene.store.inspect(stored(row)) is CollectionState.MISSING


def test_what_could_not_be_deleted_is_deleted_later(
    scene: Scene, portal_home: Path, settings: Settings
) -> None:
    settings.PUBLISHING = settings.PUBLISHING | {"max_tries": 1}
    row = scene.candidate()
    down = replace(scene.parts, store=StoreDown(portal_home))
    assert publication.advance(row.pk, worker="worker", parts=down) == _S.DELETING
    assert publication.tidy(parts=down) == 0
    assert publication.tidy(parts=scene.parts) == 1
    row.refresh_from_db()
    assert (row.state, row.error_code) == (_S.DELETED, "vector_store_unavailable")
    assert steps(row) == ["building", "failed", "deleting", "deleted"]


def test_a_worker_that_dies_each_time_ends_after_three_tries(scene: Scene) -> None:
    row = scene.candidate(approved=True)
    for number in range(3):
        assert leases.claim(row.pk, worker=f"dead {number}", clock=scene.clock) is not None
        scene.clock.forward(minutes=10)
    assert scene.advance(row) == _S.FAILED
    row.refresh_from_db()
    assert row.error_code == "tries_exhausted"


def test_another_worker_resumes_where_a_dead_one_stopped(scene: Scene) -> None:
    row = scene.candidate(approved=True)
    dead = leases.claim(row.pk, worker="dead", clock=scene.clock)
    assert dead is not None
    scene.clock.forward(minutes=10)
    assert scene.advance(row, worker="living") == _S.ACTIVE


def test_delivered_while_another_works_it_leaves_at_once(scene: Scene) -> None:
    row = scene.candidate(approved=True)
    assert leases.claim(row.pk, worker="first", clock=scene.clock) is not None
    assert scene.advance(row, worker="second") == _S.BUILDING
    assert steps(row) == ["building"]


def test_delivered_again_after_the_end_it_changes_nothing(scene: Scene) -> None:
    row = scene.published()
    assert scene.advance(row) == _S.ACTIVE
    assert steps(row) == ["building", "evaluating", "ready", "active"]


def test_a_newer_rehearsal_replaces_the_one_that_waits(scene: Scene) -> None:
    old = scene.candidate()
    scene.advance(old)
    new = scene.candidate()
    assert scene.advance(new) == _S.READY
    publication.tidy(parts=scene.parts)
    old.refresh_from_db()
    assert old.state == _S.DELETED


def test_a_rehearsal_does_not_delete_an_approved_candidate(scene: Scene) -> None:
    approved = scene.candidate()
    scene.advance(approved)
    an_open_approval(Generation.objects.get(pk=approved.pk))
    scene.advance(scene.candidate())
    approved.refresh_from_db()
    assert approved.state == _S.READY


def test_older_generations_than_the_workspace_keeps_are_deleted(scene: Scene) -> None:
    text = workspace_files()["workspace.yaml"].decode()
    kept_two = text + "publication:\n  retained_generations: 2\n"
    scene.commit({"workspace.yaml": kept_two.encode()})
    first, second, third = (scene.published() for _ in range(3))
    states = [Generation.objects.get(pk=row.pk).state for row in (first, second, third)]
    assert states == [_S.DELETED, _S.SUPERSEDED, _S.ACTIVE]
    assert scene.store.inspect(stored(first)) is CollectionState.MISSING
    assert scene.ask(second, QUESTION)[0] == "evidence:codice-triage"


def test_an_exam_can_be_repeated_and_changes_only_the_list_of_exams(scene: Scene) -> None:
    row = scene.published()
    exam = publication.reexamine(row.workspace, None, parts=scene.parts)
    assert exam.passed
    assert Evaluation.objects.filter(generation=row).count() == 2
    again = Generation.objects.get(pk=row.pk)
    assert (again.state, again.threshold) == (_S.ACTIVE, row.threshold)


def test_without_an_active_generation_there_is_nothing_to_examine(scene: Scene) -> None:
    scene.candidate()
    with pytest.raises(NothingToExamine):
        publication.reexamine("clinica", None, parts=scene.parts)
