"""Retire or relink a unit from its page (spec 20, Resolution)."""

from __future__ import annotations

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.utils.translation import gettext as _

from evidence import curation
from evidence.admin.pages import actor_of, go, say_fault
from evidence.faults import Fault
from evidence.forms import RelinkForm
from evidence.models import UnitRecord


def retire(request: HttpRequest, record: UnitRecord) -> HttpResponse:
    """Take the unit out and go back to the list; refused, back to the unit."""
    try:
        curation.retire(
            workspace=record.workspace.slug,
            evidence_id=record.evidence_id,
            author=actor_of(request),
        )
    except Fault as fault:
        say_fault(request, fault)
        return go("evidence_unitrecord_change", record.pk)
    messages.success(request, _("Taken out, in your name. Its history is kept."))
    return go("evidence_unitrecord_changelist")


def relink(request: HttpRequest, record: UnitRecord) -> HttpResponse:
    """Let the unit rest on the chosen note and go back to its page."""
    form = RelinkForm(request.POST)
    if form.is_valid():
        try:
            curation.relink(
                workspace=record.workspace.slug,
                evidence_id=record.evidence_id,
                source=form.cleaned_data["source"],
                author=actor_of(request),
            )
        except Fault as fault:
            say_fault(request, fault)
        else:
            messages.success(request, _("Relinked, in your name."))
    return go("evidence_unitrecord_change", record.pk)
