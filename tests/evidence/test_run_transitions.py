"""States of runs: the table decides, a hold is needed, and whoever comes late changes nothing."""

from __future__ import annotations

from datetime import timedelta
from itertools import product

import pytest
from django.utils import timezone

from evidence import run_transitions
from evidence.domain.runs import DECIDED, OPEN, TRANSITIONS, UNFINISHED, RunState, before
from evidence.models import PreparationRun, Workspace
from evidence.run_transitions import Hold, ProposalClosed, ProposalHeld
from evidence.runs import start_preparation

_S = RunState


@pytest.fixture
def row(db: None) -> PreparationRun:
    made = Workspace.objects.create(slug="clinica", title="Clinica", language="it")
    return start_preparation(workspace=made.slug, requested_by="x", restructurer="rules")


def in_state(row: PreparationRun, state: RunState, **columns: object) -> PreparationRun:
    PreparationRun.objects.filter(pk=row.pk).update(state=state, **columns)
    return PreparationRun.objects.select_related("workspace").get(pk=row.pk)


def test_every_state_stands_in_the_table_and_has_words() -> None:
    assert set(TRANSITIONS) == set(RunState)
    assert all(state.label for state in RunState)


def test_what_is_over_leads_nowhere_but_to_what_git_says() -> None:
    ways = {(state, goal) for state in set(RunState) - OPEN for goal in TRANSITIONS[state]}
    assert ways == {(_S.DISCARDED, _S.ACCEPTED)}
    assert UNFINISHED < OPEN
    assert not DECIDED & OPEN


def test_the_way_back_is_the_way_forth() -> None:
    for origin, goal in product(RunState, RunState):
        assert (origin in before(goal)) == (goal in TRANSITIONS[origin])


@pytest.mark.parametrize(("origin", "goal"), list(product(RunState, RunState)))
def test_a_move_is_what_the_table_says(
    row: PreparationRun, origin: RunState, goal: RunState
) -> None:
    hold = Hold(in_state(row, origin))
    assert hold.move(goal) == (goal in TRANSITIONS[origin])
    row.refresh_from_db()
    assert row.state == (goal if goal in TRANSITIONS[origin] else origin)


def test_a_hold_that_was_followed_by_another_writes_nothing(row: PreparationRun) -> None:
    first = run_transitions.claim(row.pk)
    assert first is not None
    past = timezone.now() - timedelta(minutes=1)
    PreparationRun.objects.filter(pk=row.pk).update(leased_until=past)
    second = run_transitions.claim(row.pk)
    assert second is not None
    assert not first.keep(sources_done=7)
    assert not first.move(_S.FAILED)
    first.release()
    row.refresh_from_db()
    assert (row.state, row.sources_done, row.attempts) == (_S.RUNNING, 0, 2)
    assert row.leased_until is not None
    assert second.move(_S.EMPTY)


def test_a_run_that_somebody_computes_is_not_claimed(row: PreparationRun) -> None:
    assert run_transitions.claim(row.pk) is not None
    assert run_transitions.claim(row.pk) is None


def test_one_person_at_a_time_holds_a_proposal(
    row: PreparationRun, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(run_transitions, "PATIENCE_S", 0.0)
    run = in_state(row, _S.PROPOSED)
    with run_transitions.held(run):
        with pytest.raises(ProposalHeld), run_transitions.held(run):
            pass
        with pytest.raises(ProposalHeld), run_transitions.held(run):
            pass
    with run_transitions.held(run):
        pass


def test_a_hold_whose_holder_died_lapses(row: PreparationRun) -> None:
    past = timezone.now() - timedelta(seconds=1)
    run = in_state(row, _S.PROPOSED, leased_until=past)
    with run_transitions.held(run) as hold:
        assert hold.run.turn == 1


def test_a_killed_decision_keeps_a_proposal_for_a_minute_at_most(row: PreparationRun) -> None:
    run = in_state(row, _S.PROPOSED)
    with run_transitions.held(run) as hold:
        hold.keep(editors=[])
        row.refresh_from_db()
        assert row.leased_until is not None
        assert row.leased_until <= timezone.now() + timedelta(minutes=1)


def test_a_step_that_fails_lets_the_proposal_go(row: PreparationRun) -> None:
    run = in_state(row, _S.PROPOSED)
    with pytest.raises(ZeroDivisionError), run_transitions.held(run):
        raise ZeroDivisionError
    with run_transitions.held(run):
        pass


@pytest.mark.parametrize("state", [state for state in RunState if state != _S.PROPOSED])
def test_only_a_proposal_is_decided_on(row: PreparationRun, state: RunState) -> None:
    run = in_state(row, state)
    with pytest.raises(ProposalClosed) as closed, run_transitions.held(run):
        pass
    assert state.label in str(closed.value.message)


def test_what_git_accepted_overrules_who_discarded_it_meanwhile(row: PreparationRun) -> None:
    run = in_state(row, _S.DISCARDED)
    run_transitions.accepted(run, accepted_commit="a" * 40)
    run.refresh_from_db()
    assert (run.state, run.accepted_commit) == (_S.ACCEPTED, "a" * 40)
