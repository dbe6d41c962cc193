"""Units: the list, the readable page, and the two editors that save one commit."""

from __future__ import annotations

from typing import Any

from django.contrib import admin
from django.contrib.admin import display
from django.http import HttpRequest, HttpResponse
from django.utils import timezone
from django.utils.html import format_html_join
from django.utils.safestring import SafeString
from django.utils.translation import gettext_lazy as _
from django.utils.translation import ngettext

from evidence.admin import editor, resolving
from evidence.admin.dismissals import dismissed_address
from evidence.admin.files import unit_file
from evidence.admin.filters import AttentionFilter, KindFilter, PurposeFilter, WorkspaceFilter
from evidence.admin.origin import source_context
from evidence.admin.pages import CURATE, may, posts_only, require
from evidence.admin.pairs import compare_address
from evidence.admin.rendering import render_markdown
from evidence.admin.typed_view import parts
from evidence.admin.unit_forms.steps import FORM_STEPS, TypedFormPage
from evidence.admin.usage import used_in
from evidence.admin.wording import badge, doubts, kind_label, purpose_label
from evidence.dismissed import dismissed_about
from evidence.domain.findings import BLOCKING_CODES
from evidence.domain.paths import SOURCE_FOLDER
from evidence.domain.staleness import STALE_UNIT, stale_message
from evidence.models import FindingRecord, SourceRecord, UnitRecord
from evidence.stale import is_stale
from evidence.translation import filled, sentence


@admin.register(UnitRecord)
class UnitPage(TypedFormPage):
    """Reviewed knowledge, one typed unit a row."""

    page_template = "evidence/unit.html"
    steps = (*FORM_STEPS, "edit", "settle", "retire", "relink")
    list_display = ("title", "kind_words", "state", "purpose_words", "source_words")
    list_filter = (WorkspaceFilter, KindFilter, AttentionFilter, PurposeFilter)
    search_fields = ("title", "evidence_id", "path", "source_file", "search_text")
    list_select_related = ("workspace",)
    empty_title = _("No units here")
    empty_hint = _("Units are made from notes: add a source note, then prepare it.")

    @display(description=_("kind"), ordering="kind")
    def kind_words(self, record: UnitRecord) -> str:
        """Say the kind in words."""
        return kind_label(record.kind)

    @display(description=_("used for"))
    def purpose_words(self, record: UnitRecord) -> str:
        """Say the purposes in words."""
        return ", ".join(purpose_label(purpose) for purpose in record.purposes)

    @display(description=_("state"))
    def state(self, record: UnitRecord) -> SafeString:
        """Say what needs somebody, or that nothing does."""
        return format_html_join(" ", "{}", ((mark,) for mark in state_badges(record)))

    @display(description=_("source"), ordering="source_file")
    def source_words(self, record: UnitRecord) -> str:
        """Give the note's name below `source/`."""
        return record.source_file.removeprefix(SOURCE_FOLDER)

    def page_context(self, request: HttpRequest, row: UnitRecord) -> dict[str, Any]:
        """Read the unit's file and its source from Git."""
        file, findings = unit_file(row), findings_of(row)
        return {
            "file": file,
            "fault_words": sentence(file.fault.message) if file.fault else "",
            "badges": state_badges(row),
            "kind": kind_label(row.kind),
            "purposes": [purpose_label(purpose) for purpose in row.purposes],
            "parts": parts(file.unit) if file.unit else (),
            "body": render_markdown(file.unit.body) if file.unit else "",
            "review_items": doubts(row.review_items.all()),
            "findings": findings,
            "blocked": any(each["blocks"] for each in findings),
            "dismissed": dismissed_about(row),
            "dismissed_list": dismissed_address(row.workspace),
            "used": used_in(row) if row.evidence_id else None,
            "may_edit": may(request, CURATE),
            "notes": _notes(row) if row.is_orphan else (),
            **source_context(row, file.unit),
        }

    def edit(self, request: HttpRequest, object_id: str) -> HttpResponse:
        """Show the editor, or save what was typed as one commit."""
        require(request, CURATE)
        return editor.respond(self, request, self.row(request, object_id))

    @posts_only
    def settle(self, request: HttpRequest, object_id: str) -> HttpResponse:
        """Take one review item out of the unit, as one commit."""
        require(request, CURATE)
        return editor.settle(request, self.row(request, object_id))

    @posts_only
    def retire(self, request: HttpRequest, object_id: str) -> HttpResponse:
        """Take the unit out of the workspace, as one commit."""
        require(request, CURATE)
        return resolving.retire(request, self.row(request, object_id))

    @posts_only
    def relink(self, request: HttpRequest, object_id: str) -> HttpResponse:
        """Let the unit rest on another note that holds its excerpts, as one commit."""
        require(request, CURATE)
        return resolving.relink(request, self.row(request, object_id))


def state_badges(record: UnitRecord) -> list[SafeString]:
    """Give what needs somebody as badges; a unit in good order has one that says so."""
    badges = []
    if not record.is_valid:
        badges.append(badge(_("cannot be read"), "bad"))
    if record.open_items:
        count = record.open_items
        words = ngettext("%(count)s open review item", "%(count)s open review items", count)
        badges.append(badge(words % {"count": count}, "warn"))
    if record.is_orphan:
        badges.append(badge(_("orphan"), "warn"))
    if is_stale(record, timezone.now()):
        badges.append(badge(_("to look at again"), "warn"))
    return badges or [badge(_("in order"), "ok")]


def findings_of(record: UnitRecord) -> list[dict[str, Any]]:
    """Give the findings of the unit's file; its open review items have their own place."""
    found = FindingRecord.objects.filter(workspace=record.workspace_id, path=record.path)
    kept = [
        {
            "blocks": row.severity == "error" or row.code in BLOCKING_CODES,
            "code": row.code,
            "text": filled(row.template, row.values),
            "compare": compare_address(record.workspace, row),
        }
        for row in found.exclude(code="review_item_open")
    ]
    months = record.workspace.review_after_months
    if months is not None and is_stale(record, timezone.now()):
        text = sentence(stale_message(months))
        kept.append({"blocks": False, "code": STALE_UNIT, "text": text, "compare": ""})
    return kept


def _notes(record: UnitRecord) -> list[str]:
    present = SourceRecord.objects.filter(workspace=record.workspace_id).exclude(blob="")
    return list(present.values_list("path", flat=True)[:500])
