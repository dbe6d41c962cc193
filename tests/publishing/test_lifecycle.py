"""Every step of the transition table is logged, and no other step is possible."""

from __future__ import annotations

from datetime import UTC, datetime
from itertools import product

import pytest
from django.db import IntegrityError, transaction
from django.db.models import Q

from publishing import transitions
from publishing.domain.lifecycle import (
    TRANSITIONS,
    ApprovalState,
    GenerationState,
    TransitionRefused,
    check_transition,
)
from publishing.models import Approval, Generation, PublicationEvent
from publishing.transitions import ApprovalClosed, Cause, GenerationMoved

NOON = datetime(2026, 3, 1, 12, 0, tzinfo=UTC)
CAUSE = Cause(actor="approvatore", at=NOON, reason="because")
ALL = list(product(GenerationState, GenerationState))
ALLOWED = [(before, after) for before, after in ALL if after in TRANSITIONS[before]]
REFUSED = [(before, after) for before, after in ALL if after not in TRANSITIONS[before]]


def a_generation(state: GenerationState, **columns: object) -> Generation:
    return Generation.objects.create(workspace="clinica", revision="a" * 40, state=state, **columns)


def an_approval() -> Approval:
    return Approval(
        workspace="clinica",
        revision="a" * 40,
        approved_by="approvatore",
        approved_at=NOON,
    )


@pytest.mark.parametrize(("before", "after"), REFUSED)
def test_the_table_refuses_every_other_step(
    before: GenerationState, after: GenerationState
) -> None:
    with pytest.raises(TransitionRefused):
        check_transition(before, after)


@pytest.mark.django_db
@pytest.mark.parametrize(("before", "after"), ALLOWED)
def test_each_step_of_the_table_moves_the_row_and_is_logged(
    before: GenerationState, after: GenerationState
) -> None:
    row = a_generation(before)
    transitions.move(row, after, cause=CAUSE)
    row.refresh_from_db()
    assert row.state == after
    event = PublicationEvent.objects.get(generation=row)
    assert (event.from_state, event.to_state) == (before, after)
    assert (event.actor, event.at, event.reason) == ("approvatore", NOON, "because")


@pytest.mark.django_db
def test_a_refused_step_writes_nothing() -> None:
    row = a_generation(GenerationState.BUILDING)
    with pytest.raises(TransitionRefused):
        transitions.move(row, GenerationState.ACTIVE, cause=CAUSE)
    row.refresh_from_db()
    assert row.state == GenerationState.BUILDING
    assert not PublicationEvent.objects.exists()


@pytest.mark.django_db
def test_of_two_who_move_the_same_row_one_is_told_that_it_moved() -> None:
    row = a_generation(GenerationState.READY)
    stale = Generation.objects.get(pk=row.pk)
    transitions.move(row, GenerationState.ACTIVE, cause=CAUSE)
    with pytest.raises(GenerationMoved):
        transitions.move(stale, GenerationState.DELETING, cause=CAUSE)
    assert PublicationEvent.objects.count() == 1


@pytest.mark.django_db
def test_a_worker_without_the_lease_moves_nothing() -> None:
    row = a_generation(GenerationState.BUILDING, lease_owner="somebody else")
    with pytest.raises(GenerationMoved):
        transitions.move(row, GenerationState.EVALUATING, cause=CAUSE, worker="me")


@pytest.mark.django_db
def test_a_further_condition_on_the_row_is_honoured() -> None:
    approval = transitions.open_approval(an_approval(), cause=CAUSE)
    row = a_generation(GenerationState.READY, approval=approval)
    with pytest.raises(GenerationMoved):
        transitions.move(row, GenerationState.DELETING, cause=CAUSE, only=Q(approval__isnull=True))


@pytest.mark.django_db
def test_a_second_active_generation_is_refused_by_the_database() -> None:
    a_generation(GenerationState.ACTIVE)
    row = a_generation(GenerationState.READY)
    with pytest.raises(IntegrityError), transaction.atomic():
        transitions.move(row, GenerationState.ACTIVE, cause=CAUSE)
    row.refresh_from_db()
    assert row.state == GenerationState.READY


@pytest.mark.django_db
def test_a_second_open_approval_is_refused_by_the_database() -> None:
    transitions.open_approval(an_approval(), cause=CAUSE)
    with pytest.raises(IntegrityError), transaction.atomic():
        transitions.open_approval(an_approval(), cause=CAUSE)


@pytest.mark.django_db
@pytest.mark.parametrize("end", [state for state in ApprovalState if state != ApprovalState.OPEN])
def test_an_approval_ends_once_and_its_end_is_logged(end: ApprovalState) -> None:
    approval = transitions.open_approval(an_approval(), cause=CAUSE)
    transitions.close_approval(approval, end, cause=CAUSE, outcome="told")
    with pytest.raises(ApprovalClosed):
        transitions.close_approval(approval, ApprovalState.CANCELLED, cause=CAUSE)
    approval.refresh_from_db()
    assert (approval.state, approval.closed_at, approval.outcome) == (end, NOON, "told")
    steps = PublicationEvent.objects.filter(approval=approval).order_by("id")
    assert [(one.from_state, one.to_state) for one in steps] == [("", "open"), ("open", end)]
