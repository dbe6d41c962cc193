"""Exams over time: a chart drawn here, and two generations side by side."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final
from uuid import UUID

from django.http import Http404, HttpRequest, HttpResponse
from django.utils.formats import number_format
from django.utils.translation import gettext

from evidence.admin.pages import ReadablePage
from evidence.admin.unit_links import unit_links
from evidence.admin.wording import badge, kind_label
from publishing.admin.exam_report import rank_badge
from publishing.admin.release_exam import VERDICTS
from publishing.admin.wording import percent
from publishing.domain import preview
from publishing.domain.preview import QuestionChange, Standing, UnitStanding, Verdict
from publishing.models import Evaluation, Generation

EXAMS: Final = 30
"""How many exams the chart shows; the table of the list has them all."""
WIDTH, HEIGHT, LEFT, TOP, BOTTOM = 720, 200, 72, 22, 28


@dataclass(frozen=True, slots=True)
class Dot:
    """One exam in the chart, in its units."""

    row: Evaluation
    x: float
    first_five: float
    first_ten: float

    @property
    def words(self) -> str:
        """Say the exam for those who point at it, or hear it."""
        values = {"five": percent(self.row.hit_at_5), "ten": percent(self.row.hit_at_10)}
        return gettext("first 5: %(five)s, first 10: %(ten)s") % values


def history(slug: str) -> dict[str, Any]:
    """Give the chart of a workspace's newest exams, oldest first; one query."""
    exams = Evaluation.objects.filter(workspace=slug).select_related("generation")
    rows = list(exams.defer("report", "answers")[:EXAMS])[::-1]
    dots = [_dot(row, number, len(rows)) for number, row in enumerate(rows)]
    return {
        "dots": dots,
        "width": WIDTH,
        "height": HEIGHT,
        "left": LEFT,
        "right": WIDTH - 10,
        "lines": [(share, _y(share / 100)) for share in (0, 50, 100)],
        "five": " ".join(f"{dot.x:.1f},{dot.first_five:.1f}" for dot in dots),
        "ten": " ".join(f"{dot.x:.1f},{dot.first_ten:.1f}" for dot in dots),
        "newest_first": rows[::-1],
    }


def compare(page: ReadablePage, request: HttpRequest) -> HttpResponse:
    """Show the newest exams of two generations of one workspace side by side."""
    page.require_view(request)
    after = _exam(request.GET.get("after", ""))
    before = _exam(request.GET.get("before", ""))
    if before.workspace != after.workspace:
        raise Http404
    changes = preview.compare(
        preview.read(before.report, before.answers), preview.read(after.report, after.answers)
    )
    links = unit_links(
        after.workspace, {unit.evidence_id for each in changes for unit in each.expected}
    )
    rows = [(each, _question(each, links)) for each in changes]
    verdicts = [each.verdict for each in changes]
    gone = {each["id"] for each in before.report.get("queries", ())} - {
        each["id"] for each in after.report.get("queries", ())
    }
    context = {
        "title": gettext("Two exams compared"),
        "before": before,
        "after": after,
        "shares": list(_shares(before, after)),
        "kinds": list(_kinds(before.report, after.report)),
        "counts": [(badge(*VERDICTS[v]), verdicts.count(v)) for v in Verdict if v in verdicts],
        "rows": [row for _change, row in rows],
        "gone": sorted(gone),
    }
    return page.page(request, None, "publishing/compare.html", **context)


def choices(row: Evaluation) -> Sequence[Generation]:
    """Give the other generations of the workspace that sat an exam, newest first; one query."""
    rows = Generation.objects.filter(workspace=row.workspace, evaluations__isnull=False)
    return list(rows.exclude(pk=row.generation_id).distinct()[:EXAMS])


def _exam(generation: str) -> Evaluation:
    try:
        wanted = UUID(generation)
    except ValueError:
        raise Http404 from None
    row = Evaluation.objects.filter(generation=wanted).select_related("generation").first()
    if row is None:
        raise Http404
    return row


def _question(change: QuestionChange, links: Any) -> dict[str, Any]:
    return {
        "query": change.query,
        "verdict": badge(*VERDICTS[change.verdict]),
        "expected": [
            {
                "unit": links[unit.evidence_id],
                "verdict": badge(*VERDICTS[unit.verdict]),
                "ranks": _ranks(unit),
            }
            for unit in change.expected
        ],
    }


def _ranks(unit: UnitStanding) -> list[dict[str, Any]]:
    before = unit.before or Standing(None, None, None)
    labels = (gettext("By meaning"), gettext("By words"), gettext("In the answer"))
    pairs = (
        (before.dense, unit.after.dense),
        (before.bm25, unit.after.bm25),
        (before.fused, unit.after.fused),
    )
    return [
        {
            "label": label,
            "before": rank_badge(then) if unit.before else "—",
            "after": rank_badge(now),
        }
        for label, (then, now) in zip(labels, pairs, strict=True)
    ]


def _shares(before: Evaluation, after: Evaluation) -> list[tuple[str, str, str]]:
    return [
        (gettext("Questions"), str(before.question_count), str(after.question_count)),
        (gettext("Among the first 5"), percent(before.hit_at_5), percent(after.hit_at_5)),
        (gettext("Among the first 10"), percent(before.hit_at_10), percent(after.hit_at_10)),
        (gettext("Threshold"), _threshold(before.report), _threshold(after.report)),
    ]


def _threshold(report: dict[str, Any]) -> str:
    found = report.get("threshold")
    return "—" if found is None else str(number_format(found, 3))


def _kinds(before: dict[str, Any], after: dict[str, Any]) -> list[tuple[str, str, str]]:
    then, now = before.get("by_kind", {}), after.get("by_kind", {})
    return [
        (kind_label(kind), _found(then.get(kind)), _found(now.get(kind)))
        for kind in sorted({*then, *now})
    ]


def _found(counts: dict[str, int] | None) -> str:
    return f"{counts['found_at_10']}/{counts['expected']}" if counts else "—"


def _dot(row: Evaluation, number: int, count: int) -> Dot:
    span = WIDTH - LEFT - 20
    x = LEFT + (span * number / (count - 1) if count > 1 else span / 2)
    return Dot(row=row, x=x, first_five=_y(row.hit_at_5), first_ten=_y(row.hit_at_10))


def _y(share: float) -> float:
    return TOP + (HEIGHT - TOP - BOTTOM) * (1 - share)
