"""The queue of open doubts across units."""

from __future__ import annotations

from django.contrib import admin
from django.contrib.admin import display
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.utils.html import format_html
from django.utils.safestring import SafeString
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from evidence.admin.filters import UnitsWorkspaceFilter
from evidence.admin.pages import ReadablePage, address
from evidence.admin.wording import kind_label, with_code
from evidence.models import ReviewItemRecord


@admin.register(ReviewItemRecord)
class ReviewItemPage(ReadablePage):
    """Doubts that somebody has to settle; each leads to its unit."""

    list_display = ("words", "unit_link", "kind_words", "field")
    list_display_links = ("words",)
    list_filter = (UnitsWorkspaceFilter, "code")
    search_fields = ("message", "code", "unit__title")
    list_select_related = ("unit",)
    empty_title = _("No open review items")
    empty_hint = _("Every doubt is settled. What nothing else blocks can be published.")

    @display(description=_("what is in doubt"), ordering="message")
    def words(self, item: ReviewItemRecord) -> SafeString:
        """Say the doubt, with its code in small print."""
        return with_code(gettext(item.message), item.code)

    @display(description=_("unit"), ordering="unit__title")
    def unit_link(self, item: ReviewItemRecord) -> SafeString:
        """Lead to the unit."""
        place = address("evidence_unitrecord_change", item.unit_id)
        return format_html('<a href="{}">{}</a>', place, item.unit.title)

    @display(description=_("kind"), ordering="unit__kind")
    def kind_words(self, item: ReviewItemRecord) -> str:
        """Say the unit's kind in words."""
        return kind_label(item.unit.kind)

    def changeform_view(
        self, request: HttpRequest, object_id: str | None = None, *args: object, **kwargs: object
    ) -> HttpResponse:
        """Go to the unit: a doubt is read and settled there."""
        item = self.row(request, object_id or "")
        return HttpResponseRedirect(address("evidence_unitrecord_change", item.unit_id))
