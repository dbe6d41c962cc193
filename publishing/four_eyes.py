"""Nobody publishes their own words alone: who wrote what, and the policy in force (spec 50)."""

from __future__ import annotations

from typing import Final

from django.contrib.auth import get_user_model

from evidence import overview
from evidence.faults import CuratorFault
from evidence.messages import Message, gettext_noop
from evidence.overview import CommitAuthor
from evidence.ports import Actor

_HINT: Final = gettext_noop("Someone who wrote none of the changes may approve them.")


class AuthorMayNotApprove(CuratorFault):
    """The approver wrote a commit that would be published; administrators are no exception."""

    code = "author_may_not_approve"
    hint = _HINT


class AuthorUnknown(CuratorFault):
    """A commit came from outside, and no user of the portal has its author's e-mail."""

    code = "author_unknown"
    hint = gettext_noop("Give the user that address, or let an operator vouch for the commit.")


def check(*, workspace: str, active: str | None, revision: str, approver: Actor) -> None:
    """Let an approver pass who wrote nothing between the active revision and this one.

    Raises `AuthorMayNotApprove`, `AuthorUnknown`. The policy is the active revision's own, so a
    change of it needs an approval under the old rule (spec 30, Workspace file).
    """
    if not distinct_approver_required(workspace=workspace, active=active):
        return
    for author in overview.authors_between(workspace, active, revision):
        names = usernames(author)
        if approver.username in names:
            raise _is_author(author, approver)
        if not names:
            raise _unknown(author)


def distinct_approver_required(*, workspace: str, active: str | None) -> bool:
    """Tell which policy is in force; before the first generation it is the operator's word."""
    if active is None:
        return not overview.workspace(workspace).single_approver
    return overview.workspace_file(workspace, active).publication.require_distinct_approver


def usernames(author: CommitAuthor) -> frozenset[str]:
    """Give who wrote a commit: the portal's own record, else every user with that e-mail."""
    if author.username:
        return frozenset({author.username})
    if not author.email:
        return frozenset()
    users = get_user_model().objects.filter(email__iexact=author.email)
    return frozenset(users.values_list("username", flat=True))


def _is_author(author: CommitAuthor, approver: Actor) -> AuthorMayNotApprove:
    return AuthorMayNotApprove(
        Message(
            gettext_noop("%(user)s wrote commit %(commit)s, so someone else must approve it."),
            user=approver.username,
            commit=author.commit[:12],
        )
    )


def _unknown(author: CommitAuthor) -> AuthorUnknown:
    return AuthorUnknown(
        Message(
            gettext_noop("Commit %(commit)s is from outside, by %(name)s <%(email)s>: no user."),
            commit=author.commit[:12],
            name=author.name,
            email=author.email,
        )
    )
