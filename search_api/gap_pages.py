"""Gaps in the admin: questions that found little, each to be answered by a note or set aside."""

from __future__ import annotations

from typing import Any

from django.contrib import admin, messages
from django.contrib.admin import display
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse
from django.utils import timezone
from django.utils.safestring import SafeString
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from evidence.admin.filters import WorkspaceFilter
from evidence.admin.pages import (
    CURATE,
    ReadablePage,
    actor_of,
    go,
    listed,
    may,
    posts_only,
    require,
)
from evidence.admin.wording import badge, purpose_label
from evidence.domain.identifiers import slug_of
from evidence.faults import CuratorFault
from evidence.translation import sentence
from publishing.admin.console import console_address
from search_api import gaps
from search_api.gap_forms import AnswerForm
from search_api.models import Gap, GapState

WEEK = "week"
TONES = {GapState.OPEN: "warn", GapState.DISMISSED: ""}


class GapWorkspaceFilter(WorkspaceFilter):
    """Narrow gaps or proposals to one workspace, named by its slug."""

    lookup = "workspace"


class AskedFilter(admin.SimpleListFilter):
    """Narrow gaps to those that somebody asked lately; the home page counts these."""

    title = _("asked")
    parameter_name = "asked"

    def lookups(self, request: HttpRequest, model_admin: Any) -> list[tuple[str, Any]]:
        """Offer the last seven days."""
        return [(WEEK, _("in the last seven days"))]

    def queryset(self, request: HttpRequest, queryset: QuerySet[Gap]) -> QuerySet[Gap]:
        """Keep what was asked in those days."""
        if self.value() != WEEK:
            return queryset
        return queryset.filter(last_asked_at__gte=timezone.now() - gaps.WEEK)


@admin.register(Gap)
class GapPage(ReadablePage):
    """What people ask and the workspace does not know."""

    page_template = "search_api/gap.html"
    steps = ("answer", "dismiss")
    list_display = ("question", "state_words", "times_asked", "results", "last_asked_at")
    list_filter = (GapWorkspaceFilter, "state", AskedFilter)
    search_fields = ("question",)
    empty_title = _("No gaps here")
    empty_hint = _("A question that finds nothing, or little, is listed here until it is answered.")

    @display(description=_("state"), ordering="state")
    def state_words(self, gap: Gap) -> SafeString:
        """Say whether the question still waits."""
        return gap_badge(gap)

    @display(description=_("found"), ordering="result_count")
    def results(self, gap: Gap) -> str:
        """Say whether nothing was found, or little."""
        return gettext("little") if gap.result_count else gettext("nothing")

    def page_context(self, request: HttpRequest, row: Gap) -> dict[str, Any]:
        """Offer a note with the question in it."""
        return self._context(request, row, AnswerForm(initial=_prefilled(row)))

    def _context(self, request: HttpRequest, row: Gap, form: AnswerForm) -> dict[str, Any]:
        return {
            "form": form,
            "badge": gap_badge(row),
            "purpose": purpose_label(row.purpose),
            "console": console_address(row.workspace),
            "may_decide": may(request, CURATE) and row.state in gaps.UNDECIDED,
            "note_link": listed("evidence_sourcerecord", workspace=row.workspace, q=row.note_path),
        }

    @posts_only
    def answer(self, request: HttpRequest, object_id: str) -> HttpResponse:
        """Save the note in the person's name; a refusal keeps what was typed."""
        require(request, CURATE)
        gap, form = self.row(request, object_id), AnswerForm(request.POST)
        if form.is_valid():
            try:
                gaps.write_note(gap=gap, author=actor_of(request), **form.cleaned_data)
            except CuratorFault as fault:
                form.add_error(None, sentence(fault.message))
            else:
                messages.success(request, gettext("The note is saved. Prepare it when ready."))
                return go("search_api_gap_change", gap.pk)
        return self.page(request, gap, self.page_template, **self._context(request, gap, form))

    @posts_only
    def dismiss(self, request: HttpRequest, object_id: str) -> HttpResponse:
        """Set the question aside."""
        require(request, CURATE)
        gaps.dismiss(gap=self.row(request, object_id), author=actor_of(request))
        messages.success(request, gettext("Set aside: this question is no gap."))
        return go("search_api_gap_changelist")


def gap_badge(gap: Gap) -> SafeString:
    """Give the state of a gap as a badge."""
    state = GapState(gap.state)
    return badge(state.label, TONES.get(state, "ok"))


def _prefilled(gap: Gap) -> dict[str, str]:
    title = " ".join(gap.question.split())
    return {"name": f"gaps/{slug_of(title)}.md", "text": f"# {title[:200]}\n\n"}
