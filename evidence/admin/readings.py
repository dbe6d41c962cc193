"""What preparations leave behind: notes read, units proposed, and the rates of each reader."""

from __future__ import annotations

from typing import Any

from django.contrib import admin
from django.contrib.admin import display
from django.db.models import Model
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.urls import URLPattern, path
from django.utils.html import format_html
from django.utils.safestring import SafeString
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from evidence import rates
from evidence.admin.filters import ReadingReaderFilter, RunsWorkspaceFilter, UnitReaderFilter
from evidence.admin.pages import ReadablePage, address, listed
from evidence.admin.run_progress import (
    duration_words,
    outcome_badge,
    run_badge,
    when,
)
from evidence.admin.wording import badge, reader_words
from evidence.domain.proposed import UnitOutcome
from evidence.models import ProposedUnit, SourceReading
from evidence.rates import Rate, Reader

OUTCOME_TONES = {
    UnitOutcome.ACCEPTED: "ok",
    UnitOutcome.EDITED: "warn",
    UnitOutcome.DROPPED: "bad",
}


class RowsOfRuns(ReadablePage):
    """Rows that belong to a run: who may see runs sees them, and each leads to its run."""

    list_select_related = ("run", "run__workspace")

    def has_view_permission(self, request: HttpRequest, obj: Model | None = None) -> bool:
        """Let in whoever may see proposals."""
        return bool(request.user.has_perm("evidence.view_preparationrun"))

    def changeform_view(
        self, request: HttpRequest, object_id: str | None = None, *args: object, **kwargs: object
    ) -> HttpResponse:
        """Go to the run."""
        row = self.row(request, object_id or "")
        return HttpResponseRedirect(address("evidence_preparationrun_change", row.run_id))

    @display(description=_("preparation"), ordering="run__requested_at")
    def run_words(self, row: SourceReading | ProposedUnit) -> SafeString:
        """Say when it was prepared, and where that stands."""
        return format_html("{} {}", when(row.run), run_badge(row.run))


@admin.register(SourceReading)
class ReadingPage(RowsOfRuns):
    """How each note was read: by whom, how long, with what outcome."""

    list_display = ("source_file", "outcome_words", "reader", "duration", "units", "run_words")
    list_filter = (RunsWorkspaceFilter, "outcome", ReadingReaderFilter)
    search_fields = ("source_file", "code")
    empty_title = _("No note was read yet")
    empty_hint = _("Prepare a source note: each note that is read leaves a row here.")

    @display(description=_("outcome"), ordering="outcome")
    def outcome_words(self, row: SourceReading) -> SafeString:
        """Say how it went, with the code of what went wrong."""
        return format_html('{} <small class="ep-code">{}</small>', outcome_badge(row), row.code)

    @display(description=_("read by"), ordering="model")
    def reader(self, row: SourceReading) -> str:
        """Name the restructurer, its model and the version of its skill."""
        return reader_words(Reader(row.restructurer, row.model, row.skill_digest))

    @display(description=_("duration"), ordering="duration_ms")
    def duration(self, row: SourceReading) -> str:
        """Give the duration of the call."""
        return duration_words(row.duration_ms)

    def get_urls(self) -> list[URLPattern]:
        """Add the page of rates."""
        page = path("rates/", self.admin_site.admin_view(self.rates), name=self.route("rates"))
        return [page, *super().get_urls()]

    def rates(self, request: HttpRequest) -> HttpResponse:
        """Show the rates of each reader."""
        self.require_view(request)
        return self.page(
            request,
            None,
            "evidence/rates.html",
            title=gettext("Rates"),
            rows=[_rate(each) for each in rates.rates()],
        )


@admin.register(ProposedUnit)
class ProposedUnitPage(RowsOfRuns):
    """Each unit a preparation proposed, and what a curator made of it."""

    list_display = ("evidence_id", "change_words", "outcome_words", "source_file", "run_words")
    list_filter = (RunsWorkspaceFilter, "change", "outcome", UnitReaderFilter)
    search_fields = ("evidence_id", "source_file")
    empty_title = _("No unit was proposed yet")
    empty_hint = _("Prepare a source note: each unit it would change leaves a row here.")

    @display(description=_("change"), ordering="change")
    def change_words(self, row: ProposedUnit) -> str:
        """Say what would become of it."""
        return row.get_change_display()

    @display(description=_("decision"), ordering="outcome")
    def outcome_words(self, row: ProposedUnit) -> SafeString:
        """Say what a curator made of it."""
        outcome = UnitOutcome(row.outcome)
        return badge(gettext(outcome.label), OUTCOME_TONES.get(outcome, ""))


def _rate(rate: Rate) -> dict[str, Any]:
    reader, key = rate.reader, rate.reader.key
    read = listed("evidence_sourcereading", reader=key)
    return {
        "restructurer": reader.restructurer,
        "model": reader.model,
        "version": reader.skill_digest.removeprefix("sha256:")[:8],
        "runs": (rate.runs, listed("evidence_preparationrun", reader=key)),
        "sources": (rate.sources, read),
        "failed": (rate.failed, f"{read}&outcome__exact=failed"),
        "failed_share": None if rate.failed_share is None else round(rate.failed_share * 100, 1),
        "duration": duration_words(rate.median_ms),
        "units": [_units(rate, outcome) for outcome in OUTCOME_TONES],
        "decided": rate.decided,
    }


def _units(rate: Rate, outcome: UnitOutcome) -> dict[str, Any]:
    count = rate.units.get(outcome, 0)
    filters = {"reader": rate.reader.key, "outcome__exact": outcome.value}
    return {
        "label": gettext(outcome.label),
        "count": count,
        "share": round(count / rate.decided * 100) if rate.decided else None,
        "link": f"{listed('evidence_proposedunit', **filters)}&change__in=new,changed",
    }
