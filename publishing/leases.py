"""Who works on a generation: a lease in the database, since a broker may deliver twice."""

from __future__ import annotations

import os
import socket
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final
from uuid import UUID, uuid4

from django.db.models import F, Q

from evidence.faults import OutsideFault
from evidence.messages import Message, gettext_noop
from publishing import conf, transitions
from publishing.domain.lifecycle import UNFINISHED, ApprovalState, GenerationState
from publishing.models import Generation
from publishing.transitions import Cause

Watch = Callable[[int, int, str], None]
"""Told `(done, total, state)` whenever progress is written."""
WORKABLE: Final = UNFINISHED | {GenerationState.READY}
PORTAL: Final = "portal"
"""The actor of what happens by itself."""


class LeaseLost(OutsideFault):
    """Another worker took over, or the generation was moved; whoever held it just leaves."""

    code = "lease_lost"


@dataclass(frozen=True, slots=True)
class Hold:
    """One worker's hold on one generation; everything it writes is conditional on the lease."""

    generation: Generation
    worker: str
    clock: Callable[[], datetime]
    watch: Watch | None = None

    def keep(self, **changes: object) -> None:
        """Renew the lease and write progress with it. Raises `LeaseLost`."""
        expires = self.clock() + timedelta(seconds=conf.current().lease_s)
        self._write({**changes, "lease_expires_at": expires})
        if self.watch is not None:
            row = self.generation
            self.watch(row.progress_done, row.progress_total, row.state)

    def move(
        self,
        to: GenerationState,
        *,
        reason: str = "",
        changes: Mapping[str, object] | None = None,
    ) -> None:
        """Take the generation one step along the table. Raises `GenerationMoved`."""
        cause = Cause(actor=PORTAL, at=self.clock(), reason=reason)
        # Whoever moves it is the first to try the new state.
        values = {"tries": 1, **(changes or {})}
        transitions.move(self.generation, to, cause=cause, worker=self.worker, changes=values)

    def release(self) -> None:
        """Give the lease back; one that was lost meanwhile is left to its new owner."""
        Generation.objects.filter(pk=self.generation.pk, lease_owner=self.worker).update(
            lease_owner="", lease_expires_at=None
        )

    def _write(self, values: dict[str, object]) -> None:
        rows = Generation.objects.filter(
            pk=self.generation.pk, lease_owner=self.worker, state=self.generation.state
        )
        if rows.update(**values) != 1:
            raise LeaseLost(
                Message(
                    gettext_noop("Another worker continues generation %(id)s."),
                    id=str(self.generation),
                )
            )
        for name, value in values.items():
            setattr(self.generation, name, value)


def claim(
    generation_id: UUID, *, worker: str, clock: Callable[[], datetime], watch: Watch | None = None
) -> Hold | None:
    """Take the lease of a candidate that nobody holds; None when there is nothing to take.

    Every condition is a column of the row itself: PostgreSQL checks those again after waiting for
    a rival, and would not check a subquery again.
    """
    now = clock()
    rows = Generation.objects.filter(_free(now), pk=generation_id, state__in=WORKABLE)
    taken = rows.update(
        lease_owner=worker,
        lease_expires_at=now + timedelta(seconds=conf.current().lease_s),
        tries=F("tries") + 1,
    )
    if taken != 1:
        return None
    row = Generation.objects.select_related("approval").get(pk=generation_id)
    return Hold(generation=row, worker=worker, clock=clock, watch=watch)


def due(now: datetime) -> list[UUID]:
    """List the candidates that wait for a worker and have none, oldest first."""
    wanted = Q(state__in=UNFINISHED) | Q(
        state=GenerationState.READY, approval__state=ApprovalState.OPEN
    )
    rows = Generation.objects.filter(wanted, _free(now)).order_by("created_at")
    return list(rows.values_list("pk", flat=True))


def _free(now: datetime) -> Q:
    return Q(lease_expires_at__isnull=True) | Q(lease_expires_at__lt=now)


def worker_name() -> str:
    """Give a name that no other delivery has, not even a second one of the same message."""
    return f"{socket.gethostname()[:40]}/{os.getpid()}/{uuid4().hex[:12]}"
