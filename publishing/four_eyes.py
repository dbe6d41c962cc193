"""Nobody publishes their own words alone: who wrote what, and the policy in force (spec 50)."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final

from django.contrib.auth import get_user_model
from django.db.models.functions import Lower

from evidence import overview
from evidence.faults import CuratorFault
from evidence.messages import Message, gettext_noop
from evidence.overview import CommitAuthor
from evidence.ports import Actor
from publishing.models import Vouch

_HINT: Final = gettext_noop("Someone who wrote none of the changes may approve them.")


class AuthorMayNotApprove(CuratorFault):
    """The approver wrote a commit that would be published; administrators are no exception."""

    code = "author_may_not_approve"
    hint = _HINT


class AuthorUnknown(CuratorFault):
    """A commit came from outside, and no user of the portal has its author's e-mail."""

    code = "author_unknown"
    hint = gettext_noop("Give the user that address, or let an operator vouch for the commit.")


class VoucherMayNotApprove(CuratorFault):
    """The approver vouched for a commit that would be published: two people are needed."""

    code = "voucher_may_not_approve"
    hint = gettext_noop("Someone else, who wrote none of the changes, may approve them.")


@dataclass(frozen=True, slots=True)
class Writers:
    """The users behind one commit; `is_known` says whether its author is one of them."""

    names: frozenset[str]
    is_known: bool
    vouched_by: str = ""
    """Who vouched for it. They wrote nothing by that, and may not approve what they vouched for:
    else one person alone could commit from outside, vouch and approve."""


def check(*, workspace: str, active: str | None, revision: str, approver: Actor) -> None:
    """Let an approver pass who wrote nothing between the active revision and this one.

    Nor who vouched for a commit between them. Raises `AuthorMayNotApprove`,
    `VoucherMayNotApprove`, `AuthorUnknown`. The policy is the active revision's own, so a change
    of it needs an approval under the old rule (spec 30, Workspace file).
    """
    if not distinct_approver_required(workspace=workspace, active=active):
        return
    authors = overview.authors_between(workspace, active, revision)
    for author, writers in zip(authors, writers_of(workspace, authors), strict=True):
        if approver.username in writers.names:
            raise _is_author(author, approver)
        if approver.username == writers.vouched_by:
            raise _is_voucher(author, approver)
        if not writers.is_known and not writers.vouched_by:
            raise _unknown(author)


def distinct_approver_required(*, workspace: str, active: str | None) -> bool:
    """Tell which policy is in force; before the first generation it is the operator's word."""
    if active is None:
        return not overview.workspace(workspace).single_approver
    return overview.workspace_file(workspace, active).publication.require_distinct_approver


def writers_of(workspace: str, authors: Sequence[CommitAuthor]) -> list[Writers]:
    """Give who wrote each commit and who vouched for it, in the order given, with two queries.

    The portal's own record decides; for a commit from outside it is every user whose e-mail is
    the author's, the committer's or a co-author's (spec 50, Approval).
    """
    outside = [author for author in authors if author.username is None]
    users = _users_by_email({email for one in outside for email in (one.email, *one.others)})
    vouches = Vouch.objects.filter(workspace=workspace).values_list("commit", "vouched_by")
    vouched = dict(vouches)
    return [
        replace(_writers(author, users), vouched_by=vouched.get(author.commit, ""))
        for author in authors
    ]


def _writers(author: CommitAuthor, users: Mapping[str, frozenset[str]]) -> Writers:
    if author.username is not None:
        return Writers(names=frozenset({author.username, *author.editors}), is_known=True)
    found = [users.get(email.lower(), frozenset()) for email in (author.email, *author.others)]
    return Writers(names=frozenset().union(*found), is_known=bool(found[0]))


def _users_by_email(emails: Collection[str]) -> Mapping[str, frozenset[str]]:
    """Give the names of all users with one of these e-mails, in small letters."""
    found: dict[str, frozenset[str]] = {}
    users = get_user_model().objects.annotate(address=Lower("email")).exclude(email="")
    wanted = users.filter(address__in={email.lower() for email in emails})
    for address, name in wanted.values_list("address", "username"):
        found[address] = found.get(address, frozenset()) | {name}
    return found


def _is_author(author: CommitAuthor, approver: Actor) -> AuthorMayNotApprove:
    return AuthorMayNotApprove(
        Message(
            gettext_noop("%(user)s wrote commit %(commit)s, so someone else must approve it."),
            user=approver.username,
            commit=author.commit[:12],
        )
    )


def _is_voucher(author: CommitAuthor, approver: Actor) -> VoucherMayNotApprove:
    return VoucherMayNotApprove(
        Message(
            gettext_noop(
                "%(user)s vouched for commit %(commit)s, so someone else must approve it."
            ),
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
