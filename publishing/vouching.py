"""An operator's word for a commit from outside whose author is no user: recorded, never changed."""

from __future__ import annotations

from typing import Final

from django.db import IntegrityError, transaction
from django.utils import timezone

from evidence import overview
from evidence.faults import CuratorFault
from evidence.messages import Message, gettext_noop
from evidence.overview import CommitAuthor
from evidence.ports import Actor
from publishing import eligibility, four_eyes, permissions, transitions
from publishing.models import Vouch
from publishing.transitions import Cause

NO_REASON: Final = Message(gettext_noop("Say how you know who wrote the commit."))


class NothingToVouch(CuratorFault):
    """The commit waits for nobody's word, or no reason was given."""

    code = "nothing_to_vouch"


class VouchedBefore(CuratorFault):
    """Somebody vouched for the commit before; the message says who and when."""

    code = "vouched_before"


def vouch(*, workspace: str, commit: str, actor: Actor, reason: str) -> None:
    """Record that `actor` vouches for a commit that the next release holds, and why.

    Whoever vouches may not approve a release with that commit, whoever wrote it (`four_eyes`).
    `commit` is a full id. Of two at once the database lets one through. Raises `NotPermitted`,
    `NothingToVouch`, `VouchedBefore`, `WorkspaceUnknown`.
    """
    permissions.require_operator(actor)
    if not reason.strip():
        raise NothingToVouch(NO_REASON)
    author = _waiting(workspace, commit)
    cause = Cause(actor=actor.username, at=timezone.now(), reason=reason.strip())
    try:
        with transaction.atomic():
            Vouch.objects.create(
                workspace=workspace,
                commit=author.commit,
                vouched_by=cause.actor,
                vouched_at=cause.at,
                reason=cause.reason,
            )
            transitions.log_vouch(workspace, author.commit, cause=cause)
    except IntegrityError as error:
        raise _before(workspace, author.commit) from error


def _waiting(workspace: str, commit: str) -> CommitAuthor:
    """Give the commit among those that a release of the head holds, if its author is nobody."""
    active = eligibility.active_revision(workspace)
    head = overview.workspace(workspace).head
    authors = overview.authors_between(workspace, active, head)
    for author, writers in zip(authors, four_eyes.writers_of(workspace, authors), strict=True):
        if author.commit == commit:
            if writers.is_known:
                break
            return author
    raise NothingToVouch(
        Message(
            gettext_noop("Commit %(commit)s waits for nobody to vouch for it."), commit=commit[:12]
        )
    )


def _before(workspace: str, commit: str) -> VouchedBefore:
    first = Vouch.objects.get(workspace=workspace, commit=commit)
    return VouchedBefore(
        Message(
            gettext_noop("%(user)s vouched for commit %(commit)s at %(at)s."),
            user=first.vouched_by,
            commit=commit[:12],
            at=timezone.localtime(first.vouched_at).strftime("%Y-%m-%d %H:%M:%S"),
        )
    )
