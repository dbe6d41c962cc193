"""Receipts in the admin: which stage of a session was told which units, and by which generation."""

from __future__ import annotations

from typing import Any

from django.contrib import admin
from django.contrib.admin import display
from django.db.models import QuerySet
from django.http import HttpRequest
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from evidence.admin.filters import WorkspaceFilter
from evidence.admin.pages import ReadablePage, listed
from evidence.admin.unit_links import unit_links
from evidence.admin.wording import purpose_label
from search_api.models import ReceiptRecord


class SessionWorkspaceFilter(WorkspaceFilter):
    """Narrow receipts to one workspace, named by its slug."""

    lookup = "session__workspace"


class UnitFilter(admin.SimpleListFilter):
    """Narrow receipts to those of one unit; the unit's page leads here."""

    title = _("unit")
    parameter_name = "unit"

    def lookups(self, request: HttpRequest, model_admin: Any) -> list[tuple[str, Any]]:
        """Offer the unit that the address names; a list of all would be endless."""
        asked = request.GET.get(self.parameter_name)
        return [(asked, asked)] if asked else []

    def queryset(
        self, request: HttpRequest, queryset: QuerySet[ReceiptRecord]
    ) -> QuerySet[ReceiptRecord]:
        """Keep the receipts that hold it."""
        asked = self.value()
        return queryset.filter(units__evidence_id=asked) if asked else queryset


@admin.register(ReceiptRecord)
class ReceiptPage(ReadablePage):
    """What the stages of sessions were told: ids alone, no text is kept."""

    page_template = "search_api/receipt.html"
    list_display = ("session", "stage", "unit_count", "stored_at")
    list_filter = (SessionWorkspaceFilter, UnitFilter, "stage")
    list_select_related = ("session",)
    search_fields = ("session__name",)
    ordering = ("-stored_at", "-pk")
    empty_title = _("No receipts here")
    empty_hint = _("When a program searches within a session, what it was told is listed here.")

    @display(description=_("units"))
    def unit_count(self, row: ReceiptRecord) -> int:
        """Say how many units the stage was told."""
        return len(row.evidence_ids)

    def page_context(self, request: HttpRequest, row: ReceiptRecord) -> dict[str, Any]:
        """Name the units, each with its page where the head still has it."""
        slug, name = row.session.workspace, row.session.name
        links = unit_links(slug, row.evidence_ids)
        return {
            "title": gettext("Session %(name)s") % {"name": name},
            "slug": slug,
            "purpose": purpose_label(row.purpose),
            "units": [links[each] for each in row.evidence_ids],
            "whole_session": listed("search_api_receiptrecord", workspace=slug, q=name),
        }
