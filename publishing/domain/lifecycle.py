"""The one transition table of generations, and how an approval may end (spec 50, Generations)."""

from __future__ import annotations

from enum import StrEnum
from typing import Final

from evidence.faults import CuratorFault
from evidence.messages import Message, gettext_noop


class GenerationState(StrEnum):
    """Where a generation stands; only `active` is searched without being asked for by name."""

    BUILDING = gettext_noop("building")
    EVALUATING = gettext_noop("evaluating")
    READY = gettext_noop("ready")
    ACTIVE = gettext_noop("active")
    SUPERSEDED = gettext_noop("superseded")
    REJECTED = gettext_noop("rejected")
    FAILED = gettext_noop("failed")
    DELETING = gettext_noop("deleting")
    DELETED = gettext_noop("deleted")

    @classmethod
    def choices(cls) -> list[tuple[str, str]]:
        """Give pairs for a model field."""
        return [(state.value, state.value) for state in cls]


class ApprovalState(StrEnum):
    """An approval is open until it ends in exactly one way."""

    OPEN = gettext_noop("open")
    ACTIVATED = gettext_noop("activated")
    EXAM_FAILED = gettext_noop("exam_failed")
    CANCELLED = gettext_noop("cancelled")
    FAILED = gettext_noop("failed")

    @classmethod
    def choices(cls) -> list[tuple[str, str]]:
        """Give pairs for a model field."""
        return [(state.value, state.value) for state in cls]


_S = GenerationState
TRANSITIONS: Final[dict[GenerationState, frozenset[GenerationState]]] = {
    _S.BUILDING: frozenset({_S.EVALUATING, _S.FAILED}),
    _S.EVALUATING: frozenset({_S.READY, _S.REJECTED, _S.FAILED}),
    _S.READY: frozenset({_S.ACTIVE, _S.DELETING}),
    _S.ACTIVE: frozenset({_S.SUPERSEDED}),
    _S.SUPERSEDED: frozenset({_S.ACTIVE, _S.DELETING}),
    _S.FAILED: frozenset({_S.DELETING}),
    _S.REJECTED: frozenset({_S.DELETING}),
    _S.DELETING: frozenset({_S.DELETED}),
    _S.DELETED: frozenset(),
}
SEARCHABLE: Final = frozenset({_S.ACTIVE, _S.SUPERSEDED})
"""What a search or a document may be answered from: the active one, or a retained one by name."""
EXAMINABLE: Final = SEARCHABLE | {_S.READY, _S.REJECTED}
"""What holds points that an exam may be repeated on; candidates stay invisible to searches."""
UNFINISHED: Final = frozenset({_S.BUILDING, _S.EVALUATING})
REHEARSED: Final = UNFINISHED | {_S.READY, _S.REJECTED, _S.FAILED}
"""Where a candidate of a revision that does not answer yet may stand."""


class TransitionRefused(CuratorFault):
    """A generation cannot go from its state to the wanted one."""

    code = "transition_refused"


def check_transition(before: GenerationState, after: GenerationState) -> None:
    """Raise `TransitionRefused` unless the table allows the step."""
    if after not in TRANSITIONS[before]:
        raise TransitionRefused(
            Message(
                gettext_noop("A generation that is %(before)s cannot become %(after)s."),
                before=before.value,
                after=after.value,
            )
        )
