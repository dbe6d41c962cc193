"""Two people and one proposal: whoever comes second waits, is told, or finds what the first did.

The interleavings are forced: a repository stops one person in the middle of Git's work.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from threading import Event, Thread
from typing import Any

import pytest
from django.db import connection
from django.utils import timezone

from evidence import amending, conf, mirror, plugged, proposals, run_transitions
from evidence.adapters.git import GitRepository
from evidence.domain.runs import RunState
from evidence.faults import Fault
from evidence.models import PreparationRun, UnitRecord, Workspace
from tests.evidence.amendable import EDITOR, NOTE, UNIT, a_proposal, on_branch, stored
from tests.makers import CURATOR, a_workspace, git, yaml_of_workspace

pytestmark = pytest.mark.django_db(transaction=True)

WAIT_S = 20
SAID = "dimissione con assistenza a casa"
BETTER = "dimissione a casa, con assistenza domiciliare"


class StoppingRepository(GitRepository):
    """Stops the first caller before (`propose`) or after (`commit`) its work, until told to go."""

    arrived = Event()
    go_on = Event()
    stops = ""

    def commit(self, *args: Any, **named: Any) -> str:
        made = super().commit(*args, **named)
        self._stop("commit")
        return made

    def propose(self, *args: Any, **named: Any) -> str:
        self._stop("propose")
        return super().propose(*args, **named)

    @classmethod
    def _stop(cls, where: str) -> None:
        if cls.stops == where and not cls.arrived.is_set():
            cls.arrived.set()
            assert cls.go_on.wait(WAIT_S)


class Somebody:
    """One person's step in a thread of its own, and the fault they were told."""

    def __init__(self, step: Callable[[], object]) -> None:
        self.fault: Fault | None = None
        self._step = step
        self._thread = Thread(target=self._run)
        self._thread.start()

    def _run(self) -> None:
        try:
            self._step()
        except Fault as fault:
            self.fault = fault
        finally:
            connection.close()

    def ended(self) -> str:
        """Wait for the end and give the code of the fault, or nothing."""
        self._thread.join(WAIT_S)
        assert not self._thread.is_alive()
        return self.fault.code if self.fault else ""


@pytest.fixture
def run(portal_home: Path) -> PreparationRun:
    files = {"workspace.yaml": yaml_of_workspace(), "evidence/source/dimissioni.md": NOTE.encode()}
    made = a_workspace(files)
    mirror.sync_workspace(made.slug)
    return a_proposal(Workspace.named(made.slug))


@pytest.fixture
def stopping() -> Iterator[type[StoppingRepository]]:
    """Let the next call of one kind stop in its middle."""
    plugs = plugged._plugs()
    StoppingRepository.arrived, StoppingRepository.go_on = Event(), Event()
    plugged.fill(
        replace(
            plugs,
            repository=lambda slug: StoppingRepository(conf.current().repository_path(slug)),
        )
    )
    yield StoppingRepository
    StoppingRepository.go_on.set()
    StoppingRepository.stops = ""
    plugged.fill(plugs)


Stopping = type[StoppingRepository]


def stopped(stopping: Stopping, where: str, step: Callable[[], object]) -> Somebody:
    """Start a step and give it once it has stopped."""
    stopping.stops = where
    somebody = Somebody(step)
    assert stopping.arrived.wait(WAIT_S)
    return somebody


def accept(run: PreparationRun) -> Callable[[], object]:
    return lambda: proposals.accept(run=run, author=CURATOR)


def edit(run: PreparationRun, to: str = BETTER) -> Callable[[], object]:
    text, blob = stored(run)
    changed = text.replace(f"definition: {SAID}", f"definition: {to}")
    assert changed != text
    return lambda: amending.edit_unit(
        run=run, evidence_id=UNIT, text=changed, blob=blob, author=EDITOR
    )


def discard(run: PreparationRun) -> Callable[[], object]:
    return lambda: proposals.discard(run=run, author=CURATOR, reason="No.")


def state(run: PreparationRun) -> RunState:
    return RunState(PreparationRun.objects.get(pk=run.pk).state)


def branches(run: PreparationRun) -> str:
    where = conf.current().repository_path(run.workspace.slug)
    return git(where, "branch", "--list", "evidence/*")


def acceptances(run: PreparationRun) -> int:
    where = conf.current().repository_path(run.workspace.slug)
    return git(where, "log", "--format=%B", "main").count("Portal-Action: accept")


def test_of_two_who_accept_at_once_one_commits_and_the_other_is_told(
    run: PreparationRun, stopping: Stopping
) -> None:
    first = stopped(stopping, "commit", accept(run))
    second = Somebody(accept(run))
    stopping.go_on.set()
    assert (first.ended(), second.ended()) == ("", "proposal_closed")
    assert (state(run), acceptances(run)) == (RunState.ACCEPTED, 1)


def test_an_edit_while_somebody_accepts_is_refused_and_never_half_in(
    run: PreparationRun, stopping: Stopping, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(run_transitions, "PATIENCE_S", 0.2)
    late, later = edit(run), edit(run)
    accepting = stopped(stopping, "commit", accept(run))
    assert Somebody(late).ended() == "proposal_held"
    stopping.go_on.set()
    assert accepting.ended() == ""
    assert Somebody(later).ended() == "proposal_closed"
    assert BETTER not in on_branch(run.workspace)


def test_an_acceptance_during_an_edit_waits_and_takes_the_edited_unit(
    run: PreparationRun, stopping: Stopping
) -> None:
    editing = stopped(stopping, "propose", edit(run))
    accepting = Somebody(accept(run))
    stopping.go_on.set()
    assert (editing.ended(), accepting.ended()) == ("", "")
    assert BETTER in on_branch(run.workspace)
    assert list(UnitRecord.objects.values_list("evidence_id", flat=True)) == [UNIT]


def test_a_discard_during_an_edit_waits_and_leaves_no_branch(
    run: PreparationRun, stopping: Stopping
) -> None:
    editing = stopped(stopping, "propose", edit(run))
    discarding = Somebody(discard(run))
    stopping.go_on.set()
    assert (editing.ended(), discarding.ended()) == ("", "")
    assert (state(run), acceptances(run)) == (RunState.DISCARDED, 0)
    assert branches(run) == ""


def test_a_discard_while_somebody_accepts_is_told_that_it_is_accepted(
    run: PreparationRun, stopping: Stopping
) -> None:
    accepting = stopped(stopping, "commit", accept(run))
    discarding = Somebody(discard(run))
    stopping.go_on.set()
    assert (accepting.ended(), discarding.ended()) == ("", "proposal_closed")
    assert state(run) == RunState.ACCEPTED


def test_two_edits_of_one_unit_at_once_lose_nothing(
    run: PreparationRun, stopping: Stopping
) -> None:
    other = edit(run, to="tutta un'altra cosa")
    first = stopped(stopping, "propose", edit(run))
    second = Somebody(other)
    stopping.go_on.set()
    assert (first.ended(), second.ended()) == ("", "stale_edit")
    assert BETTER in stored(run)[0]


def test_taking_out_and_putting_back_wait_for_each_other(
    run: PreparationRun, stopping: Stopping
) -> None:
    editing = stopped(stopping, "propose", edit(run))
    dropping = Somebody(lambda: amending.drop_unit(run=run, evidence_id=UNIT, reason="No."))
    stopping.go_on.set()
    assert (editing.ended(), dropping.ended()) == ("", "")
    run.refresh_from_db()
    assert set(run.dropped) == {UNIT}
    amending.put_back(run=run, evidence_id=UNIT)
    assert BETTER in stored(run)[0]


def lapse(run: PreparationRun) -> None:
    """Let whoever holds the proposal be taken for lost."""
    past = timezone.now() - timedelta(seconds=1)
    PreparationRun.objects.filter(pk=run.pk).update(leased_until=past)


def test_an_editor_taken_for_lost_changes_nothing_when_back(
    run: PreparationRun, stopping: Stopping
) -> None:
    before = stored(run)
    editing = stopped(stopping, "propose", edit(run))
    lapse(run)
    discarding = Somebody(discard(run))
    assert discarding.ended() == ""
    stopping.go_on.set()
    assert editing.ended() == "proposal_held"
    assert stored(run) == before
    assert (state(run), branches(run)) == (RunState.DISCARDED, "")


def test_an_acceptance_taken_for_lost_stands_if_git_has_it(
    run: PreparationRun, stopping: Stopping
) -> None:
    accepting = stopped(stopping, "commit", accept(run))
    lapse(run)
    assert Somebody(discard(run)).ended() == ""
    stopping.go_on.set()
    assert accepting.ended() == ""
    assert (state(run), acceptances(run)) == (RunState.ACCEPTED, 1)
    assert set(run.units.values_list("outcome", flat=True)) == {"accepted"}


def test_an_acceptance_that_died_after_its_commit_is_completed_by_the_next(
    run: PreparationRun, stopping: Stopping
) -> None:
    accepting = stopped(stopping, "commit", accept(run))
    lapse(run)
    made = proposals.accept(run=run, author=CURATOR)
    stopping.go_on.set()
    accepting.ended()
    run.refresh_from_db()
    assert (state(run), acceptances(run)) == (RunState.ACCEPTED, 1)
    assert run.accepted_commit == made
