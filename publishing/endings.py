"""How a candidate ends without becoming active: refused, failed, put off; and the cleaning up."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

import structlog
from django.db import transaction

from evidence.faults import Fault, OutsideFault
from evidence.messages import Message, gettext_noop
from publishing import conf, groundings, retention, transitions
from publishing.domain.lifecycle import ApprovalState, GenerationState
from publishing.generations import stored
from publishing.leases import PORTAL, Hold
from publishing.models import Approval
from publishing.parts import Parts
from publishing.transitions import Cause

log = structlog.get_logger(__name__)
_S = GenerationState
NOT_PASSED: Final = Message(
    gettext_noop("A question found none of its expected units among the first ten.")
)
_ENDS: Final[Mapping[GenerationState, GenerationState]] = {
    _S.BUILDING: _S.FAILED,
    _S.EVALUATING: _S.FAILED,
    _S.READY: _S.DELETING,
}
"""How a fault ends a candidate; one that had passed can only be deleted."""


def refuse(hold: Hold, *, threshold: float) -> None:
    """End a candidate that did not pass, and its approval with it; nothing else changes.

    Its points stay for a look at what went wrong, until a later generation becomes active.
    """
    with transaction.atomic():
        hold.move(_S.REJECTED, reason=NOT_PASSED, changes={"threshold": threshold})
        _close_approval(hold, ApprovalState.EXAM_FAILED, outcome=NOT_PASSED)


def put_off(hold: Hold, parts: Parts, fault: OutsideFault) -> None:
    """Leave the candidate for the next try, or fail it when this was the last one."""
    if hold.generation.tries >= conf.current().max_tries:
        fail(hold, parts, fault)
        return
    log.warning("generation_waits", generation=str(hold.generation.pk), code=fault.code)
    hold.keep(**_error(fault))


def fail(hold: Hold, parts: Parts, fault: Fault) -> None:
    """End a candidate with its fault, close its approval, and delete what it had stored."""
    generation = hold.generation
    log.error("generation_failed", generation=str(generation.pk), code=fault.code)
    reason = f"{fault.code}: {fault.message}"
    to = _ENDS[_S(generation.state)]
    with transaction.atomic():
        hold.move(to, reason=reason, changes=_error(fault))
        _close_approval(hold, ApprovalState.FAILED, outcome=reason)
    _compensate(hold, parts)


def tidy(parts: Parts) -> int:
    """Delete what is marked and what nobody needs any more; give how many generations are gone."""
    cause = Cause(actor=PORTAL, at=parts.clock())
    removed = retention.remove_marked(store=parts.store, repository=parts.repository, cause=cause)
    retention.sweep_vectors()
    retention.forget_questions(now=parts.clock())
    return removed


def _compensate(hold: Hold, parts: Parts) -> None:
    """Delete the points of an ended candidate; what cannot be deleted now is marked for later."""
    generation = hold.generation
    if _S(generation.state) is _S.DELETING:
        tidy(parts)
        return
    try:
        parts.store.delete(stored(generation))
        groundings.forget(generation)
    except Fault as fault:
        hold.move(_S.DELETING, reason=f"{fault.code}: {fault.message}")


def _close_approval(hold: Hold, to: ApprovalState, *, outcome: str) -> None:
    """Close the approval that waits for this candidate, if one does."""
    waiting = Approval.objects.filter(generations=hold.generation, state=ApprovalState.OPEN).first()
    if waiting is not None:
        cause = Cause(actor=PORTAL, at=hold.clock(), reason=outcome)
        transitions.close_approval(waiting, to, cause=cause, outcome=outcome)


def _error(fault: Fault) -> dict[str, str]:
    return {"error_code": fault.code, "error_message": str(fault.message)}
