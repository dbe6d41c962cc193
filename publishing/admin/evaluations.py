"""Evaluations: each question of an exam with its three ranks."""

from __future__ import annotations

from typing import Any

from django.contrib import admin
from django.contrib.admin import display
from django.http import HttpRequest, HttpResponse
from django.urls import URLPattern, path
from django.utils.decorators import method_decorator
from django.utils.safestring import SafeString
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _
from django.views.decorators.debug import sensitive_post_parameters

from evidence.admin.pages import ReadablePage, refuse_nul
from evidence.admin.wording import badge
from publishing.admin import console, exam_export, exam_history, exam_report, question_set
from publishing.admin.filters import WorkspaceFilter
from publishing.admin.wording import percent
from publishing.models import Evaluation


@admin.register(Evaluation)
class EvaluationPage(ReadablePage):
    """Whether a generation finds what it must, question by question."""

    page_template = "publishing/evaluation.html"
    steps = ("export_csv", "export_json")
    list_before_template = "publishing/evaluations_before.html"
    list_display = ("at", "outcome", "first_five", "first_ten", "question_count", "generation")
    list_filter = (WorkspaceFilter, "passed")
    list_select_related = ("generation",)
    empty_title = _("No exams yet")
    empty_hint = _("Every revision that is approved sits an exam before it may answer.")

    def get_urls(self) -> list[URLPattern]:
        """Add the console, the evaluation set and the comparison of two exams."""
        wrap = self.admin_site.admin_view
        mine = [
            path("console/", wrap(self.console), name="publishing_console"),
            path("questions/", wrap(self.questions), name="publishing_question_set"),
            path("compare/", wrap(self.compare), name="publishing_compare"),
        ]
        return [*mine, *super().get_urls()]

    def changelist_view(
        self, request: HttpRequest, extra_context: dict[str, Any] | None = None
    ) -> HttpResponse:
        """Draw the exams of the chosen workspace over time, above the list."""
        refuse_nul(request)
        slug = request.GET.get("workspace") or _newest_workspace()
        extra = {"history": exam_history.history(slug), "slug": slug}
        return super().changelist_view(request, extra | (extra_context or {}))

    @method_decorator(sensitive_post_parameters("query"))
    def console(self, request: HttpRequest) -> HttpResponse:
        """Try a question by hand."""
        return console.respond(self, request)

    def questions(self, request: HttpRequest) -> HttpResponse:
        """Show what the evaluation set covers."""
        return question_set.respond(self, request)

    def compare(self, request: HttpRequest) -> HttpResponse:
        """Show two exams side by side."""
        return exam_history.compare(self, request)

    def export_csv(self, request: HttpRequest, object_id: str) -> HttpResponse:
        """Give the exam as a table."""
        return exam_export.as_csv(self.row(request, object_id))

    def export_json(self, request: HttpRequest, object_id: str) -> HttpResponse:
        """Give the exam's report as it is kept."""
        return exam_export.as_json(self.row(request, object_id))

    @display(description=_("outcome"), ordering="passed")
    def outcome(self, row: Evaluation) -> SafeString:
        """Say whether it passed."""
        return outcome_badge(row)

    @display(description=_("among the first 5"), ordering="hit_at_5")
    def first_five(self, row: Evaluation) -> str:
        """Give the share of questions found among the first five."""
        return percent(row.hit_at_5)

    @display(description=_("among the first 10"), ordering="hit_at_10")
    def first_ten(self, row: Evaluation) -> str:
        """Give the share of questions found among the first ten."""
        return percent(row.hit_at_10)

    def page_context(self, request: HttpRequest, row: Evaluation) -> dict[str, Any]:
        """Show the report, the worst questions first."""
        return {
            "title": gettext("Evaluation of generation %(id)s") % {"id": row.generation},
            "badge": outcome_badge(row),
            "hit_at_5": percent(row.hit_at_5),
            "hit_at_10": percent(row.hit_at_10),
            "questions": exam_report.questions(row),
            "by_kind": exam_report.by_kind(row.report),
            "generations": exam_history.choices(row),
            "off_topic": row.report.get("off_topic", []),
        }


def _newest_workspace() -> str:
    """Give the workspace that sat an exam last, or nothing."""
    return Evaluation.objects.values_list("workspace", flat=True).first() or ""


def outcome_badge(row: Evaluation) -> SafeString:
    """Give the outcome of an exam as a badge."""
    return badge(_("passed"), "ok") if row.passed else badge(_("not passed"), "bad")
