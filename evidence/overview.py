"""Frozen summaries of workspaces and revisions, for pages and for publishing."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime

from django.utils import timezone

from evidence import mirror, plugged
from evidence.domain.normalization import decode_utf8
from evidence.domain.tree import WORKSPACE_FILE
from evidence.domain.workspace import WorkspaceFile, parse_workspace
from evidence.messages import gettext_noop
from evidence.models import PortalCommit, RevisionRecord, UnitRecord, Workspace
from evidence.ports import RevisionUnknown
from evidence.reading import NotAWorkspace
from evidence.standing import WorkspaceSummary, summaries

__all__ = [
    "CommitAuthor",
    "RevisionSummary",
    "UnitPlace",
    "UnitState",
    "WorkspaceSummary",
    "authors_between",
    "revision",
    "unit_places",
    "unit_state",
    "workspace",
    "workspace_file",
    "workspaces",
]

FULL_ID = re.compile(r"[0-9a-f]{40}\Z")
NOBODY: tuple[None, tuple[str, ...]] = (None, ())
"""What the portal knows of a commit that was not made through it."""
_CO_AUTHOR = re.compile(r"^co-authored-by:[^<>\n]*<([^<>\s]+)>\s*$", re.IGNORECASE | re.MULTILINE)


@dataclass(frozen=True, slots=True)
class RevisionSummary:
    """One first-parent commit, validated; `position` is 1 for the first commit."""

    commit: str
    position: int
    content_digest: str
    publishable: bool
    author_name: str
    author_email: str
    authored_at: datetime
    message: str
    errors: int
    warnings: int
    open_review_items: int
    orphans: int


@dataclass(frozen=True, slots=True)
class CommitAuthor:
    """Who wrote a commit; `username` is the portal's own record, None for an outside commit."""

    commit: str
    username: str | None
    name: str
    email: str
    others: tuple[str, ...] = ()
    """E-mails of the committer and of the co-authors that the message names."""
    title: str = field(default="", compare=False)
    """The first line of the message, for people."""
    at: datetime | None = field(default=None, compare=False)
    """When it was written, as its author's clock said."""
    editors: tuple[str, ...] = ()
    """User names, by the portal's own record, of those who edited the proposal it accepts."""


@dataclass(frozen=True, slots=True)
class UnitState:
    """Whether a unit of the present head can be published as it is."""

    title: str
    is_orphan: bool
    is_valid: bool
    open_items: int


@dataclass(frozen=True, slots=True)
class UnitPlace:
    """What a unit of the present head is for, and the note that it comes from."""

    record: int
    """Key of the unit's page in the admin."""
    evidence_id: str
    title: str
    kind: str
    source_file: str
    purposes: tuple[str, ...]


def workspaces() -> tuple[WorkspaceSummary, ...]:
    """Give every registered workspace in slug order; the number of queries is constant."""
    return summaries(Workspace.objects.order_by("slug"), now=timezone.now())


def workspace(slug: str) -> WorkspaceSummary:
    """Give one workspace. Raises `WorkspaceUnknown`."""
    return summaries([Workspace.named(slug)], now=timezone.now())[0]


def revision(slug: str, commit: str) -> RevisionSummary:
    """Give a first-parent commit, by full id, validated now if nobody did yet.

    Raises `WorkspaceUnknown`, `RevisionUnknown`.
    """
    owner = Workspace.named(slug)
    wanted = commit if FULL_ID.match(commit) else ""
    row = RevisionRecord.objects.filter(workspace=owner, commit=wanted).first()
    if row is None:
        raise RevisionUnknown(gettext_noop("This revision is not in the history of the workspace."))
    if not row.is_validated:
        row = mirror.validate_revision(plugged.repository(slug), row)
    return RevisionSummary(
        commit=row.commit,
        position=row.position,
        content_digest=row.content_digest,
        publishable=row.is_publishable,
        author_name=row.author_name,
        author_email=row.author_email,
        authored_at=row.authored_at,
        message=row.message,
        **row.summary,
    )


def unit_state(slug: str, evidence_id: str) -> UnitState | None:
    """Give how a unit stands at the mirrored head, or None when it is not there; one query."""
    rows = UnitRecord.objects.filter(workspace__slug=slug, evidence_id=evidence_id)
    columns = ("title", "is_orphan", "is_valid", "open_items")
    for row in rows.values_list(*columns)[:1]:
        return UnitState(*row)
    return None


def unit_places(slug: str) -> tuple[UnitPlace, ...]:
    """List the valid units of the mirrored head in path order; one query."""
    rows = UnitRecord.objects.filter(workspace__slug=slug, is_valid=True)
    columns = ("pk", "evidence_id", "title", "kind", "source_file", "purposes")
    return tuple(
        UnitPlace(pk, evidence_id, title, kind, source, tuple(purposes))
        for pk, evidence_id, title, kind, source, purposes in rows.values_list(*columns)
    )


def positions(commits: Mapping[str, str | None]) -> dict[str, int]:
    """Give the place in the history of one commit a workspace, by slug; one query for all.

    A workspace whose commit is None or has left the history is not in the answer.
    """
    wanted = {slug: commit for slug, commit in commits.items() if commit}
    rows = RevisionRecord.objects.filter(
        workspace__slug__in=wanted, commit__in=set(wanted.values())
    ).values_list("workspace__slug", "commit", "position")
    return {slug: position for slug, commit, position in rows if wanted[slug] == commit}


def authors_between(slug: str, after: str | None, upto: str) -> tuple[CommitAuthor, ...]:
    """Give who wrote each commit reachable from `upto` and not from `after`, all parents.

    Raises `WorkspaceUnknown`, `RevisionUnknown`.
    """
    commits = plugged.repository(slug).between(after, upto)
    rows = PortalCommit.objects.filter(workspace__slug=slug)
    recorded = {
        commit: (username, tuple(others))
        for commit, username, others in rows.values_list("commit", "username", "others")
    }
    return tuple(
        CommitAuthor(
            commit=each.id,
            username=recorded.get(each.id, NOBODY)[0],
            name=each.author.name,
            email=each.author.email,
            others=(each.committer.email, *_CO_AUTHOR.findall(each.message)),
            title=each.message.partition("\n")[0],
            at=each.at,
            editors=recorded.get(each.id, NOBODY)[1],
        )
        for each in commits
    )


def workspace_file(slug: str, commit: str) -> WorkspaceFile:
    """Give `workspace.yaml` of a revision. Raises `WorkspaceInvalid`, `NotAWorkspace`."""
    repository = plugged.repository(slug)
    entry = repository.entry(commit, WORKSPACE_FILE)
    if entry is None:
        message = gettext_noop("This revision has no workspace.yaml.")
        raise NotAWorkspace(message, path=WORKSPACE_FILE)
    return parse_workspace(decode_utf8(repository.blobs([entry.blob])[entry.blob]))
