"""Formulas that sessions proposed, in the admin: made a draft unit, or dismissed with a reason."""

from __future__ import annotations

from typing import Any

from django.contrib import admin, messages
from django.contrib.admin import display
from django.http import HttpRequest, HttpResponse
from django.utils import timezone
from django.utils.safestring import SafeString
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from evidence.admin.pages import (
    CURATE,
    ReadablePage,
    actor_of,
    go,
    listed,
    may,
    posts_only,
    require,
    say_fault,
)
from evidence.admin.wording import badge
from evidence.faults import Fault
from search_api import taking_over
from search_api.gap_forms import DismissalForm
from search_api.gap_pages import GapWorkspaceFilter
from search_api.models import FormulaProposal, ProposalState

TONES = {ProposalState.OPEN: "warn", ProposalState.DRAFTED: "ok", ProposalState.DRAFTING: "info"}
ORIGINS = {"retrieved": _("found and changed"), "synthesized": _("newly made")}
DECISIONS = {"approved": _("approved in the session"), "rejected": _("rejected in the session")}


@admin.register(FormulaProposal)
class FormulaProposalPage(ReadablePage):
    """A formula that a session made; no search finds it before it is a published unit."""

    page_template = "search_api/formula_proposal.html"
    steps = ("draft", "dismiss")
    list_display = ("concept", "state_words", "decision_words", "proposed_at")
    list_filter = (GapWorkspaceFilter, "state", "decision")
    search_fields = ("concept", "sql")
    empty_title = _("No proposed formulas here")
    empty_hint = _("When a session makes a formula that is not published, it waits here for you.")

    @display(description=_("state"), ordering="state")
    def state_words(self, row: FormulaProposal) -> SafeString:
        """Say what became of it."""
        return proposal_badge(row)

    @display(description=_("in the session"), ordering="decision")
    def decision_words(self, row: FormulaProposal) -> str:
        """Say what the session decided."""
        return str(DECISIONS.get(row.decision, row.decision))

    def page_context(self, request: HttpRequest, row: FormulaProposal) -> dict[str, Any]:
        """Show the formula, and what can be made of it."""
        return {
            "badge": proposal_badge(row),
            "origin": ORIGINS.get(row.origin, row.origin),
            "decision": DECISIONS.get(row.decision, row.decision),
            "form": DismissalForm(),
            "may_decide": may(request, CURATE) and row.state == ProposalState.OPEN,
            "may_retry": may(request, CURATE) and row.state == ProposalState.DRAFTING,
            "unit_link": listed("evidence_unitrecord", workspace=row.workspace, q=row.evidence_id),
        }

    @posts_only
    def draft(self, request: HttpRequest, object_id: str) -> HttpResponse:
        """Make it a draft unit with an open review item, in the person's name."""
        require(request, CURATE)
        row = self.row(request, object_id)
        try:
            taking_over.draft(proposal=row, author=actor_of(request), now=timezone.now())
        except Fault as fault:
            say_fault(request, fault)
        else:
            messages.success(request, gettext("A draft unit is made. Settle its review item next."))
        return go("search_api_formulaproposal_change", row.pk)

    @posts_only
    def dismiss(self, request: HttpRequest, object_id: str) -> HttpResponse:
        """Set it aside, with the reason."""
        require(request, CURATE)
        row, form = self.row(request, object_id), DismissalForm(request.POST)
        if not form.is_valid():
            messages.error(request, gettext("Say why it is dismissed."))
            return go("search_api_formulaproposal_change", row.pk)
        reason, actor = form.cleaned_data["reason"], actor_of(request)
        try:
            taking_over.dismiss(proposal=row, reason=reason, author=actor, now=timezone.now())
        except Fault as fault:
            say_fault(request, fault)
        else:
            messages.success(request, gettext("Dismissed. Nothing was changed."))
        return go("search_api_formulaproposal_change", row.pk)


def proposal_badge(row: FormulaProposal) -> SafeString:
    """Give the state of a proposal as a badge; a withdrawn one says so."""
    if row.withdrawn_at is not None:
        return badge(_("withdrawn by its session"), "warn")
    state = ProposalState(row.state)
    return badge(state.label, TONES.get(state, ""))
