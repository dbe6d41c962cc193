"""Revisions: every commit of the first-parent history, and whether it can be published."""

from __future__ import annotations

from typing import Any

from django.contrib import admin
from django.contrib.admin import display
from django.http import HttpRequest
from django.utils.html import format_html
from django.utils.safestring import SafeString
from django.utils.translation import gettext_lazy as _

from evidence import overview
from evidence.admin.changed_units import ChangedUnit, changed_units
from evidence.admin.filters import WorkspaceFilter
from evidence.admin.head_findings import findings_of
from evidence.admin.pages import ReadablePage, listed
from evidence.admin.wording import badge, short
from evidence.models import RevisionRecord


@admin.register(RevisionRecord)
class RevisionPage(ReadablePage):
    """What was saved, by whom, and whether it can be published."""

    page_template = "evidence/revision.html"
    list_display = ("message", "commit_words", "author_name", "authored_at", "state")
    list_filter = (WorkspaceFilter, "is_publishable")
    search_fields = ("message", "commit", "author_name")
    list_select_related = ("workspace",)
    empty_title = _("No revisions yet")
    empty_hint = _("Every saved change becomes a revision.")

    @display(description=_("revision"), ordering="position")
    def commit_words(self, row: RevisionRecord) -> SafeString:
        """Give the first digits of the commit."""
        return format_html('<span class="ep-hash">{}</span>', short(row.commit))

    @display(description=_("state"), ordering="is_publishable")
    def state(self, row: RevisionRecord) -> SafeString:
        """Say whether it can be published, or that nobody has looked yet."""
        return revision_badge(row)

    def page_context(self, request: HttpRequest, row: RevisionRecord) -> dict[str, Any]:
        """Validate the revision when nobody has yet; list the findings of the newest one."""
        summary = overview.revision(row.workspace.slug, row.commit)
        is_head = row.commit == row.workspace.mirrored_commit
        return {
            "title": row.message,
            "summary": summary,
            "is_head": is_head,
            "workspace": row.workspace,
            "badge": revision_badge(row),
            "units": _units(row),
            "findings": tuple(findings_of(row.workspace.slug)) if is_head else (),
            "open_items": listed("evidence_reviewitemrecord", workspace=row.workspace.slug),
            "orphans": listed(
                "evidence_unitrecord", workspace=row.workspace.slug, attention="orphan"
            ),
        }


def _units(row: RevisionRecord) -> tuple[ChangedUnit, ...]:
    before = RevisionRecord.objects.filter(workspace=row.workspace_id, position=row.position - 1)
    previous = before.first()
    return changed_units(row.workspace.slug, previous.commit, row.commit) if previous else ()


def revision_badge(row: RevisionRecord) -> SafeString:
    """Give whether a revision can be published as a badge."""
    if not row.is_validated:
        return badge(_("not checked"))
    if row.is_publishable:
        return badge(_("can be published"), "ok")
    return badge(_("blocked"), "warn")
