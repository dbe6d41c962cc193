"""Edit a unit of a proposal before it is accepted: nothing typed is lost, whatever goes wrong."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any
from urllib.parse import quote

from django.contrib import messages
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.utils.translation import gettext as _

from evidence import amending, proposed, wiring
from evidence.admin.editor import refused_save, without_item
from evidence.admin.pages import ReadablePage, actor_of, address, say_fault
from evidence.admin.wording import doubts
from evidence.domain.codec import dump_curated_markdown, parse_curated_markdown
from evidence.domain.identifiers import ID_PREFIX
from evidence.domain.normalization import decode_utf8
from evidence.domain.paths import EVIDENCE_FOLDER
from evidence.domain.units import CuratedEvidence
from evidence.faults import Fault
from evidence.forms import ProposedItemForm, UnitTextForm
from evidence.models import PreparationRun

TEMPLATE = "evidence/unit_edit.html"


@dataclass(frozen=True, slots=True)
class ProposedFile:
    """A unit of a proposal as its branch has it now."""

    path: str
    blob: str
    text: str
    unit: CuratedEvidence


def respond(page: ReadablePage, request: HttpRequest, run: PreparationRun) -> HttpResponse:
    """Show the editor of the unit the address names; on a post save it, or keep every word."""
    evidence_id = request.GET.get("unit", "")
    try:
        file = _file(run, evidence_id)
    except Fault as fault:
        say_fault(request, fault)
        return back(request, run)
    if request.method != "POST":
        form = UnitTextForm(initial={"text": file.text, "blob": file.blob}, path=file.path)
        return _shown(page, request, run, file, form)
    form = UnitTextForm(request.POST.copy(), path=file.path)
    refusal = _save(request, run, file, form) if form.is_valid() else {}
    if refusal is not None:
        return _shown(page, request, run, file, form, **refusal)
    messages.success(request, _("Saved in the proposal. Nothing is accepted yet."))
    return back(request, run, file.unit.id)


def settle(request: HttpRequest, run: PreparationRun) -> HttpResponse:
    """Save a proposed unit without the review item that the page named."""
    form = ProposedItemForm(request.POST)
    if form.is_valid():
        said = form.cleaned_data
        try:
            file = _file(run, said["unit"])
            amending.edit_unit(
                run=run,
                evidence_id=said["unit"],
                text=dump_curated_markdown(without_item(file.unit, said["ordinal"])),
                blob=said["blob"],
                author=actor_of(request),
            )
        except Fault as fault:
            say_fault(request, fault)
        else:
            messages.success(request, _("Settled in the proposal. Nothing is accepted yet."))
    return back(request, run, form.cleaned_data.get("unit", ""))


def _file(run: PreparationRun, evidence_id: str) -> ProposedFile:
    repository = wiring.repository(run.workspace.slug)
    entry = proposed.proposed_file(repository, run, evidence_id)
    text = decode_utf8(repository.blobs([entry.blob])[entry.blob])
    path = entry.path.removeprefix(EVIDENCE_FOLDER)
    return ProposedFile(path, entry.blob, text, parse_curated_markdown(text, path=path))


def _save(
    request: HttpRequest, run: PreparationRun, file: ProposedFile, form: UnitTextForm
) -> dict[str, Any] | None:
    """Make the commit and give None; refused, give what the page must show beside the form."""
    try:
        amending.edit_unit(
            run=run,
            evidence_id=file.unit.id,
            text=form.cleaned_data["text"],
            blob=form.cleaned_data["blob"],
            author=actor_of(request),
        )
    except Fault as fault:
        return refused_save(request, form, fault, blob=_blob_now(run, file))
    return None


def _blob_now(run: PreparationRun, file: ProposedFile) -> str:
    try:
        run.refresh_from_db()
        return _file(run, file.unit.id).blob
    except Fault:
        return file.blob


def _shown(
    page: ReadablePage,
    request: HttpRequest,
    run: PreparationRun,
    file: ProposedFile,
    form: UnitTextForm,
    **extra: Any,
) -> HttpResponse:
    context = {
        "form": form,
        "edited": file.unit.title,
        "path": file.path,
        "back": _page(run),
        "is_proposed": True,
        "excerpts": file.unit.provenance.supporting_excerpts,
        "review_items": doubts(file.unit.review_items),
        **extra,
    }
    response = page.page(request, run, TEMPLATE, **context)
    response.status_code = 422 if form.is_bound else 200
    return response


def back(request: HttpRequest, run: PreparationRun, unit: str = "") -> HttpResponse:
    """Go back to the page of the proposal from which the step was taken, and to the unit there."""
    page = request.GET.get("p", "")
    query = f"?p={page}" if page.isdecimal() else ""
    place = f"#unit-{unit.removeprefix(ID_PREFIX)}" if unit else ""
    return HttpResponseRedirect(_page(run) + query + quote(place, safe="#"))


def _page(run: PreparationRun) -> str:
    return address("evidence_preparationrun_change", run.pk)
