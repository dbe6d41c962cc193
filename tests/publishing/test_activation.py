"""One pointer: it moves whole or not at all, forward by an approval and back by a person's word."""

from __future__ import annotations

from collections.abc import Callable
from threading import Barrier, Thread
from uuid import UUID

import pytest
from django.contrib.auth import get_user_model
from django.db import connection

from evidence.faults import Fault
from evidence.ports import Actor
from publishing import activation, leases, transitions
from publishing.activation import ApprovalOvertaken, PointsDiffer, RollbackRefused
from publishing.domain.lifecycle import ApprovalState, GenerationState
from publishing.generations import stored
from publishing.leases import Hold
from publishing.models import Approval, Generation, PublicationEvent
from publishing.parts import EmbedderChanged
from publishing.permissions import NotPermitted
from publishing.ports import VectorStoreUnavailable
from publishing.transitions import ApprovalClosed
from tests.publishing.making import (
    CAUSE,
    NOON,
    TERMS,
    Scene,
    an_approver,
    an_open_approval,
    workspace_files,
)

_S = GenerationState
QUESTION = "Che cosa si intende per codice triage?"


def a_ready(scene: Scene) -> Hold:
    """Give a hold on a candidate that passed and whose approval is open."""
    row = scene.candidate()
    assert scene.advance(row) == _S.READY
    an_open_approval(Generation.objects.get(pk=row.pk))
    hold = leases.claim(row.pk, worker="worker", clock=scene.clock)
    assert hold is not None
    return hold


def state(row: Generation) -> str:
    return Generation.objects.get(pk=row.pk).state


@pytest.mark.django_db
def test_a_store_that_lost_a_point_is_never_activated(scene: Scene) -> None:
    active = scene.published()
    hold = a_ready(scene)
    hold.keep(point_count=hold.generation.point_count + 1)
    with pytest.raises(PointsDiffer):
        activation.activate(hold=hold, store=scene.store)
    assert (state(active), state(hold.generation)) == (_S.ACTIVE, _S.READY)
    assert Approval.objects.get(generations=hold.generation).state == ApprovalState.OPEN


@pytest.mark.django_db
def test_a_store_with_other_points_is_never_activated(scene: Scene) -> None:
    hold = a_ready(scene)
    hold.keep(points_digest="sha256:other")
    with pytest.raises(PointsDiffer):
        activation.activate(hold=hold, store=scene.store)
    assert state(hold.generation) == _S.READY


@pytest.mark.django_db
def test_a_candidate_whose_folder_is_gone_is_never_activated(scene: Scene) -> None:
    hold = a_ready(scene)
    scene.store.delete(stored(hold.generation))
    with pytest.raises(VectorStoreUnavailable):
        activation.activate(hold=hold, store=scene.store)
    assert state(hold.generation) == _S.READY


@pytest.mark.django_db
def test_a_cancelled_approval_activates_nothing(scene: Scene) -> None:
    active = scene.published()
    hold = a_ready(scene)
    assert hold.generation.approval is not None
    approval = Approval.objects.get(pk=hold.generation.approval.pk)
    transitions.close_approval(approval, ApprovalState.CANCELLED, cause=CAUSE)
    with pytest.raises(ApprovalClosed):
        activation.activate(hold=hold, store=scene.store)
    assert (state(active), state(hold.generation)) == (_S.ACTIVE, _S.READY)


@pytest.mark.django_db
def test_an_approval_taken_back_just_before_the_activation_leaves_the_rehearsal(
    scene: Scene,
) -> None:
    row = scene.candidate()
    assert scene.advance(row) == _S.READY
    hold = leases.claim(row.pk, worker="worker", clock=scene.clock)
    assert hold is not None
    with pytest.raises(ApprovalClosed):
        activation.activate(hold=hold, store=scene.store)
    assert state(row) == _S.READY


@pytest.mark.django_db
def test_an_approval_of_another_revision_activates_nothing(scene: Scene) -> None:
    hold = a_ready(scene)
    Generation.objects.filter(pk=hold.generation.pk).update(revision="f" * 40)
    hold.generation.refresh_from_db(fields=["revision"])
    store = scene.store
    with pytest.raises((ApprovalOvertaken, VectorStoreUnavailable)):
        activation.activate(hold=hold, store=store)
    assert state(hold.generation) == _S.READY


@pytest.mark.django_db
def test_an_approval_that_a_later_one_overtook_activates_nothing(scene: Scene) -> None:
    hold = a_ready(scene)
    later = Approval(
        workspace=hold.generation.workspace,
        revision="b" * 40,
        state=ApprovalState.ACTIVATED,
        approved_by="altra",
        approved_at=NOON,
    )
    later.save()
    with pytest.raises(ApprovalOvertaken):
        activation.activate(hold=hold, store=scene.store)
    assert state(hold.generation) == _S.READY


@pytest.mark.django_db
def test_an_approval_given_before_a_roll_back_activates_nothing(scene: Scene) -> None:
    first, second = scene.published(), scene.published()
    scene.commit(workspace_files({**TERMS, "referto": "Esito di un esame."}))
    hold = a_ready(scene)
    activation.roll_back(
        workspace="clinica",
        to=first.pk,
        actor=an_approver("altra"),
        note="La nuova sbaglia.",
        store=scene.store,
        embedder=scene.embedder,
    )
    with pytest.raises(ApprovalOvertaken, match="approve it again"):
        activation.activate(hold=hold, store=scene.store)
    assert (state(first), state(second)) == (_S.ACTIVE, _S.SUPERSEDED)
    assert Approval.objects.get(generations=hold.generation).state == ApprovalState.OPEN


@pytest.mark.django_db
def test_a_roll_back_points_at_the_earlier_generation_without_a_build(scene: Scene) -> None:
    first, second = scene.published(), scene.published()
    embedded = len(scene.embedder.embedded)
    back = activation.roll_back(
        workspace="clinica",
        to=None,
        actor=an_approver(),
        note=" wrong codes ",
        store=scene.store,
        embedder=scene.embedder,
    )
    assert back == first.pk
    assert (state(first), state(second)) == (_S.ACTIVE, _S.SUPERSEDED)
    assert len(scene.embedder.embedded) == embedded
    event = PublicationEvent.objects.filter(generation=first).first()
    assert event is not None
    assert (event.actor, event.reason, event.to_state) == ("approvatore", "wrong codes", "active")


@pytest.mark.django_db
def test_a_roll_back_goes_to_what_answered_before_and_not_to_what_was_made_before(
    scene: Scene,
) -> None:
    scene.published()
    rehearsed = scene.candidate()
    assert scene.advance(rehearsed) == _S.READY
    answered = scene.published()
    an_open_approval(Generation.objects.get(pk=rehearsed.pk))
    assert scene.advance(rehearsed) == _S.ACTIVE
    back = activation.roll_back(
        workspace="clinica",
        to=None,
        actor=an_approver(),
        note="so",
        store=scene.store,
        embedder=scene.embedder,
    )
    assert back == answered.pk


@pytest.mark.django_db
def test_two_roll_backs_go_two_generations_back(scene: Scene) -> None:
    first, second, _third = scene.published(), scene.published(), scene.published()
    actor = an_approver()
    went = [
        activation.roll_back(
            workspace="clinica",
            to=None,
            actor=actor,
            note="so",
            store=scene.store,
            embedder=scene.embedder,
        )
        for _ in range(2)
    ]
    assert went == [second.pk, first.pk]


@pytest.mark.django_db
def test_a_roll_back_does_not_return_to_what_was_rolled_back_before(scene: Scene) -> None:
    good, bad = scene.published(), scene.published()
    actor = an_approver()

    def back() -> UUID:
        return activation.roll_back(
            workspace="clinica",
            to=None,
            actor=actor,
            note="so",
            store=scene.store,
            embedder=scene.embedder,
        )

    assert back() == good.pk
    scene.published()
    assert back() == good.pk
    assert state(bad) == _S.SUPERSEDED


@pytest.mark.django_db
def test_a_generation_of_another_embedder_is_not_gone_back_to(scene: Scene) -> None:
    first, second = scene.published(), scene.published()
    Generation.objects.filter(pk=first.pk).update(embedder="altro/modello/1")
    with pytest.raises(EmbedderChanged):
        activation.roll_back(
            workspace="clinica",
            to=first.pk,
            actor=an_approver(),
            note="so",
            store=scene.store,
            embedder=scene.embedder,
        )
    assert (state(first), state(second)) == (_S.SUPERSEDED, _S.ACTIVE)


@pytest.mark.django_db
def test_a_roll_back_can_be_undone_by_name(scene: Scene) -> None:
    first, second = scene.published(), scene.published()
    actor = an_approver()
    for target in (first, second):
        activation.roll_back(
            workspace="clinica",
            to=target.pk,
            actor=actor,
            note="so",
            store=scene.store,
            embedder=scene.embedder,
        )
    assert (state(first), state(second)) == (_S.SUPERSEDED, _S.ACTIVE)


@pytest.mark.django_db
@pytest.mark.parametrize("note", ["", "  \n"])
def test_a_roll_back_needs_a_reason(scene: Scene, note: str) -> None:
    scene.published()
    scene.published()
    with pytest.raises(RollbackRefused):
        activation.roll_back(
            workspace="clinica",
            to=None,
            actor=an_approver(),
            note=note,
            store=scene.store,
            embedder=scene.embedder,
        )


@pytest.mark.django_db
def test_there_is_nothing_to_go_back_to_before_the_first_generation(scene: Scene) -> None:
    only = scene.published()
    with pytest.raises(RollbackRefused):
        activation.roll_back(
            workspace="clinica",
            to=None,
            actor=an_approver(),
            note="so",
            store=scene.store,
            embedder=scene.embedder,
        )
    assert state(only) == _S.ACTIVE


@pytest.mark.django_db
def test_a_generation_of_another_workspace_is_nothing_to_go_back_to(scene: Scene) -> None:
    first, _second = scene.published(), scene.published()
    with pytest.raises(RollbackRefused):
        activation.roll_back(
            workspace="altra",
            to=first.pk,
            actor=an_approver(),
            note="so",
            store=scene.store,
            embedder=scene.embedder,
        )


@pytest.mark.django_db
def test_a_damaged_generation_is_not_gone_back_to(scene: Scene) -> None:
    first, second = scene.published(), scene.published()
    scene.store.delete(stored(first))
    with pytest.raises(VectorStoreUnavailable):
        activation.roll_back(
            workspace="clinica",
            to=None,
            actor=an_approver(),
            note="so",
            store=scene.store,
            embedder=scene.embedder,
        )
    assert state(second) == _S.ACTIVE


def nobody() -> Actor:
    return Actor(username="nessuno", name="", email="")


def without_the_permission() -> Actor:
    get_user_model().objects.create_user("curatrice", is_staff=True)
    return Actor(username="curatrice", name="", email="")


def no_member_of_staff() -> Actor:
    actor = an_approver()
    get_user_model().objects.filter(username=actor.username).update(is_staff=False)
    return actor


def no_longer_active() -> Actor:
    actor = an_approver()
    get_user_model().objects.filter(username=actor.username).update(is_active=False)
    return actor


@pytest.mark.django_db
@pytest.mark.parametrize(
    "who", [nobody, without_the_permission, no_member_of_staff, no_longer_active]
)
def test_who_may_not_approve_may_not_roll_back(scene: Scene, who: Callable[[], Actor]) -> None:
    first, second = scene.published(), scene.published()
    with pytest.raises(NotPermitted):
        activation.roll_back(
            workspace="clinica",
            to=first.pk,
            actor=who(),
            note="so",
            store=scene.store,
            embedder=scene.embedder,
        )
    assert state(second) == _S.ACTIVE


@pytest.mark.django_db(transaction=True)
def test_an_activation_and_a_roll_back_at_once_leave_one_active_generation(scene: Scene) -> None:
    first, second = scene.published(), scene.published()
    scene.commit(workspace_files({**TERMS, "referto": "Esito di un esame."}))
    hold, actor = a_ready(scene), an_approver("altra")
    barrier, faults = Barrier(2), list[Fault]()

    def at_once(step: Callable[[], object]) -> None:
        barrier.wait()
        try:
            step()
        except Fault as fault:
            faults.append(fault)
        finally:
            connection.close()

    steps: list[Callable[[], object]] = [
        lambda: activation.activate(hold=hold, store=scene.store),
        lambda: activation.roll_back(
            workspace="clinica",
            to=first.pk,
            actor=actor,
            note="so",
            store=scene.store,
            embedder=scene.embedder,
        ),
    ]
    threads = [Thread(target=at_once, args=(step,)) for step in steps]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    active = Generation.objects.filter(workspace="clinica", state=_S.ACTIVE)
    assert active.count() == 1
    refusals = {"pointer_moved", "generation_moved", "approval_overtaken"}
    assert {fault.code for fault in faults} <= refusals
    assert scene.ask(active.get(), QUESTION)[0] == "evidence:codice-triage"
    assert state(second) == _S.SUPERSEDED
