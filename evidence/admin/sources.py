"""Source notes: the list, the readable page with its quoted passages, download and writing one."""

from __future__ import annotations

from typing import Any
from urllib.parse import quote

from django.contrib import admin, messages
from django.contrib.admin import display
from django.db.models import QuerySet
from django.http import Http404, HttpRequest, HttpResponse
from django.template.defaultfilters import filesizeformat
from django.urls import URLPattern, path
from django.utils.safestring import SafeString
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from evidence import curation
from evidence.admin import preparing
from evidence.admin.files import UnitFile, source_bytes, unit_files
from evidence.admin.filters import WorkspaceFilter
from evidence.admin.notes import note_html
from evidence.admin.pages import CURATE, ReadablePage, actor_of, go, listed, may, require
from evidence.admin.passages import Passage
from evidence.admin.wording import badge, kind_label
from evidence.domain.paths import SOURCE_FOLDER
from evidence.faults import CuratorFault
from evidence.forms import NoteForm
from evidence.models import FindingRecord, SourceRecord, SourceState, UnitRecord, Workspace
from evidence.translation import filled, sentence

TONES = {
    SourceState.NEW: "info",
    SourceState.CHANGED: "warn",
    SourceState.REMOVED: "bad",
    SourceState.PREPARED: "ok",
}


@admin.register(SourceRecord)
class SourcePage(ReadablePage):
    """Raw notes, from which units are made."""

    page_template = "evidence/source.html"
    steps = ("download",)
    actions = ("prepare_selected",)
    list_display = ("name", "state_words", "unit_count", "size_words")
    list_filter = (WorkspaceFilter, "state")
    search_fields = ("path",)
    list_select_related = ("workspace",)
    list_before_template = "evidence/sources_before.html"
    empty_title = _("No source notes here")
    empty_hint = _(
        "Write a note in your own words, then prepare it: units of knowledge are proposed."
    )

    def has_curate_permission(self, request: HttpRequest) -> bool:
        """Let curators prepare the rows they ticked."""
        return may(request, CURATE)

    @display(description=_("note"), ordering="path")
    def name(self, record: SourceRecord) -> str:
        """Give the note's name below `source/`."""
        return record.path.removeprefix(SOURCE_FOLDER)

    @display(description=_("size"), ordering="size")
    def size_words(self, record: SourceRecord) -> str:
        """Give the size as people read it."""
        return filesizeformat(record.size)

    @display(description=_("state"), ordering="state")
    def state_words(self, record: SourceRecord) -> SafeString:
        """Say how the note stands to the last preparation."""
        return state_badge(record)

    @admin.action(description=_("Prepare the selected notes"), permissions=["curate"])
    def prepare_selected(
        self, request: HttpRequest, queryset: QuerySet[SourceRecord]
    ) -> HttpResponse | None:
        """Start one preparation of the ticked notes, which must be of one workspace."""
        rows = list(queryset.select_related("workspace"))
        slugs = {row.workspace.slug for row in rows}
        if len(slugs) != 1:
            messages.error(request, gettext("Choose notes of one workspace at a time."))
            return None
        return preparing.start(request, slugs.pop(), only=tuple(row.path for row in rows))

    def get_urls(self) -> list[URLPattern]:
        """Add the page that writes a note."""
        write = path("write/", self.admin_site.admin_view(self.write), name=self.route("write"))
        return [write, *super().get_urls()]

    def changelist_view(
        self, request: HttpRequest, extra_context: dict[str, Any] | None = None
    ) -> HttpResponse:
        """Offer to prepare what changed above the list."""
        extra = {"waiting": preparing.waiting(request), "may_curate": self._may_curate(request)}
        return super().changelist_view(request, extra | (extra_context or {}))

    def _may_curate(self, request: HttpRequest) -> bool:
        return may(request, CURATE)

    def page_context(self, request: HttpRequest, row: SourceRecord) -> dict[str, Any]:
        """Read the note and the units that quote it from Git."""
        data = source_bytes(row)
        units = unit_files(_units_of(row))
        return {
            "note": None if data is None else note_html(row.path, data, _passages(units)),
            "units": [_quoting(file) for file in units],
            "badge": state_badge(row),
            "findings": _findings(row),
            "may_prepare": self._may_curate(request)
            and row.state in {SourceState.NEW, SourceState.CHANGED, SourceState.REMOVED},
            "more_units": listed("evidence_unitrecord", q=row.path),
        }

    def download(self, request: HttpRequest, object_id: str) -> HttpResponse:
        """Give the note's very bytes as a file."""
        row = self.row(request, object_id)
        data = source_bytes(row)
        if data is None:
            raise Http404
        name = row.path.rpartition("/")[2]
        response = HttpResponse(data, content_type="text/plain; charset=utf-8")
        response.headers["Content-Disposition"] = f"attachment; filename*=UTF-8''{quote(name)}"
        return response

    def write(self, request: HttpRequest) -> HttpResponse:
        """Show the form for a new note, or save it as one commit."""
        require(request, CURATE)
        workspace = _chosen_workspace(request)
        form = NoteForm(request.POST or None)
        if form.is_valid():
            try:
                curation.add_source(
                    workspace=workspace.slug, author=actor_of(request), **form.cleaned_data
                )
            except CuratorFault as fault:
                form.add_error(None, sentence(fault.message))
            else:
                messages.success(request, gettext("The note is saved. Prepare it when ready."))
                return go("evidence_sourcerecord_changelist")
        context = {"form": form, "workspace": workspace, "title": gettext("Write a note")}
        return self.page(request, None, "evidence/source_write.html", **context)


def state_badge(record: SourceRecord) -> SafeString:
    """Give the state of a note as a badge."""
    state = SourceState(record.state)
    return badge(state.label, TONES.get(state, ""))


def _units_of(row: SourceRecord) -> list[UnitRecord]:
    units = UnitRecord.objects.select_related("workspace")
    return list(units.filter(workspace=row.workspace_id, source_file=row.path)[:200])


def _passages(units: tuple[UnitFile, ...]) -> list[Passage]:
    return [
        Passage(excerpt, f"unit-{file.record.pk}", file.record.title)
        for file in units
        if file.unit
        for excerpt in file.unit.provenance.supporting_excerpts
    ]


def _quoting(file: UnitFile) -> dict[str, Any]:
    excerpts = file.unit.provenance.supporting_excerpts if file.unit else ()
    return {"record": file.record, "kind": kind_label(file.record.kind), "excerpts": excerpts}


def _findings(row: SourceRecord) -> list[dict[str, str]]:
    found = FindingRecord.objects.filter(workspace=row.workspace_id, path=row.path)
    return [{"code": each.code, "text": filled(each.template, each.values)} for each in found]


def _chosen_workspace(request: HttpRequest) -> Workspace:
    asked = request.GET.get("workspace")
    for row in Workspace.objects.all():
        if asked in {None, row.slug}:
            return row
    raise Http404
