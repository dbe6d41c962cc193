"""The text editor of a unit: nothing typed is lost, whatever goes wrong."""

from __future__ import annotations

from typing import Any

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.utils.translation import gettext as _

from evidence import curation
from evidence.admin.differences import Word, words_changed
from evidence.admin.files import UnitFile, unit_file
from evidence.admin.pages import ReadablePage, actor_of, go, say_fault
from evidence.faults import CuratorFault, Fault
from evidence.forms import UnitTextForm
from evidence.models import UnitRecord
from evidence.ports import EditConflict

TEMPLATE = "evidence/unit_edit.html"


def respond(page: ReadablePage, request: HttpRequest, record: UnitRecord) -> HttpResponse:
    """Show the form; on a post save one commit, or show the form again with every word kept."""
    file = unit_file(record)
    if request.method != "POST":
        form = UnitTextForm(
            initial={"text": file.text, "blob": record.blob}, path=record.path
        )
        return _shown(page, request, file, form)
    form = UnitTextForm(request.POST, path=record.path)
    if not form.is_valid():
        return _shown(page, request, file, form)
    try:
        curation.save_file(
            workspace=record.workspace.slug,
            path=record.path,
            text=form.cleaned_data["text"],
            blob=form.cleaned_data["blob"],
            author=actor_of(request),
        )
    except EditConflict as conflict:
        return _shown(page, request, file, form, **_conflict(form, conflict))
    except CuratorFault as fault:
        form.mark(fault, fault.message)
        return _shown(page, request, file, form)
    except Fault as fault:
        say_fault(request, fault)
        return _shown(page, request, file, form)
    messages.success(request, _("Saved as one commit in your name."))
    return go("evidence_unitrecord_change", record.pk)


def _shown(
    page: ReadablePage, request: HttpRequest, file: UnitFile, form: UnitTextForm, **extra: Any
) -> HttpResponse:
    context = {
        "form": form,
        "file": file,
        "review_items": list(file.record.review_items.all()),
        **extra,
    }
    response = page.page(request, file.record, TEMPLATE, **context)
    response.status_code = 422 if form.is_bound else 200
    return response


def _conflict(form: UnitTextForm, conflict: EditConflict) -> dict[str, object]:
    base, theirs = _text(conflict.base), _text(conflict.theirs)
    changed: tuple[Word, ...] = words_changed(base, theirs)
    return {"conflict": conflict, "theirs": theirs, "base": base, "their_changes": changed}


def _text(data: bytes | None) -> str:
    return "" if data is None else data.decode("utf-8", "replace")
