"""The only writer of the states of preparation runs: each step is conditional, each hold fenced.

Who computes a run or decides on a proposal holds it for a while. `turn` counts the holds: a write
under an older one is void, so whoever was taken for lost and comes back late changes nothing.
"""

from __future__ import annotations

import time
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final

from django.db.models import F, Q, QuerySet
from django.utils import timezone

from evidence import conf
from evidence.domain.runs import RunState, before
from evidence.faults import CuratorFault, OutsideFault
from evidence.messages import Message, gettext_noop
from evidence.models import PreparationRun

PATIENCE_S: Final = 5.0
"""How long a person waits for somebody else who is deciding on the same proposal."""
DECISION_S: Final = 60
"""How long a silent decision keeps a proposal: its process may have been killed."""
_PAUSE_S: Final = 0.05


class ProposalClosed(CuratorFault):
    """The proposal is not waiting for a decision (any more)."""

    code = "proposal_closed"


class ProposalHeld(OutsideFault):
    """Somebody else is changing or deciding on this proposal at this very moment."""

    code = "proposal_held"
    hint = gettext_noop("Try again in a few seconds.")


@dataclass(frozen=True, slots=True)
class Hold:
    """A run as it was when it was taken; what is written through it counts while nobody follows."""

    run: PreparationRun
    seconds: int = DECISION_S

    def move(self, to: RunState, **columns: object) -> bool:
        """Take the run to where the work on it ends, let it go, and tell whether it was ours."""
        return bool(
            self._rows()
            .filter(state__in=before(to))
            .update(state=to, leased_until=None, finished_at=timezone.now(), **columns)
        )

    def keep(self, **columns: object) -> bool:
        """Write columns and hold on for longer; tell whether the run was still ours."""
        return bool(self._rows().update(leased_until=lease(self.seconds), **columns))

    def release(self) -> None:
        """Let others have the run."""
        self._rows().update(leased_until=None)

    def _rows(self) -> QuerySet[PreparationRun]:
        return PreparationRun.objects.filter(pk=self.run.pk, turn=self.run.turn)


def claim(run_id: str | uuid.UUID) -> Hold | None:
    """Take a run that no worker computes, for computing it; None when there is no such run."""
    return _taken(
        abandoned().filter(pk=run_id),
        seconds=conf.current().lease_s,
        state=RunState.RUNNING,
        attempts=F("attempts") + 1,
    )


def abandoned() -> QuerySet[PreparationRun]:
    """Give the runs that no worker holds: never begun, or their worker was lost."""
    lost = Q(state=RunState.RUNNING, leased_until__lt=timezone.now())
    return PreparationRun.objects.filter(Q(state=RunState.WAITING) | lost)


@contextmanager
def held(run: PreparationRun) -> Iterator[Hold]:
    """Hold a proposal while it is changed or decided on, one at a time.

    The hold's row is fresh. Raises `ProposalClosed`, `ProposalHeld`.
    """
    end = time.monotonic() + PATIENCE_S
    while (hold := _proposal(run)) is None:
        if time.monotonic() > end:
            raise ProposalHeld(gettext_noop("Somebody else is deciding on this proposal now."))
        time.sleep(_PAUSE_S)
    try:
        yield hold
    finally:
        hold.release()


def accepted(run: PreparationRun, **columns: object) -> None:
    """Write that a proposal is on the branch; Git has decided, so whoever holds it is overruled."""
    PreparationRun.objects.filter(pk=run.pk, state__in=before(RunState.ACCEPTED)).update(
        state=RunState.ACCEPTED, leased_until=None, finished_at=timezone.now(), **columns
    )


def lease(seconds: int) -> datetime:
    """Give the instant until which a silent holder keeps a run."""
    return timezone.now() + timedelta(seconds=seconds)


def taken_over() -> ProposalHeld:
    """Say that a hold has lapsed and somebody else has the proposal now."""
    return ProposalHeld(gettext_noop("This took too long, and somebody else went on meanwhile."))


def closed(run: PreparationRun) -> ProposalClosed:
    """Say that a run is no proposal that waits for a decision."""
    template = gettext_noop("This proposal is not waiting for a decision: %(state)s.")
    return ProposalClosed(Message(template, state=Message(RunState(run.state).label)))


def _proposal(run: PreparationRun) -> Hold | None:
    """Take a proposal that nobody holds. Raises `ProposalClosed`."""
    free = Q(leased_until=None) | Q(leased_until__lt=timezone.now())
    rows = PreparationRun.objects.filter(free, pk=run.pk, state=RunState.PROPOSED)
    hold = _taken(rows, seconds=DECISION_S)
    if hold is None:
        now = PreparationRun.objects.get(pk=run.pk)
        if now.state != RunState.PROPOSED:
            raise closed(now)
    return hold


def _taken(rows: QuerySet[PreparationRun], *, seconds: int, **columns: object) -> Hold | None:
    """Take the one row of a query by a conditional update."""
    run = rows.first()
    if run is None:
        return None
    taken = rows.filter(turn=run.turn).update(
        turn=F("turn") + 1, leased_until=lease(seconds), **columns
    )
    if not taken:
        return None
    fresh = PreparationRun.objects.select_related("workspace").get(pk=run.pk)
    return Hold(fresh, seconds)
