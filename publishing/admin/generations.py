"""Generations: what can be searched, how it came about, and the way back."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Any

from django.contrib import admin, messages
from django.contrib.admin import display
from django.db.models import Prefetch, QuerySet
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.utils import timezone
from django.utils.formats import number_format
from django.utils.html import format_html
from django.utils.safestring import SafeString
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from evidence.admin.pages import ReadablePage, actor_of, go, may, posts_only, require, say_fault
from evidence.admin.wording import short
from evidence.faults import Fault
from publishing import activation, wiring
from publishing.admin.events import happened
from publishing.admin.filters import StateFilter, WorkspaceFilter
from publishing.admin.forms import RollBackForm
from publishing.admin.wording import generation_badge, is_under_way, live_words, percent
from publishing.domain.lifecycle import GenerationState
from publishing.models import Evaluation, Generation, PublicationEvent
from publishing.permissions import APPROVE


@admin.register(Generation)
class GenerationPage(ReadablePage):
    """All that one revision says, ready to be searched; at most one answers."""

    page_template = "publishing/generation.html"
    steps = ("progress", "roll_back")
    list_display = ("name", "state_words", "revision_words", "counts", "exam", "created_at")
    list_filter = (WorkspaceFilter, StateFilter)
    search_fields = ("revision", "id")
    empty_title = _("Nothing was published yet")
    empty_hint = _("When a revision is approved, it is built, examined and shown here.")

    def get_queryset(self, request: HttpRequest) -> QuerySet[Generation]:
        """Bring the exams along, so that the list asks once for all rows."""
        light = Evaluation.objects.order_by("-at").defer("report", "answers")
        exams = Prefetch("evaluations", light, to_attr="exams")
        rows: QuerySet[Generation] = super().get_queryset(request)
        return rows.select_related("approval").prefetch_related(exams)

    @display(description=_("generation"), ordering="id")
    def name(self, row: Generation) -> SafeString:
        """Give the first digits of the id."""
        return format_html('<span class="ep-hash">{}</span>', str(row))

    @display(description=_("state"), ordering="state")
    def state_words(self, row: Generation) -> SafeString:
        """Say where it stands."""
        return generation_badge(row.state)

    @display(description=_("revision"))
    def revision_words(self, row: Generation) -> SafeString:
        """Give the first digits of the revision."""
        return format_html('<span class="ep-hash">{}</span>', short(row.revision))

    @display(description=_("units"))
    def counts(self, row: Generation) -> str:
        """Give how many units and fragments it holds."""
        counts = {"units": row.unit_count, "fragments": row.point_count}
        return gettext("%(units)s units, %(fragments)s fragments") % counts

    @display(description=_("hit@10"))
    def exam(self, row: Generation) -> str:
        """Give the share of questions that its newest exam found."""
        exams: list[Evaluation] = getattr(row, "exams", [])
        return percent(exams[0].hit_at_10) if exams else "—"

    def page_context(self, request: HttpRequest, row: Generation) -> dict[str, Any]:
        """Show its counts, its durations, its exams, what happened, and the way back to it."""
        events = PublicationEvent.objects.filter(generation=row)
        return {
            "title": gettext("Generation %(id)s") % {"id": row},
            "badge": generation_badge(row.state),
            "running": is_under_way(row),
            "words": live_words(row, timezone.now()),
            "durations": list(_durations(row)),
            "exams": [_exam(each) for each in getattr(row, "exams", [])],
            "events": happened(events),
            "roll_back_form": RollBackForm(),
            "may_roll_back": row.state == GenerationState.SUPERSEDED and may(request, APPROVE),
        }

    def progress(self, request: HttpRequest, object_id: str) -> JsonResponse:
        """Answer how far the build is; the page asks every two seconds."""
        row = self.row(request, object_id)
        return JsonResponse(
            {
                "ended": not is_under_way(row),
                "done": row.progress_done,
                "total": row.progress_total,
                "words": live_words(row, timezone.now()),
            }
        )

    @posts_only
    def roll_back(self, request: HttpRequest, object_id: str) -> HttpResponse:
        """Let this generation answer again, with a reason."""
        require(request, APPROVE)
        row = self.row(request, object_id)
        form = RollBackForm(request.POST)
        if not form.is_valid():
            messages.error(request, gettext("Say why you roll back."))
            return go("publishing_generation_change", row.pk)
        try:
            activation.roll_back(
                workspace=row.workspace,
                to=row.pk,
                actor=actor_of(request),
                note=form.cleaned_data["reason"],
                store=wiring.store(),
                embedder=wiring.embedder(),
            )
        except Fault as fault:
            say_fault(request, fault)
        else:
            messages.success(request, gettext("Rolled back: this generation answers again."))
        return go("publishing_generation_change", row.pk)


def _durations(row: Generation) -> list[tuple[str, str]]:
    spans = (
        (gettext("Build"), row.created_at, row.built_at),
        (gettext("Exam"), row.built_at, row.evaluated_at),
    )
    return [(label, _span(begin, end)) for label, begin, end in spans if begin and end]


def _span(begin: datetime, end: datetime) -> str:
    seconds = max(end - begin, timedelta()).total_seconds()
    if seconds < 120:
        return gettext("%(seconds)s s") % {"seconds": number_format(seconds, 1)}
    return gettext("%(minutes)d min") % {"minutes": seconds // 60}


def _exam(row: Evaluation) -> dict[str, Any]:
    return {"row": row, "hit_at_5": percent(row.hit_at_5), "hit_at_10": percent(row.hit_at_10)}
