"""Evaluations: each question of an exam with its three ranks."""

from __future__ import annotations

from typing import Any

from django.contrib import admin
from django.contrib.admin import display
from django.http import HttpRequest
from django.utils.safestring import SafeString
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from evidence.admin.pages import ReadablePage
from evidence.admin.wording import badge
from publishing.admin import exam_report
from publishing.admin.filters import WorkspaceFilter
from publishing.admin.wording import percent
from publishing.models import Evaluation


@admin.register(Evaluation)
class EvaluationPage(ReadablePage):
    """Whether a generation finds what it must, question by question."""

    page_template = "publishing/evaluation.html"
    list_display = ("at", "outcome", "first_five", "first_ten", "question_count", "generation")
    list_filter = (WorkspaceFilter, "passed")
    list_select_related = ("generation",)
    empty_title = _("No exams yet")
    empty_hint = _("Every revision that is approved sits an exam before it may answer.")

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
            "off_topic": row.report.get("off_topic", []),
        }


def outcome_badge(row: Evaluation) -> SafeString:
    """Give the outcome of an exam as a badge."""
    return badge(_("passed"), "ok") if row.passed else badge(_("not passed"), "bad")
