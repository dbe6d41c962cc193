"""Open and save a unit's typed form: one commit, or the form again with every word kept."""

from __future__ import annotations

import re
from typing import Any, Final

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.utils.translation import gettext as _

from evidence import curation, wiring
from evidence.admin.files import unit_file
from evidence.admin.origin import source_context
from evidence.admin.pages import ReadablePage, actor_of, address, go, say_fault
from evidence.admin.unit_forms.conflicts import Conflict, conflict_of
from evidence.admin.unit_forms.form import UnitFieldsForm
from evidence.admin.unit_forms.showing import groups, preview_of
from evidence.admin.wording import kind_label
from evidence.domain.codec import dump_curated_markdown, parse_curated_markdown
from evidence.domain.normalization import decode_utf8
from evidence.domain.typed_units import is_covered, typed
from evidence.domain.units import CuratedEvidence
from evidence.faults import CuratorFault, Fault
from evidence.models import UnitRecord
from evidence.ports import EditConflict, RevisionUnknown

TEMPLATE: Final = "evidence/unit_form.html"
_BLOB: Final = re.compile(r"[0-9a-f]{40}\Z")


def respond(page: ReadablePage, request: HttpRequest, record: UnitRecord) -> HttpResponse:
    """Show the form; on a post save one commit, or show the form again with every word kept."""
    unit = unit_file(record).unit
    if request.method == "POST":
        opened = _opened(record, request.POST.get("blob", "")) or unit
        if opened is not None:
            return _posted(page, request, record, UnitFieldsForm(request.POST, opened=opened))
    if unit is None or not is_covered(unit):
        messages.info(
            request, _("The form cannot hold what is written in this unit: edit its text instead.")
        )
        return go("evidence_unitrecord_edit", record.pk)
    form = UnitFieldsForm(initial={**typed(unit), "blob": record.blob}, opened=unit)
    return _shown(page, request, record, form)


def _opened(record: UnitRecord, blob: str) -> CuratedEvidence | None:
    """Give the unit as it was when the form was opened; a page may post any id."""
    if not _BLOB.match(blob):
        return None
    try:
        data = wiring.repository(record.workspace.slug).blobs([blob])[blob]
        unit = parse_curated_markdown(decode_utf8(data), path=record.path)
    except (RevisionUnknown, CuratorFault):
        return None
    return unit if unit.id == record.evidence_id else None


def _posted(
    page: ReadablePage, request: HttpRequest, record: UnitRecord, form: UnitFieldsForm
) -> HttpResponse:
    if not form.is_valid() or form.unit is None or "preview" in request.POST:
        return _shown(page, request, record, form)
    try:
        curation.save_file(
            workspace=record.workspace.slug,
            path=record.path,
            text=dump_curated_markdown(form.unit),
            blob=form.cleaned_data["blob"],
            author=actor_of(request),
        )
    except EditConflict as fault:
        conflict = conflict_of(record, form, fault)
        return _shown(page, request, record, conflict.form, conflict=conflict)
    except CuratorFault as fault:
        form.mark(fault)
    except Fault as fault:
        say_fault(request, fault)
    else:
        messages.success(request, _("Saved, in your name."))
        return go("evidence_unitrecord_change", record.pk)
    return _shown(page, request, record, form)


def _shown(
    page: ReadablePage,
    request: HttpRequest,
    record: UnitRecord,
    form: UnitFieldsForm,
    *,
    conflict: Conflict | None = None,
) -> HttpResponse:
    context: dict[str, Any] = {
        "form": form,
        "conflict": conflict,
        "groups": groups(form, conflict),
        "kind": kind_label(form.opened.kind),
        "unit": form.opened,
        "is_previewed": "preview" in request.POST,
        "back": address("evidence_unitrecord_change", record.pk),
        **source_context(record, form.opened),
        **(preview_of(form) if form.is_bound else {}),
    }
    response = page.page(request, record, TEMPLATE, **context)
    is_fine = not form.is_bound or ("preview" in request.POST and form.is_valid())
    response.status_code = 200 if is_fine else 422
    return response
