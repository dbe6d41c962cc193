"""The text editor of a unit: nothing typed is lost, whatever goes wrong."""

from __future__ import annotations

from typing import Any

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.utils.translation import gettext as _

from evidence import curation
from evidence.admin.differences import words_changed
from evidence.admin.files import UnitFile, unit_file
from evidence.admin.pages import ReadablePage, actor_of, address, go, say_fault
from evidence.admin.wording import doubts
from evidence.domain.codec import dump_curated_markdown
from evidence.domain.units import CuratedEvidence
from evidence.faults import CuratorFault, Fault
from evidence.forms import SettleForm, UnitTextForm
from evidence.models import UnitRecord
from evidence.ports import EditConflict

TEMPLATE = "evidence/unit_edit.html"


def respond(page: ReadablePage, request: HttpRequest, record: UnitRecord) -> HttpResponse:
    """Show the form; on a post save one commit, or show the form again with every word kept."""
    file = unit_file(record)
    if request.method != "POST":
        form = UnitTextForm(initial={"text": file.text, "blob": record.blob}, path=record.path)
        return _shown(page, request, file, form)
    form = UnitTextForm(request.POST.copy(), path=record.path)
    refusal = _save(request, record, form) if form.is_valid() else {}
    if refusal is not None:
        return _shown(page, request, file, form, **refusal)
    messages.success(request, _("Saved, in your name."))
    return go("evidence_unitrecord_change", record.pk)


def settle(request: HttpRequest, record: UnitRecord) -> HttpResponse:
    """Save the unit without the review item that the page named, and go back to its page."""
    form = SettleForm(request.POST)
    unit = unit_file(record).unit
    if form.is_valid() and unit is not None:
        try:
            curation.save_file(
                workspace=record.workspace.slug,
                path=record.path,
                text=dump_curated_markdown(without_item(unit, form.cleaned_data["ordinal"])),
                blob=form.cleaned_data["blob"],
                author=actor_of(request),
            )
        except Fault as fault:
            say_fault(request, fault)
        else:
            messages.success(request, _("Settled, in your name."))
    return go("evidence_unitrecord_change", record.pk)


def without_item(unit: CuratedEvidence, ordinal: int) -> CuratedEvidence:
    """Give the unit without the review item at this place; a place that is none changes nothing."""
    items = tuple(item for place, item in enumerate(unit.review_items) if place != ordinal)
    return unit.model_copy(update={"review_items": items})


def _save(request: HttpRequest, record: UnitRecord, form: UnitTextForm) -> dict[str, Any] | None:
    """Make the commit and give None; refused, give what the page must show beside the form."""
    try:
        curation.save_file(
            workspace=record.workspace.slug,
            path=record.path,
            text=form.cleaned_data["text"],
            blob=form.cleaned_data["blob"],
            author=actor_of(request),
        )
    except Fault as fault:
        record.refresh_from_db(fields=["blob"])
        return refused_save(request, form, fault, blob=record.blob)
    return None


def refused_save(
    request: HttpRequest, form: UnitTextForm, fault: Fault, *, blob: str
) -> dict[str, Any]:
    """Give what the page must show beside the form; `blob` is the file as it stands now."""
    if isinstance(fault, EditConflict):
        return _conflict(form, fault, blob)
    if isinstance(fault, CuratorFault):
        form.mark(fault, fault.message)
    else:
        say_fault(request, fault)
    return {}


def _shown(
    page: ReadablePage, request: HttpRequest, file: UnitFile, form: UnitTextForm, **extra: Any
) -> HttpResponse:
    context = {
        "form": form,
        "edited": file.record.title,
        "path": file.record.path,
        "back": address("evidence_unitrecord_change", file.record.pk),
        "review_items": doubts(file.record.review_items.all()),
        **extra,
    }
    response = page.page(request, file.record, TEMPLATE, **context)
    response.status_code = 422 if form.is_bound else 200
    return response


def _conflict(form: UnitTextForm, conflict: EditConflict, blob: str) -> dict[str, Any]:
    # Whoever saves again has seen the other version, so the guard moves on to it.
    form.data = {**form.data, "blob": blob}
    base, theirs = _text(conflict.base), _text(conflict.theirs)
    return {
        "conflict": conflict,
        "theirs": theirs,
        "base": base,
        "their_changes": words_changed(base, theirs),
    }


def _text(data: bytes | None) -> str:
    return "" if data is None else data.decode("utf-8", "replace")
