"""Make the database say what Git says; no other module writes mirror rows (spec 30, Mirror)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime

from django.db import transaction
from django.db.models import Count
from django.utils import timezone

from evidence import mirror_rows, plugged, source_rows, unit_dates, unit_rows
from evidence.domain.findings import BLOCKING_CODES, Severity, ValidationReport
from evidence.domain.validation import validate
from evidence.faults import OutsideFault
from evidence.messages import gettext_noop
from evidence.mirrored import Known
from evidence.models import (
    FindingRecord,
    ListedUnitRecord,
    RevisionRecord,
    Workspace,
)
from evidence.ports import Repository
from evidence.projection import Projection, project
from evidence.reading import read_revision

TRIES = 10
OPEN_ITEM = "review_item_open"
"""The finding that stands for one open review item."""


class MirrorBusy(OutsideFault):
    """Others kept mirroring the same workspace; what they wrote is as good."""

    code = "mirror_busy"


@dataclass(frozen=True, slots=True)
class SyncReport:
    """What one sync did; `files` counts the files it looked at."""

    workspace: str
    before: str
    head: str
    files: int
    errors: int
    warnings: int
    open_review_items: int
    orphans: int
    publishable: bool

    def as_json(self) -> dict[str, object]:
        """Give the report as `tht workspace sync --json` prints it."""
        return {name: getattr(self, name) for name in self.__slots__}


def sync_workspace(workspace: str, *, rebuild: bool = False) -> SyncReport:
    """Project the head of the branch into rows and give what was done.

    `rebuild` looks at every file as if nothing had been mirrored, and gives the same rows. Safe to
    run twice and side by side. Raises `WorkspaceUnknown`, `RepositoryBroken`, `RevisionUnknown`.
    """
    repository = plugged.repository(workspace)
    for _ in range(TRIES):
        row = Workspace.named(workspace)
        head = repository.head(row.branch)
        if head == row.mirrored_commit and not rebuild:
            return _report(row, before=head, files=0)
        known = Known(row, nothing=rebuild or not row.mirrored_commit)
        projection = project(repository, known, head)
        revisions = mirror_rows.revisions(repository, projection)
        dates = unit_dates.read_dates(repository, projection, everything=revisions.everything)
        if _write(projection, revisions, dates):
            before = row.mirrored_commit
            return _report(
                Workspace.named(workspace), before=before, files=len(projection.changed.files)
            )
    raise MirrorBusy(gettext_noop("Others are synchronizing this workspace."))


def validate_revision(repository: Repository, revision: RevisionRecord) -> RevisionRecord:
    """Validate a revision that is not the head and keep the verdict; the tree is read whole."""
    tree = read_revision(repository, revision.commit)
    report = validate(tree)
    revision.content_digest = tree.content_digest()
    revision.is_validated, revision.is_publishable = True, report.publishable
    revision.summary = summary_of(report)
    revision.save(update_fields=("content_digest", "is_validated", "is_publishable", "summary"))
    return revision


def summary_of(report: ValidationReport) -> dict[str, int]:
    """Give the counts that a revision's row keeps."""
    warnings = [
        found
        for found in report.findings
        if found.severity is Severity.WARNING and found.code not in BLOCKING_CODES
    ]
    return {
        "errors": report.errors,
        "warnings": len(warnings),
        "open_review_items": report.open_review_items,
        "orphans": report.orphans,
    }


def head_summary(workspace: Workspace) -> dict[str, int]:
    """Count what the mirror says of the head, as `summary_of` counts a report."""
    rows = FindingRecord.objects.filter(workspace=workspace).order_by()
    counted = list(rows.values_list("severity", "code").annotate(count=Count("pk")))
    orphans = ListedUnitRecord.objects.filter(workspace=workspace, source_file="")
    return {
        "errors": sum(count for severity, _, count in counted if severity == Severity.ERROR),
        "warnings": sum(
            count
            for severity, code, count in counted
            if severity == Severity.WARNING and code not in BLOCKING_CODES
        ),
        "open_review_items": sum(count for _, code, count in counted if code == OPEN_ITEM),
        "orphans": orphans.count(),
    }


def _write(
    projection: Projection, revisions: mirror_rows.Revisions, dates: Mapping[str, datetime]
) -> bool:
    """Write in one transaction, unless the mirror is no longer what was compared with."""
    workspace = projection.known.workspace
    with transaction.atomic():
        compared = Workspace.objects.filter(
            pk=workspace.pk, mirrored_commit=workspace.mirrored_commit
        )
        if not compared.update(mirrored_commit=projection.head, mirrored_at=timezone.now()):
            return False
        mirror_rows.write_workspace(projection)
        mirror_rows.write_listings(projection)
        unit_rows.write_units(projection)
        unit_dates.write_dates(workspace, dates)
        source_rows.write_sources(projection)
        mirror_rows.write_findings(projection)
        mirror_rows.write_revisions(workspace, revisions)
        _judge_head(workspace, projection)
    return True


def _judge_head(workspace: Workspace, projection: Projection) -> None:
    counts = head_summary(workspace)
    blocking = counts["errors"] + counts["open_review_items"] + counts["orphans"]
    RevisionRecord.objects.filter(workspace=workspace, commit=projection.head).update(
        content_digest=projection.digest,
        is_validated=True,
        is_publishable=not blocking,
        summary=counts,
    )


def _report(workspace: Workspace, *, before: str, files: int) -> SyncReport:
    revision = RevisionRecord.objects.get(workspace=workspace, commit=workspace.mirrored_commit)
    return SyncReport(
        workspace=workspace.slug,
        before=before,
        head=workspace.mirrored_commit,
        files=files,
        publishable=revision.is_publishable,
        **revision.summary,
    )
