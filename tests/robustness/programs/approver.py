"""A person who approves at an instant that is the same for several programs."""

from __future__ import annotations

import time

from django.contrib.auth import get_user_model

from evidence.faults import Fault
from evidence.ports import Actor
from publishing import approval, eligibility
from publishing.approval import ApprovalOpen
from publishing.domain.lifecycle import ApprovalState
from publishing.models import Approval
from tests.publishing.making import SLUG


def obey(
    username: str, revision: str = "", digest: str = "", at: float = 0.0, bug: bool = False
) -> list[str]:
    """Approve, and give `["won"]` or the code and words of the refusal; or take an approval back.

    With the `bug`, an open approval is looked for before one is written.
    """
    actor = _actor(username)
    if not revision:
        return _cancelled(actor)
    summary = eligibility.publishable(SLUG, revision)  # what a page would have read by now
    while time.monotonic() < at:
        pass
    if bug:
        if Approval.objects.filter(workspace=SLUG, state=ApprovalState.OPEN).exists():
            return [ApprovalOpen.code, "seen before it was written"]
        time.sleep(0.05)  # nobody has to be lucky to meet it
    try:
        approval.approve(
            workspace=SLUG,
            revision=summary.commit,
            content_digest=digest,
            actor=actor,
            note="Insieme",
        )
    except Fault as fault:
        return [fault.code, str(fault.message)]
    return ["won"]


def _cancelled(actor: Actor) -> list[str]:
    """Take back whatever is open: after the bug it may be more than one."""
    while Approval.objects.filter(workspace=SLUG, state=ApprovalState.OPEN).exists():
        approval.cancel(workspace=SLUG, actor=actor, reason="La prossima prova")
    return ["cancelled"]


def _actor(username: str) -> Actor:
    user = get_user_model().objects.get(username=username)
    return Actor(username=username, name="", email=user.email)
