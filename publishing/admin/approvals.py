"""Approvals: the page on which a revision is approved, and what became of each approval."""

from __future__ import annotations

from typing import Any
from urllib.parse import urlencode
from uuid import UUID

from django.contrib import admin, messages
from django.contrib.admin import display
from django.db import transaction
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.urls import URLPattern, path
from django.utils import timezone
from django.utils.html import format_html
from django.utils.safestring import SafeString
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from evidence.admin.pages import (
    ReadablePage,
    actor_of,
    address,
    go,
    may,
    posts_only,
    require,
    say_fault,
)
from evidence.admin.wording import short
from evidence.faults import Fault
from publishing import approval, tasks, vouching
from publishing.admin import releases
from publishing.admin.events import happened
from publishing.admin.filters import WorkspaceFilter
from publishing.admin.forms import RehearsalForm, ReleaseForm, RollBackForm, VouchForm
from publishing.admin.wording import approval_badge, is_under_way, live_words
from publishing.domain.lifecycle import ApprovalState
from publishing.models import Approval, Generation, PublicationEvent
from publishing.permissions import APPROVE, OPERATE


@admin.register(Approval)
class ApprovalPage(ReadablePage):
    """Who said that a revision may be published, and what came of it."""

    page_template = "publishing/approval.html"
    steps = ("cancel",)
    list_display = ("revision_words", "state_words", "approved_by", "approved_at", "note")
    list_filter = (WorkspaceFilter,)
    search_fields = ("revision", "approved_by", "note")
    empty_title = _("No approvals yet")
    empty_hint = _(
        "When a revision has nothing open, an approver can release it from the home page."
    )

    @display(description=_("revision"), ordering="revision")
    def revision_words(self, row: Approval) -> SafeString:
        """Give the first digits of the revision."""
        return format_html('<span class="ep-hash">{}</span>', short(row.revision))

    @display(description=_("state"), ordering="state")
    def state_words(self, row: Approval) -> SafeString:
        """Say how it stands or ended."""
        return approval_badge(row.state)

    def get_urls(self) -> list[URLPattern]:
        """Add the page that releases a revision of a workspace, and its steps."""
        wrap = self.admin_site.admin_view
        mine = [
            path("release/<slug:slug>/", wrap(self.release), name="publishing_release"),
            path("release/<slug:slug>/rehearse/", wrap(self.rehearse), name="publishing_rehearse"),
            path("release/<slug:slug>/vouch/", wrap(self.vouch), name="publishing_vouch"),
        ]
        return [*mine, *super().get_urls()]

    def release(self, request: HttpRequest, slug: str) -> HttpResponse:
        """Show what would be published; on a post approve exactly that."""
        if not self.has_view_permission(request):
            require(request, APPROVE)
        form = ReleaseForm(request.POST if request.method == "POST" else None)
        if request.method == "POST":
            require(request, APPROVE)
            answer = self._approve(request, slug, form) if form.is_valid() else None
            if answer is not None:
                return answer
        try:
            asked = request.GET.get("revision")
            context = releases.release_context(slug, asked, actor_of(request))
        except Fault as fault:
            say_fault(request, fault)
            return go("index")
        context |= {
            "form": form,
            "may_approve": may(request, APPROVE),
            "may_vouch": may(request, OPERATE),
        }
        return self.page(request, None, "publishing/release.html", **context)

    def _approve(self, request: HttpRequest, slug: str, form: ReleaseForm) -> HttpResponse | None:
        try:
            approved = approval.approve(
                workspace=slug, actor=actor_of(request), **form.cleaned_data
            )
        except Fault as fault:
            say_fault(request, fault)
            return None
        _send(approved.generation)
        messages.success(
            request, gettext("Approved. It answers once it has passed its exam and a last check.")
        )
        return go("publishing_generation_change", approved.generation)

    @posts_only
    def rehearse(self, request: HttpRequest, slug: str) -> HttpResponse:
        """Build and examine a revision without an approval; its page shows what would change."""
        require(request, APPROVE)
        form = RehearsalForm(request.POST)
        if not form.is_valid():
            return _back(slug)
        revision = form.cleaned_data["revision"]
        try:
            generation = approval.rehearse(
                workspace=slug, revision=revision, actor=actor_of(request)
            )
        except Fault as fault:
            say_fault(request, fault)
        else:
            _send(generation)
        return _back(slug, revision)

    @posts_only
    def vouch(self, request: HttpRequest, slug: str) -> HttpResponse:
        """Record an operator's word for a commit from outside."""
        require(request, OPERATE)
        form = VouchForm(request.POST)
        if not form.is_valid():
            messages.error(request, gettext("Say how you know who wrote the commit."))
            return _back(slug)
        try:
            vouching.vouch(workspace=slug, actor=actor_of(request), **form.cleaned_data)
        except Fault as fault:
            say_fault(request, fault)
        else:
            messages.success(
                request, gettext("Recorded. Somebody else has to approve the revision.")
            )
        return _back(slug)

    @posts_only
    def cancel(self, request: HttpRequest, object_id: str) -> HttpResponse:
        """Take an open approval back, with a reason."""
        require(request, APPROVE)
        row = self.row(request, object_id)
        form = RollBackForm(request.POST)
        if not form.is_valid():
            messages.error(request, gettext("Say why you take the approval back."))
            return go("publishing_approval_change", row.pk)
        try:
            approval.cancel(
                workspace=row.workspace,
                actor=actor_of(request),
                reason=form.cleaned_data["reason"],
                only=row.pk,
            )
        except Fault as fault:
            say_fault(request, fault)
        else:
            messages.success(request, gettext("The approval is taken back."))
        return go("publishing_approval_change", row.pk)

    def page_context(self, request: HttpRequest, row: Approval) -> dict[str, Any]:
        """Show the approval, its generations and what happened."""
        is_open = row.state == ApprovalState.OPEN
        generations = list(Generation.objects.filter(approval=row).select_related("approval"))
        unfinished = [each for each in generations if is_under_way(each)]
        return {
            "title": gettext("Approval of %(revision)s") % {"revision": short(row.revision)},
            "badge": approval_badge(row.state),
            "generations": generations,
            "running": [(each, live_words(each, timezone.now())) for each in unfinished],
            "events": happened(PublicationEvent.objects.filter(approval=row, generation=None)),
            "cancel_form": RollBackForm(),
            "may_cancel": is_open and may(request, APPROVE),
        }


def _send(generation: UUID) -> None:
    """Wake a worker; without a broker the timetable does it a minute later, hence `robust`."""
    wanted = str(generation)
    transaction.on_commit(lambda: tasks.advance_generation.delay(wanted), robust=True)


def _back(slug: str, revision: str = "") -> HttpResponseRedirect:
    """Show the release page again, of the revision it was about."""
    asked = f"?{urlencode({'revision': revision})}" if revision else ""
    return HttpResponseRedirect(address("publishing_release", slug) + asked)
