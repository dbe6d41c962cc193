"""The one transition table of preparation runs (spec 20, Preparation; spec 40, Proposals)."""

from __future__ import annotations

from enum import StrEnum
from typing import Final

from evidence.messages import gettext_noop


class RunState(StrEnum):
    """Where a preparation run stands."""

    WAITING = "waiting"
    RUNNING = "running"
    PROPOSED = "proposed"
    EMPTY = "empty"
    ACCEPTED = "accepted"
    DISCARDED = "discarded"
    FAILED = "failed"

    @property
    def label(self) -> str:
        """Give the state in English words, to be translated."""
        return _LABELS[self]


_S = RunState
_LABELS: Final[dict[RunState, str]] = {
    _S.WAITING: gettext_noop("waiting"),
    _S.RUNNING: gettext_noop("running"),
    _S.PROPOSED: gettext_noop("proposal ready"),
    _S.EMPTY: gettext_noop("nothing to change"),
    _S.ACCEPTED: gettext_noop("accepted"),
    _S.DISCARDED: gettext_noop("discarded"),
    _S.FAILED: gettext_noop("failed"),
}
TRANSITIONS: Final[dict[RunState, frozenset[RunState]]] = {
    _S.WAITING: frozenset({_S.RUNNING}),
    # A worker that was lost is followed by another one.
    _S.RUNNING: frozenset({_S.RUNNING, _S.PROPOSED, _S.EMPTY, _S.FAILED}),
    _S.PROPOSED: frozenset({_S.ACCEPTED, _S.DISCARDED}),
    _S.EMPTY: frozenset(),
    _S.ACCEPTED: frozenset(),
    # Git decides: what is on the branch by then was accepted, whatever was written meanwhile.
    _S.DISCARDED: frozenset({_S.ACCEPTED}),
    _S.FAILED: frozenset(),
}
UNFINISHED: Final = frozenset({_S.WAITING, _S.RUNNING})
"""What a worker has to do or does."""
OPEN: Final = UNFINISHED | {_S.PROPOSED}
"""What keeps a workspace from another preparation."""
DECIDED: Final = frozenset({_S.ACCEPTED, _S.DISCARDED})
"""What a person has answered."""


def before(state: RunState) -> frozenset[RunState]:
    """Give the states from which a run may go to this one."""
    return frozenset(origin for origin, goals in TRANSITIONS.items() if state in goals)
