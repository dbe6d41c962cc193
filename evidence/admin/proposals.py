"""Proposals: a preparation's progress, its change unit by unit, accepting and discarding it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from django.contrib import admin, messages
from django.contrib.admin import display
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.utils.formats import date_format
from django.utils.safestring import SafeString
from django.utils.timezone import localtime
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from evidence import amending, proposals, proposed, wiring
from evidence.admin import preparing
from evidence.admin.changed_units import by_note, proposed_units
from evidence.admin.filters import WorkspaceFilter
from evidence.admin.pages import (
    CURATE,
    ReadablePage,
    actor_of,
    address,
    go,
    may,
    posts_only,
    require,
    say_fault,
)
from evidence.admin.wording import badge
from evidence.answering import PersonalDataUnconfirmed
from evidence.domain.runs import OPEN, UNFINISHED, RunState
from evidence.faults import Fault
from evidence.forms import ReasonForm, UnitReasonForm
from evidence.models import PreparationRun

TONES = {
    RunState.WAITING: "info",
    RunState.RUNNING: "info",
    RunState.PROPOSED: "warn",
    RunState.ACCEPTED: "ok",
    RunState.FAILED: "bad",
}


@admin.register(PreparationRun)
class ProposalPage(ReadablePage):
    """What a preparation would change; nothing is changed before somebody accepts it."""

    page_template = "evidence/proposal.html"
    steps = ("progress", "accept", "discard", "drop", "confirm")
    list_display = ("requested_at", "state_words", "workspace", "requested_by", "restructurer")
    list_filter = (WorkspaceFilter, "state")
    list_select_related = ("workspace",)
    empty_title = _("No proposals yet")
    empty_hint = _("Prepare a source note: what would change is shown here for you to decide.")

    @display(description=_("state"), ordering="state")
    def state_words(self, run: PreparationRun) -> SafeString:
        """Say where the run stands."""
        return run_badge(run)

    def page_context(self, request: HttpRequest, row: PreparationRun) -> dict[str, Any]:
        """Show the progress of a running one, the change of a proposed one, the end of the rest."""
        return {
            "title": gettext("Proposal of %(when)s") % {"when": when(row)},
            "badge": run_badge(row),
            "running": row.state in UNFINISHED,
            "words": progress_words(row),
            "may_decide": row.state == RunState.PROPOSED and may(request, CURATE),
            "reason_form": ReasonForm(),
            "may_confirm": _waits_for_confirmation(row) and may(request, CURATE),
            **(_decision(row) if row.state == RunState.PROPOSED else {}),
        }

    def progress(self, request: HttpRequest, object_id: str) -> JsonResponse:
        """Answer how far the run is; the page asks every two seconds."""
        run = self.row(request, object_id)
        return JsonResponse(
            {
                "ended": run.state not in UNFINISHED,
                "done": run.sources_done,
                "total": run.sources_total,
                "words": progress_words(run),
            }
        )

    @posts_only
    def accept(self, request: HttpRequest, object_id: str) -> HttpResponse:
        """Make the proposal, or what it holds for the ticked notes, one commit of the person."""
        require(request, CURATE)
        run = self.row(request, object_id)
        sources = request.POST.getlist("source") if "ticked" in request.POST else None
        try:
            proposals.accept(run=run, author=actor_of(request), sources=sources)
        except Fault as fault:
            say_fault(request, fault)
        else:
            messages.success(request, gettext("Accepted, in your name."))
        return go("evidence_preparationrun_change", run.pk)

    @posts_only
    def discard(self, request: HttpRequest, object_id: str) -> HttpResponse:
        """Set the proposal aside, with the reason that the next preparation is told."""
        require(request, CURATE)
        run = self.row(request, object_id)
        form = ReasonForm(request.POST)
        if not form.is_valid():
            messages.error(request, gettext("Say why: the next preparation is told."))
            return go("evidence_preparationrun_change", run.pk)
        try:
            proposals.discard(run=run, author=actor_of(request), reason=form.cleaned_data["reason"])
        except Fault as fault:
            say_fault(request, fault)
        else:
            messages.success(request, gettext("Discarded. Nothing was changed."))
        return go("evidence_preparationrun_change", run.pk)

    @posts_only
    def drop(self, request: HttpRequest, object_id: str) -> HttpResponse:
        """Take one new unit out of the proposal, with the reason the next preparation is told."""
        require(request, CURATE)
        run = self.row(request, object_id)
        form = UnitReasonForm(request.POST)
        if not form.is_valid():
            messages.error(request, gettext("Say why: the next preparation is told."))
            return go("evidence_preparationrun_change", run.pk)
        said = form.cleaned_data
        try:
            amending.drop_unit(run=run, evidence_id=said["unit"], reason=said["reason"])
        except Fault as fault:
            say_fault(request, fault)
        else:
            messages.success(request, gettext("Taken out of the proposal."))
        return go("evidence_preparationrun_change", run.pk)

    @posts_only
    def confirm(self, request: HttpRequest, object_id: str) -> HttpResponse:
        """Start over, with a person's word that notes with personal data may be sent."""
        require(request, CURATE)
        run = self.row(request, object_id)
        return preparing.start(
            request,
            run.workspace.slug,
            only=tuple(run.only),
            personal_data_confirmed=_waits_for_confirmation(run),
        )


def _decision(run: PreparationRun) -> dict[str, Any]:
    """Give what a person needs to decide: the units by note, and what others did meanwhile."""
    repository = wiring.repository(run.workspace.slug)
    sources = proposed.proposed_sources(repository, run)
    units = proposed_units(run)
    return {
        "units": units,
        "sources": sources,
        "notes": by_note(units, sources),
        "moved": proposed.moved_since(repository, run),
    }


def _waits_for_confirmation(run: PreparationRun) -> bool:
    return run.state == RunState.FAILED and run.error.get("code") == PersonalDataUnconfirmed.code


@dataclass(frozen=True, slots=True)
class OpenRun:
    """A preparation that runs, or whose proposal waits for a decision."""

    workspace: str
    is_running: bool
    link: str
    progress: str
    words: str
    done: int
    total: int


def open_runs() -> tuple[OpenRun, ...]:
    """Give the preparations of all workspaces that are not over, the oldest first: one query."""
    rows = PreparationRun.objects.select_related("workspace").filter(state__in=OPEN)
    return tuple(
        OpenRun(
            workspace=run.workspace.slug,
            is_running=run.state in UNFINISHED,
            link=address("evidence_preparationrun_change", run.pk),
            progress=address("evidence_preparationrun_progress", run.pk),
            words=progress_words(run),
            done=run.sources_done,
            total=run.sources_total,
        )
        for run in rows.order_by("requested_at")
    )


def when(run: PreparationRun) -> str:
    """Give the moment a run was asked for, as people of the reader's language write it."""
    return date_format(localtime(run.requested_at), "SHORT_DATETIME_FORMAT")


def run_badge(run: PreparationRun) -> SafeString:
    """Give the state of a run as a badge."""
    state = RunState(run.state)
    return badge(gettext(state.label), TONES.get(state, ""))


def progress_words(run: PreparationRun) -> str:
    """Say how far a run is, for people and screen readers."""
    if run.state == RunState.WAITING:
        return gettext("Waiting for a worker…")
    if run.state == RunState.RUNNING and run.sources_total:
        counts = {"done": run.sources_done, "total": run.sources_total}
        return gettext("%(done)s of %(total)s notes read") % counts
    return gettext(RunState(run.state).label)
