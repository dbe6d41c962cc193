"""What validation found in the mirrored head, each leading to what it is about."""

from __future__ import annotations

from typing import Any

from django.contrib import admin, messages
from django.contrib.admin import display
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.urls import URLPattern, path
from django.utils import timezone
from django.utils.safestring import SafeString
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from evidence.admin import dismissals
from evidence.admin.filters import WorkspaceFilter
from evidence.admin.pages import (
    CURATE,
    ReadablePage,
    address,
    listed,
    may,
    posts_only,
    refuse_nul,
)
from evidence.admin.pairs import AT_ONCE, compare_address, warned_by
from evidence.admin.wording import badge
from evidence.models import FindingRecord, SourceRecord, UnitRecord, Workspace
from evidence.stale import stale_counts
from evidence.translation import filled


@admin.register(FindingRecord)
class FindingPage(ReadablePage):
    """What blocks publication, and what is worth a look."""

    list_display = ("words", "severity_words", "path", "code")
    list_display_links = ("words",)
    list_filter = (WorkspaceFilter, "severity", "code")
    search_fields = ("path", "code")
    list_select_related = ("workspace",)
    list_before_template = "evidence/findings_before.html"
    actions = ("dismiss_selected",)
    empty_title = _("Nothing found")
    empty_hint = _("The checks of the current revision found nothing to correct.")

    @display(description=_("what was found"))
    def words(self, finding: FindingRecord) -> str:
        """Say the finding in the reader's language."""
        return filled(finding.template, finding.values)

    @display(description=_("weight"), ordering="severity")
    def severity_words(self, finding: FindingRecord) -> SafeString:
        """Say whether it blocks publication."""
        if finding.severity == "error":
            return badge(_("blocks publication"), "bad")
        return badge(_("worth a look"), "warn")

    def has_curate_permission(self, request: HttpRequest) -> bool:
        """Let curators dismiss the rows they ticked."""
        return may(request, CURATE)

    @admin.action(description=_("Dismiss the selected warnings"), permissions=["curate"])
    def dismiss_selected(
        self, request: HttpRequest, queryset: QuerySet[FindingRecord]
    ) -> HttpResponse | None:
        """Show both units of each ticked warning, which must all be about two units."""
        rows = list(queryset.select_related("workspace")[: 2 * AT_ONCE + 1])
        refusal = _not_dismissible(rows)
        if refusal:
            messages.error(request, refusal)
            return None
        return dismissals.ask(self, request, rows[0].workspace, warned_by(rows))

    def get_urls(self) -> list[URLPattern]:
        """Add the page of two units, and the list of what was dismissed."""
        wrap = self.admin_site.admin_view
        mine = [
            path("dismiss/", wrap(self.dismiss), name=self.route("dismiss")),
            path("dismissed/", wrap(self.dismissed), name=self.route("dismissed")),
            path("restore/", wrap(self.restore), name=self.route("restore")),
        ]
        return [*mine, *super().get_urls()]

    def dismiss(self, request: HttpRequest) -> HttpResponse:
        """Compare the two units of a warning; a post dismisses it."""
        self.require_view(request)
        return dismissals.respond(self, request)

    def dismissed(self, request: HttpRequest) -> HttpResponse:
        """List what was dismissed."""
        self.require_view(request)
        return dismissals.dismissed(self, request)

    @posts_only
    def restore(self, request: HttpRequest) -> HttpResponse:
        """Bring a dismissed warning back."""
        return dismissals.restore(request)

    def changelist_view(
        self, request: HttpRequest, extra_context: dict[str, Any] | None = None
    ) -> HttpResponse:
        """Lead to what was dismissed, above the list."""
        refuse_nul(request)
        asked = request.GET.get("workspace")
        extra = {"dismissed": dismissals.counted(asked), "stale": _stale(asked)}
        return super().changelist_view(request, extra | (extra_context or {}))

    def changeform_view(
        self, request: HttpRequest, object_id: str | None = None, *args: object, **kwargs: object
    ) -> HttpResponse:
        """Go to what the finding is about: two units, a unit or a note; else back to the list."""
        finding = self.row(request, object_id or "")
        return HttpResponseRedirect(compare_address(finding.workspace, finding) or _place(finding))


def _stale(slug: str | None) -> list[dict[str, Any]]:
    """Give how many stale units each workspace has, or this one; no row tells of them."""
    rows = [row for row in Workspace.objects.all() if slug in {None, row.slug}]
    counts = stale_counts(rows, timezone.now())
    return [
        {
            "count": counts[row.pk],
            "months": row.review_after_months,
            "title": row.title,
            "link": listed("evidence_unitrecord", workspace=row.slug, attention="stale"),
        }
        for row in rows
        if counts[row.pk]
    ]


def _not_dismissible(rows: list[FindingRecord]) -> str:
    """Give why these rows cannot be dismissed together; "" when they can."""
    if any(not warned_by([row]) for row in rows):
        return gettext("Only duplicates and contradictions can be dismissed: choose these alone.")
    if len({row.workspace_id for row in rows}) > 1:
        return gettext("Choose warnings of one workspace at a time.")
    if len(warned_by(rows)) > AT_ONCE:
        return gettext("Choose at most %(count)s warnings at a time.") % {"count": AT_ONCE}
    return ""


def _place(finding: FindingRecord) -> str:
    about = {"workspace": finding.workspace_id, "path": finding.path}
    unit = UnitRecord.objects.filter(**about).first()
    if unit is not None:
        return address("evidence_unitrecord_change", unit.pk)
    source = SourceRecord.objects.filter(**about).first()
    if source is not None:
        return address("evidence_sourcerecord_change", source.pk)
    return address("evidence_findingrecord_changelist")
