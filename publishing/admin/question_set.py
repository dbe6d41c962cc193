"""The evaluation set of a workspace's head: what it covers, and what it has never asked."""

from __future__ import annotations

from typing import Any, Final

from django.http import HttpRequest, HttpResponse
from django.utils.translation import gettext

from evidence import overview as evidence_overview
from evidence import wiring as evidence_wiring
from evidence.admin.pages import ReadablePage, listed
from evidence.admin.unit_links import unit_links
from evidence.admin.wording import fault_line, kind_label, purpose_label
from evidence.domain.normalization import decode_utf8
from evidence.domain.questions import EvaluationInvalid, EvaluationSet, parse_evaluation
from evidence.domain.tree import EVALUATION_PATH
from evidence.faults import Fault
from evidence.messages import Message, gettext_noop
from publishing.admin import console
from publishing.domain.set_health import Coverage, Health, health
from publishing.models import Evaluation

EXAMS: Final = 50
"""How many earlier exams tell whether a question ever failed."""
SHOWN: Final = 200


def respond(page: ReadablePage, request: HttpRequest) -> HttpResponse:
    """Show the health of the set; a broken or missing file is said in words."""
    page.require_view(request)
    workspaces = evidence_overview.workspaces()
    workspace = console.chosen(request, workspaces)
    context: dict[str, Any] = {
        "title": gettext("The evaluation set"),
        "workspace": workspace,
        "others": [each for each in workspaces if each != workspace],
        "console": console.console_address(workspace.slug),
    }
    try:
        questions = read_set(workspace.slug, workspace.head)
    except Fault as fault:
        context["fault"] = fault_line(fault)
    else:
        context |= _shown(workspace.slug, questions)
    return page.page(request, None, "publishing/question_set.html", **context)


def read_set(slug: str, revision: str) -> EvaluationSet:
    """Give the evaluation set of a revision. Raises `EvaluationInvalid`, and those of Git."""
    repository = evidence_wiring.repository(slug)
    entry = repository.entry(revision, f"evidence/{EVALUATION_PATH}")
    if entry is None:
        raise EvaluationInvalid(Message(gettext_noop("This workspace has no evaluation.yaml yet.")))
    return parse_evaluation(decode_utf8(repository.blobs([entry.blob])[entry.blob]))


def _shown(slug: str, questions: EvaluationSet) -> dict[str, Any]:
    units = evidence_overview.unit_places(slug)
    exams = Evaluation.objects.filter(workspace=slug).values_list("report", flat=True)[:EXAMS]
    found = health(questions, units, exams)
    words = {each.id: each.query for each in questions.queries}
    links = unit_links(slug, found.unexpected[:SHOWN])
    return {
        "questions": len(questions.queries),
        "off_topic": len(questions.off_topic),
        "units": len(units),
        "unexpected_count": len(found.unexpected),
        "unexpected": [links[each] for each in found.unexpected[:SHOWN]],
        "never_failed": [words[each] for each in found.never_failed],
        "failed": sorted(
            ((words[name], count) for name, count in found.failed.items()),
            key=lambda pair: (-pair[1], pair[0]),
        ),
        "tables": _tables(slug, found),
    }


def _tables(slug: str, found: Health) -> list[dict[str, Any]]:
    return [
        {
            "title": gettext("By kind"),
            "rows": [_row(each, kind_label(each.value), slug, "kind") for each in found.by_kind],
        },
        {
            "title": gettext("By purpose"),
            "has_questions": True,
            "rows": [
                _row(each, purpose_label(each.value), slug, "purpose") for each in found.by_purpose
            ],
        },
        {
            "title": gettext("By source"),
            "rows": [_row(each, each.value, slug, "q") for each in found.by_source[:SHOWN]],
        },
    ]


def _row(each: Coverage, label: str, slug: str, parameter: str) -> dict[str, Any]:
    filters = {"workspace": slug, parameter: each.value}
    return {"label": label, "coverage": each, "link": listed("evidence_unitrecord", **filters)}
