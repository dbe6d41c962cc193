"""Proposals: a preparation's progress, its change unit by unit, and every decision about it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from django.contrib import admin, messages
from django.contrib.admin import display
from django.core.paginator import Paginator
from django.forms import Form
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.utils.safestring import SafeString
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from evidence import amending, proposals, proposed, wiring
from evidence.admin import amending as editing
from evidence.admin import preparing
from evidence.admin.changed_units import proposed_units
from evidence.admin.filters import ReaderFilter, WorkspaceFilter
from evidence.admin.pages import (
    CURATE,
    ReadablePage,
    actor_of,
    go,
    may,
    posts_only,
    require,
    say_fault,
)
from evidence.admin.proposal_notes import NOTES_A_PAGE, beside, by_note, moved_on
from evidence.admin.run_progress import (
    progress_json,
    progress_words,
    readings_context,
    run_badge,
    when,
)
from evidence.answering import PersonalDataUnconfirmed
from evidence.domain.runs import UNFINISHED, RunState
from evidence.faults import Fault
from evidence.forms import ReasonForm, UnitForm, UnitReasonForm
from evidence.models import PreparationRun


@admin.register(PreparationRun)
class ProposalPage(ReadablePage):
    """What a preparation would change; nothing is changed before somebody accepts it."""

    page_template = "evidence/proposal.html"
    steps = (
        *("progress", "again", "confirm"),
        *("edit", "settle", "drop", "put_back"),
        *("accept", "discard"),
    )
    list_display = ("requested_at", "state_words", "workspace", "requested_by", "restructurer")
    list_filter = (WorkspaceFilter, "state", ReaderFilter)
    list_select_related = ("workspace",)
    empty_title = _("No proposals yet")
    empty_hint = _("Prepare a source note: what would change is shown here for you to decide.")

    @display(description=_("state"), ordering="state")
    def state_words(self, run: PreparationRun) -> SafeString:
        """Say where the run stands."""
        return run_badge(run)

    def page_context(self, request: HttpRequest, row: PreparationRun) -> dict[str, Any]:
        """Show the progress of a running one, the change of a proposed one, the end of the rest."""
        may_curate = may(request, CURATE)
        is_open = row.state == RunState.PROPOSED
        return {
            "title": gettext("Proposal of %(when)s") % {"when": when(row)},
            "badge": run_badge(row),
            "running": row.state in UNFINISHED,
            "words": progress_words(row),
            "may_decide": is_open and may_curate,
            "reason_form": ReasonForm(),
            "may_confirm": _waits_for_confirmation(row) and may_curate,
            "may_repeat": row.state == RunState.FAILED and may_curate,
            **readings_context(row),
            **(_decision(request, row) if is_open else {}),
        }

    def progress(self, request: HttpRequest, object_id: str) -> JsonResponse:
        """Answer how far the run is; the page asks every two seconds."""
        return JsonResponse(progress_json(self.row(request, object_id)))

    @posts_only
    def accept(self, request: HttpRequest, object_id: str) -> HttpResponse:
        """Make the proposal, or what it holds for the ticked notes, one commit of the person."""
        sources = request.POST.getlist("source") if "ticked" in request.POST else None
        seen = request.POST.get("seen", "")

        def step(run: PreparationRun) -> None:
            proposals.accept(run=run, author=actor_of(request), sources=sources, seen=seen)

        return self._step(request, object_id, step, gettext("Accepted, in your name."))

    @posts_only
    def discard(self, request: HttpRequest, object_id: str) -> HttpResponse:
        """Set the proposal aside, with the reason that the next preparation is told."""
        form = ReasonForm(request.POST)

        def step(run: PreparationRun) -> None:
            reason = form.cleaned_data["reason"]
            proposals.discard(run=run, author=actor_of(request), reason=reason)

        done = gettext("Discarded. Nothing was changed.")
        return self._step(request, object_id, step, done, form=form)

    @posts_only
    def drop(self, request: HttpRequest, object_id: str) -> HttpResponse:
        """Take one new unit out of the proposal, with the reason the next preparation is told."""
        form = UnitReasonForm(request.POST)

        def step(run: PreparationRun) -> None:
            said = form.cleaned_data
            amending.drop_unit(run=run, evidence_id=said["unit"], reason=said["reason"])

        return self._step(
            request, object_id, step, gettext("Taken out of the proposal."), form=form
        )

    @posts_only
    def put_back(self, request: HttpRequest, object_id: str) -> HttpResponse:
        """Put a unit that was taken out back into the proposal."""
        form = UnitForm(request.POST)

        def step(run: PreparationRun) -> None:
            amending.put_back(run=run, evidence_id=form.cleaned_data["unit"])

        done = gettext("Put back into the proposal.")
        return self._step(request, object_id, step, done, form=form)

    def edit(self, request: HttpRequest, object_id: str) -> HttpResponse:
        """Show the editor of a proposed unit, or save what was typed in the proposal."""
        require(request, CURATE)
        return editing.respond(self, request, self.row(request, object_id))

    @posts_only
    def settle(self, request: HttpRequest, object_id: str) -> HttpResponse:
        """Take one review item out of a proposed unit."""
        require(request, CURATE)
        return editing.settle(request, self.row(request, object_id))

    @posts_only
    def again(self, request: HttpRequest, object_id: str) -> HttpResponse:
        """Prepare the notes of a failed run once more; of any other, show where it stands.

        A word that personal data may be sent was given for the notes as they stood then, so a
        new run asks for it again.
        """
        require(request, CURATE)
        run = self.row(request, object_id)
        if run.state != RunState.FAILED:
            return go("evidence_preparationrun_change", run.pk)
        return preparing.start(request, run.workspace.slug, only=tuple(run.only))

    @posts_only
    def confirm(self, request: HttpRequest, object_id: str) -> HttpResponse:
        """Start over, with a person's word that notes with personal data may be sent."""
        require(request, CURATE)
        run = self.row(request, object_id)
        if not _waits_for_confirmation(run):
            return go("evidence_preparationrun_change", run.pk)
        return preparing.start(
            request,
            run.workspace.slug,
            only=tuple(run.only),
            personal_data_confirmed=True,
        )

    def _step(
        self,
        request: HttpRequest,
        object_id: str,
        step: Callable[[PreparationRun], None],
        done: str,
        *,
        form: Form | None = None,
    ) -> HttpResponse:
        """Take one step with the proposal if the form is whole, and go back to its page."""
        require(request, CURATE)
        run = self.row(request, object_id)
        if form is not None and not form.is_valid():
            messages.error(request, gettext("Say why: the next preparation is told."))
            return editing.back(request, run)
        try:
            step(run)
        except Fault as fault:
            say_fault(request, fault)
        else:
            messages.success(request, done)
        return editing.back(request, run)


def _decision(request: HttpRequest, run: PreparationRun) -> dict[str, Any]:
    """Give what a person needs to decide: the units by note, and what others did meanwhile."""
    repository = wiring.repository(run.workspace.slug)
    sources = proposed.proposed_sources(repository, run)
    units = proposed_units(run)
    pages = Paginator(by_note(units, sources), NOTES_A_PAGE)
    page = pages.get_page(request.GET.get("p"))
    return {
        "units_count": sum(not unit.is_confirmed for unit in units),
        "sources": sources,
        "seen": proposed.standing_of(run),
        "notes": beside(run, list(page.object_list)),
        "notes_page": page,
        "at": f"?p={page.number}" if page.number > 1 else "",
        "at_too": f"&p={page.number}" if page.number > 1 else "",
        "moved": moved_on(run, units),
    }


def _waits_for_confirmation(run: PreparationRun) -> bool:
    return run.state == RunState.FAILED and run.error.get("code") == PersonalDataUnconfirmed.code
