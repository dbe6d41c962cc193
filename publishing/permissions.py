"""Who may approve and roll back, asked of the user's row and never of the page (spec 50)."""

from __future__ import annotations

from typing import Final

from django.contrib.auth import get_user_model

from evidence.faults import CuratorFault
from evidence.messages import Message, gettext_noop
from evidence.ports import Actor

APPROVE: Final = "publishing.approve_revision"


class NotPermitted(CuratorFault):
    """The person has no right to approve or roll back."""

    code = "not_permitted"
    hint = gettext_noop("Ask someone of the group Approvers.")


def require(actor: Actor) -> None:
    """Let an active staff user with `publishing.approve_revision` pass. Raises `NotPermitted`."""
    user = get_user_model().objects.filter(username=actor.username, is_active=True).first()
    if user is None or not user.is_staff or not user.has_perm(APPROVE):
        raise NotPermitted(
            Message(
                gettext_noop("%(user)s may not approve revisions or roll back."),
                user=actor.username,
            )
        )
