"""Delivered twice, one works and the other leaves; a dead worker's lease runs out."""

from __future__ import annotations

from threading import Barrier, Thread

import pytest
from django.db import connection

from publishing import leases
from publishing.domain.lifecycle import GenerationState
from publishing.leases import Hold, LeaseLost
from publishing.models import Generation
from publishing.transitions import GenerationMoved
from tests.publishing.making import SLUG, Clock, held

RESTING = [state for state in GenerationState if state not in leases.WORKABLE]


def a_generation(state: GenerationState = GenerationState.BUILDING) -> Generation:
    return Generation.objects.create(workspace=SLUG, revision="a" * 40, state=state)


@pytest.mark.django_db
def test_a_held_generation_is_not_given_to_another_worker(clock: Clock) -> None:
    row = a_generation()
    held(row, clock, worker="first")
    assert leases.claim(row.pk, worker="second", clock=clock) is None
    assert leases.due(clock.now) == []


@pytest.mark.django_db
def test_a_lease_that_ran_out_is_taken_over_and_the_first_worker_learns_it(clock: Clock) -> None:
    row = a_generation()
    first = held(row, clock, worker="first")
    clock.forward(minutes=10)
    assert leases.due(clock.now) == [row.pk]
    held(row, clock, worker="second")
    with pytest.raises(LeaseLost):
        first.keep()
    with pytest.raises(GenerationMoved):
        first.move(GenerationState.EVALUATING)


@pytest.mark.django_db
def test_renewing_keeps_the_lease(clock: Clock) -> None:
    row = a_generation()
    first = held(row, clock, worker="first")
    for _ in range(10):
        clock.forward(seconds=60)
        first.keep()
    assert leases.claim(row.pk, worker="second", clock=clock) is None


@pytest.mark.django_db
def test_a_released_generation_waits_again_and_counts_its_tries(clock: Clock) -> None:
    row = a_generation()
    held(row, clock).release()
    assert leases.due(clock.now) == [row.pk]
    assert held(row, clock).generation.tries == 2


@pytest.mark.django_db
def test_a_lost_lease_is_not_released_under_its_new_owner(clock: Clock) -> None:
    row = a_generation()
    first = held(row, clock, worker="first")
    clock.forward(minutes=10)
    held(row, clock, worker="second")
    first.release()
    row.refresh_from_db()
    assert row.lease_owner == "second"


@pytest.mark.django_db
@pytest.mark.parametrize("state", RESTING)
def test_a_generation_at_rest_is_nobodys_work(state: GenerationState, clock: Clock) -> None:
    row = a_generation(state)
    assert leases.claim(row.pk, worker="first", clock=clock) is None
    assert leases.due(clock.now) == []


@pytest.mark.django_db
def test_a_rehearsal_that_is_ready_waits_for_nobody(clock: Clock) -> None:
    a_generation(GenerationState.READY)
    assert leases.due(clock.now) == []


@pytest.mark.django_db(transaction=True)
def test_of_eight_deliveries_at_once_one_gets_the_lease(clock: Clock) -> None:
    row = a_generation()
    barrier, got = Barrier(8), list[Hold | None]()

    def deliver(name: str) -> None:
        barrier.wait()
        try:
            got.append(leases.claim(row.pk, worker=name, clock=clock))
        finally:
            connection.close()

    threads = [Thread(target=deliver, args=(f"worker {number}",)) for number in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(got) == 8
    assert sum(hold is not None for hold in got) == 1
