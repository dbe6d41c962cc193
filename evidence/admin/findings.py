"""What validation found in the mirrored head, each leading to what it is about."""

from __future__ import annotations

from django.contrib import admin
from django.contrib.admin import display
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.utils.safestring import SafeString
from django.utils.translation import gettext_lazy as _

from evidence.admin.filters import WorkspaceFilter
from evidence.admin.pages import ReadablePage, address
from evidence.admin.wording import badge
from evidence.models import FindingRecord, SourceRecord, UnitRecord
from evidence.translation import filled


@admin.register(FindingRecord)
class FindingPage(ReadablePage):
    """What blocks publication, and what is worth a look."""

    list_display = ("words", "severity_words", "path", "code")
    list_display_links = ("words",)
    list_filter = (WorkspaceFilter, "severity", "code")
    search_fields = ("path", "code")
    list_select_related = ("workspace",)
    empty_title = _("Nothing found")
    empty_hint = _("The checks of the current revision found nothing to correct.")

    @display(description=_("what was found"))
    def words(self, finding: FindingRecord) -> str:
        """Say the finding in the reader's language."""
        return filled(finding.template, finding.values)

    @display(description=_("weight"), ordering="severity")
    def severity_words(self, finding: FindingRecord) -> SafeString:
        """Say whether it blocks publication."""
        if finding.severity == "error":
            return badge(_("blocks publication"), "bad")
        return badge(_("worth a look"), "warn")

    def changeform_view(
        self, request: HttpRequest, object_id: str | None = None, *args: object, **kwargs: object
    ) -> HttpResponse:
        """Go to the unit or the note that the finding is about, else back to the list."""
        return HttpResponseRedirect(_place(self.row(request, object_id or "")))


def _place(finding: FindingRecord) -> str:
    about = {"workspace": finding.workspace_id, "path": finding.path}
    unit = UnitRecord.objects.filter(**about).first()
    if unit is not None:
        return address("evidence_unitrecord_change", unit.pk)
    source = SourceRecord.objects.filter(**about).first()
    if source is not None:
        return address("evidence_sourcerecord_change", source.pk)
    return address("evidence_findingrecord_changelist")
