"""Workspaces: what is registered, and the steps that concern a whole one."""

from __future__ import annotations

from typing import Any

from django.contrib import admin, messages
from django.contrib.admin import display
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404
from django.urls import URLPattern, path
from django.utils.html import format_html
from django.utils.safestring import SafeString
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from evidence import mirror, overview
from evidence.admin import preparing
from evidence.admin.pages import CURATE, ReadablePage, go, may, posts_only, require, say_fault
from evidence.admin.wording import short
from evidence.faults import Fault
from evidence.forms import PrepareForm
from evidence.models import Workspace

OPERATE = "evidence.operate_workspace"


@admin.register(Workspace)
class WorkspacePage(ReadablePage):
    """The knowledge bases this portal keeps."""

    page_template = "evidence/workspace.html"
    steps = ("sync",)
    list_display = ("title", "slug", "language", "branch", "head", "mirrored_at")
    search_fields = ("title", "slug")
    empty_title = _("No workspaces yet")
    empty_hint = _("An operator registers one with: tht workspace add <path or address>")

    @display(description=_("revision"))
    def head(self, row: Workspace) -> SafeString:
        """Give the first digits of the mirrored commit."""
        return format_html('<span class="ep-hash">{}</span>', short(row.mirrored_commit))

    def get_urls(self) -> list[URLPattern]:
        """Add the preparation of everything that changed, by slug."""
        prepare = path(
            "prepare/<slug:slug>/",
            self.admin_site.admin_view(self.prepare),
            name="evidence_prepare",
        )
        return [prepare, *super().get_urls()]

    @posts_only
    def prepare(self, request: HttpRequest, slug: str) -> HttpResponse:
        """Start a preparation of what changed, or of the notes that were posted."""
        require(request, CURATE)
        workspace = get_object_or_404(Workspace, slug=slug)
        form = PrepareForm(request.POST, workspace=workspace)
        if not form.is_valid():
            messages.error(request, gettext("Choose notes of this workspace."))
            return go("evidence_sourcerecord_changelist")
        return preparing.start(request, slug, only=form.paths())

    @posts_only
    def sync(self, request: HttpRequest, object_id: str) -> HttpResponse:
        """Mirror what arrived in the repository by another way than the portal."""
        require(request, OPERATE)
        row = self.row(request, object_id)
        try:
            mirror.sync_workspace(row.slug)
        except Fault as fault:
            say_fault(request, fault)
        else:
            messages.success(request, gettext("Synchronized."))
        return go("evidence_workspace_change", row.pk)

    def page_context(self, request: HttpRequest, row: Workspace) -> dict[str, Any]:
        """Show the numbers of the home page and the workspace file."""
        return {"summary": overview.workspace(row.slug), "may_operate": may(request, OPERATE)}
