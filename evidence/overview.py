"""Frozen summaries of workspaces and revisions, for pages and for publishing."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime

from django.db.models import Count, Q

from evidence import mirror, plugged
from evidence.domain.normalization import decode_utf8
from evidence.domain.tree import WORKSPACE_FILE
from evidence.domain.workspace import WorkspaceFile, parse_workspace
from evidence.faults import CuratorFault
from evidence.messages import gettext_noop
from evidence.models import (
    PortalCommit,
    PreparationRun,
    RevisionRecord,
    RunState,
    SourceRecord,
    SourceState,
    UnitRecord,
    Workspace,
)
from evidence.ports import RevisionUnknown

NO_COUNTS = {"errors": 0, "warnings": 0, "open_review_items": 0, "orphans": 0}


class WorkspaceFileMissing(CuratorFault):
    """A revision has no `workspace.yaml`."""

    code = "workspace_missing"


@dataclass(frozen=True, slots=True)
class WorkspaceSummary:
    """Where one workspace stands at its mirrored head."""

    slug: str
    title: str
    language: str
    branch: str
    single_approver: bool
    head: str
    mirrored_at: datetime | None
    sources_new: int
    sources_changed: int
    sources_removed: int
    units: int
    invalid: int
    open_items: int
    orphans: int
    errors: int
    warnings: int
    running: int
    proposals: int
    publishable: bool

    @property
    def waiting(self) -> int:
        """Give how many sources the last preparation has not seen as they are."""
        return self.sources_new + self.sources_changed + self.sources_removed


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


def workspaces() -> tuple[WorkspaceSummary, ...]:
    """Give every registered workspace in slug order; the number of queries is constant."""
    return _summaries(tuple(Workspace.objects.order_by("slug")))


def workspace(slug: str) -> WorkspaceSummary:
    """Give one workspace. Raises `WorkspaceUnknown`."""
    return _summaries((Workspace.named(slug),))[0]


def revision(slug: str, commit: str) -> RevisionSummary:
    """Give a first-parent commit, by full id, validated now if nobody did yet.

    Raises `WorkspaceUnknown`, `RevisionUnknown`.
    """
    row = RevisionRecord.objects.filter(workspace__slug=slug, commit=commit).first()
    if row is None:
        Workspace.named(slug)
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


def authors_between(slug: str, after: str | None, upto: str) -> tuple[CommitAuthor, ...]:
    """Give who wrote each commit reachable from `upto` and not from `after`, all parents.

    Raises `WorkspaceUnknown`, `RevisionUnknown`.
    """
    commits = plugged.repository(slug).between(after, upto)
    recorded = dict(
        PortalCommit.objects.filter(workspace__slug=slug).values_list("commit", "username")
    )
    return tuple(
        CommitAuthor(
            commit=each.id,
            username=recorded.get(each.id),
            name=each.author.name,
            email=each.author.email,
        )
        for each in commits
    )


def workspace_file(slug: str, commit: str) -> WorkspaceFile:
    """Give `workspace.yaml` of a revision. Raises `WorkspaceInvalid`, `WorkspaceFileMissing`."""
    repository = plugged.repository(slug)
    entry = repository.entry(commit, WORKSPACE_FILE)
    if entry is None:
        message = gettext_noop("This revision has no workspace.yaml.")
        raise WorkspaceFileMissing(message, path=WORKSPACE_FILE)
    return parse_workspace(decode_utf8(repository.blobs([entry.blob])[entry.blob]))


def _summaries(rows: tuple[Workspace, ...]) -> tuple[WorkspaceSummary, ...]:
    keys = [row.pk for row in rows]
    sources = _counted(SourceRecord, keys, "state")
    runs = _counted(PreparationRun, keys, "state")
    units = dict(
        UnitRecord.objects.filter(workspace__in=keys)
        .order_by()
        .values_list("workspace")
        .annotate(count=Count("pk"))
    )
    invalid = dict(
        UnitRecord.objects.filter(workspace__in=keys)
        .order_by()
        .values_list("workspace")
        .annotate(count=Count("pk", filter=Q(is_valid=False)))
    )
    heads = RevisionRecord.objects.filter(
        workspace__in=keys, commit__in=[row.mirrored_commit for row in rows]
    )
    validated = {head.workspace_id: head for head in heads}
    return tuple(
        _summary(
            row,
            head=validated.get(row.pk),
            sources=sources.get(row.pk, {}),
            runs=runs.get(row.pk, {}),
            units=(units.get(row.pk, 0), invalid.get(row.pk, 0)),
        )
        for row in rows
    )


def _summary(
    row: Workspace,
    *,
    head: RevisionRecord | None,
    sources: Mapping[str, int],
    runs: Mapping[str, int],
    units: tuple[int, int],
) -> WorkspaceSummary:
    counts = (head.summary if head else None) or NO_COUNTS
    return WorkspaceSummary(
        slug=row.slug,
        title=row.title,
        language=row.language,
        branch=row.branch,
        single_approver=row.single_approver,
        head=row.mirrored_commit,
        mirrored_at=row.mirrored_at,
        sources_new=sources.get(SourceState.NEW, 0),
        sources_changed=sources.get(SourceState.CHANGED, 0),
        sources_removed=sources.get(SourceState.REMOVED, 0),
        units=units[0],
        invalid=units[1],
        open_items=counts["open_review_items"],
        orphans=counts["orphans"],
        errors=counts["errors"],
        warnings=counts["warnings"],
        running=runs.get(RunState.WAITING, 0) + runs.get(RunState.RUNNING, 0),
        proposals=runs.get(RunState.PROPOSED, 0),
        publishable=head is not None and head.is_publishable,
    )


def _counted(
    model: type[SourceRecord] | type[PreparationRun], keys: list[int], column: str
) -> dict[int, dict[str, int]]:
    rows = model._default_manager.filter(workspace__in=keys).order_by()
    counted: dict[int, dict[str, int]] = {}
    for key, value, count in rows.values_list("workspace", column).annotate(count=Count("pk")):
        counted.setdefault(key, {})[value] = count
    return counted
