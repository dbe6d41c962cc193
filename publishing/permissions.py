"""Who may approve, roll back and vouch, asked of the user's row and never of the page (spec 50)."""

from __future__ import annotations

from typing import Final

from django.contrib.auth import get_user_model

from evidence.faults import CuratorFault
from evidence.messages import Message, gettext_noop
from evidence.ports import Actor

APPROVE: Final = "publishing.approve_revision"
OPERATE: Final = "evidence.operate_workspace"
"""What operators may: also vouch for a commit from outside."""


class NotPermitted(CuratorFault):
    """The person has no right to approve, roll back or vouch."""

    code = "not_permitted"
    hint = gettext_noop("Ask someone of the group Approvers.")


def require(actor: Actor) -> None:
    """Let an active staff user with `publishing.approve_revision` pass. Raises `NotPermitted`."""
    if not _holds(actor, APPROVE):
        words = gettext_noop("%(user)s may not approve revisions or roll back.")
        raise NotPermitted(Message(words, user=actor.username))


def require_operator(actor: Actor) -> None:
    """Let an active staff user with `evidence.operate_workspace` pass. Raises `NotPermitted`."""
    if not _holds(actor, OPERATE):
        words = gettext_noop("%(user)s may not vouch for commits.")
        hint = gettext_noop("Ask someone of the group Operators.")
        raise NotPermitted(Message(words, user=actor.username), hint=hint)


def _holds(actor: Actor, permission: str) -> bool:
    user = get_user_model().objects.filter(username=actor.username, is_active=True).first()
    return user is not None and user.is_staff and user.has_perm(permission)
