"""The log of publication: who moved what, when and why."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from django.contrib import admin
from django.contrib.admin import display
from django.http import HttpRequest, HttpResponse
from django.utils.translation import gettext_lazy as _

from evidence.admin.pages import ReadablePage, go
from publishing.admin.filters import WorkspaceFilter
from publishing.admin.wording import event_words
from publishing.models import PublicationEvent


@admin.register(PublicationEvent)
class EventPage(ReadablePage):
    """Every step of every generation and approval; nothing is ever taken out."""

    list_display = ("at", "actor", "step", "reason", "generation")
    list_filter = (WorkspaceFilter,)
    list_select_related = ("generation",)
    search_fields = ("actor", "reason")
    empty_title = _("Nothing has happened yet")
    empty_hint = _("Approvals, exams and rollbacks are written down here.")

    @display(description=_("what happened"))
    def step(self, row: PublicationEvent) -> str:
        """Say from which state to which."""
        after = event_words(row.to_state)
        return f"{event_words(row.from_state)} → {after}" if row.from_state else after

    def changeform_view(
        self, request: HttpRequest, object_id: str | None = None, *args: object, **kwargs: object
    ) -> HttpResponse:
        """Go to what the event is about."""
        row = self.row(request, object_id or "")
        if row.generation_id:
            return go("publishing_generation_change", row.generation_id)
        if row.approval_id:
            return go("publishing_approval_change", row.approval_id)
        return go("publishing_release", row.workspace)


def happened(rows: Iterable[PublicationEvent]) -> list[dict[str, Any]]:
    """Give what `publishing/events.html` lists of these events."""
    return [
        {"at": row.at, "actor": row.actor, "to": event_words(row.to_state), "reason": row.reason}
        for row in rows
    ]
