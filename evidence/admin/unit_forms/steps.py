"""The addresses of the typed form: the form itself, and what it asks while somebody types."""

from __future__ import annotations

from typing import Any

from django.http import HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import render

from evidence.admin.files import unit_file
from evidence.admin.pages import CURATE, ReadablePage, posts_only, require
from evidence.admin.unit_forms import completion, saving
from evidence.admin.unit_forms.form import UnitFieldsForm
from evidence.admin.unit_forms.remarks import sql_remark
from evidence.admin.unit_forms.showing import preview_of
from evidence.domain.sql_remarks import SqlRemark
from evidence.domain.typed_units import MAX_FIELD_CHARS
from evidence.domain.units import EvidenceKind
from evidence.translation import sentence

FORM_STEPS = ("fill_in", "check_sql", "preview", "names")


class TypedFormPage(ReadablePage):
    """A page of units with a typed form."""

    def fill_in(self, request: HttpRequest, object_id: str) -> HttpResponse:
        """Show the typed form, or save what was typed as one commit."""
        require(request, CURATE)
        return saving.respond(self, request, self.row(request, object_id))

    @posts_only
    def check_sql(self, request: HttpRequest, object_id: str) -> HttpResponse:
        """Say what is wrong with the SQL as it is typed, and at which character."""
        require(request, CURATE)
        record = self.row(request, object_id)
        sql = request.POST.get("sql", "")[:MAX_FIELD_CHARS]
        columns = request.POST.get("columns", "")[:MAX_FIELD_CHARS]
        kind = EvidenceKind(record.kind) if record.kind else EvidenceKind.FORMULA
        return JsonResponse(_said(sql_remark(kind, sql, columns=columns)))

    @posts_only
    def preview(self, request: HttpRequest, object_id: str) -> HttpResponse:
        """Give what is typed as its page would show it."""
        require(request, CURATE)
        unit = unit_file(self.row(request, object_id)).unit
        if unit is None:
            return HttpResponse(status=204)
        form = UnitFieldsForm(request.POST, opened=unit)
        return render(request, "evidence/unit_preview.html", preview_of(form))

    def names(self, request: HttpRequest, object_id: str) -> HttpResponse:
        """Give the concepts, tables and columns that the workspace's units are about."""
        require(request, CURATE)
        return JsonResponse(completion.names(self.row(request, object_id).workspace))


def _said(remark: SqlRemark | None) -> dict[str, Any]:
    if remark is None:
        return {"ok": True}
    return {
        "ok": False,
        "text": sentence(remark.message),
        "code": remark.code,
        "offset": remark.offset,
        "line": remark.line,
        "column": remark.column,
        "source": remark.source,
    }
