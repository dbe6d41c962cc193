"""The search console: try a question by hand, see what is behind the answer, keep the question.

Questions are posted: they may name people, and an address ends in logs and histories.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseRedirect, QueryDict
from django.utils.translation import gettext

from evidence import overview as evidence_overview
from evidence import questioning
from evidence.admin.pages import CURATE, ReadablePage, actor_of, address, may, require
from evidence.admin.wording import fault_line
from evidence.domain.identifiers import slug_of
from evidence.faults import Fault
from evidence.overview import WorkspaceSummary
from evidence.translation import sentence
from publishing import plugged, search_console
from publishing.admin import console_words
from publishing.admin.console_forms import OFF_TOPIC, QuestionForm, SaveForm
from publishing.domain.lifecycle import EXAMINABLE
from publishing.domain.query import build_request
from publishing.models import Generation
from publishing.outcomes import Unavailable
from publishing.search_console import Look

TEMPLATE = "publishing/console.html"


def respond(page: ReadablePage, request: HttpRequest) -> HttpResponse:
    """Show the empty form; on a post ask, and with `save` keep the question in the exam."""
    page.require_view(request)
    workspaces = evidence_overview.workspaces()
    workspace = chosen(request, workspaces)
    posted = request.POST if request.method == "POST" else None
    form = QuestionForm(posted, generations=_generations(workspace.slug))
    context: dict[str, Any] = {
        "title": gettext("Search console"),
        "form": form,
        "workspace": workspace,
        "others": [each for each in workspaces if each != workspace],
        "may_save": may(request, CURATE),
    }
    if posted is None:
        return page.page(request, None, TEMPLATE, **context)
    looked = _looked(workspace.slug, form) if form.is_valid() else None
    context |= _answer(form, looked)
    save = _save_form(posted, looked, getattr(form, "cleaned_data", {}).get("unit", ""))
    if "save" in posted:
        require(request, CURATE)
        if looked is not None and save.is_valid() and _saved(request, workspace.slug, form, save):
            return HttpResponseRedirect(console_address(workspace.slug))
    response = page.page(request, None, TEMPLATE, **context, save=save)
    response.status_code = 422 if form.errors or save.errors else 200
    return response


def console_address(slug: str) -> str:
    """Give the address of the console of a workspace."""
    return f"{address('publishing_console')}?workspace={slug}"


def chosen(request: HttpRequest, workspaces: Sequence[WorkspaceSummary]) -> WorkspaceSummary:
    """Give the workspace that an address names, or the first one. Raises 404."""
    asked = request.GET.get("workspace")
    for each in workspaces:
        if asked in {None, each.slug}:
            return each
    raise Http404


def _generations(slug: str) -> Sequence[Generation]:
    return list(Generation.objects.filter(workspace=slug, state__in=EXAMINABLE)[:50])


def _looked(slug: str, form: QuestionForm) -> Look | Unavailable | None:
    """Ask; what the API would refuse is told in the form, whose words stay."""
    try:
        return search_console.look(
            slug,
            build_request(form.asked()),
            generation=form.chosen,
            deep=bool(form.cleaned_data["unit"]),
        )
    except Fault as fault:
        form.add_error(None, fault_line(fault))
        return None


def _answer(form: QuestionForm, looked: Look | Unavailable | None) -> dict[str, Any]:
    if looked is None:
        return {}
    if isinstance(looked, Unavailable):
        return {"unavailable": looked, "unavailable_words": sentence(looked.message)}
    unit = form.cleaned_data["unit"]
    reason = _reason(form, looked, unit) if unit else []
    return {
        "looked": looked,
        "rows": console_words.rows(looked),
        "filters": console_words.filters(looked),
        "confidence": console_words.confidence(looked),
        "is_grounded": console_words.is_grounded(looked),
        "unit": unit,
        "why": reason,
    }


def _reason(form: QuestionForm, looked: Look, unit: str) -> list[str]:
    try:
        return console_words.why(search_console.why(looked, unit), unit, looked)
    except Fault as fault:
        form.add_error("unit", fault_line(fault))
        return []


def _save_form(posted: QueryDict, looked: Look | Unavailable | None, unit: str) -> SaveForm:
    units = looked.found.units if isinstance(looked, Look) else ()
    found = [(unit.evidence_id, unit.first.title) for unit in units]
    typed = [(each, each) for each in posted.getlist("expected")]
    # An id ticked before the question was changed is still the person's word.
    found += [pair for pair in typed if pair[0] not in dict(found)]
    if "save" in posted:
        return SaveForm(posted, found=found)
    initial = {
        "id": slug_of(posted.get("query", "")),
        "also": unit if unit not in dict(found) else "",
    }
    return SaveForm(initial=initial, found=found)


def _saved(request: HttpRequest, slug: str, form: QuestionForm, save: SaveForm) -> bool:
    """Keep the question in the head's evaluation set; a refusal is told in the form."""
    query = str(form.cleaned_data["query"]).strip()
    try:
        if save.cleaned_data["profile"] == OFF_TOPIC:
            questioning.add_off_topic(workspace=slug, query=query, author=actor_of(request))
        else:
            fields = {
                "id": save.cleaned_data["id"],
                "query": query,
                "profile": save.cleaned_data["profile"],
                "purpose": form.cleaned_data["purpose"],
                "expected": save.expectations(),
            }
            questioning.add_question(workspace=slug, fields=fields, author=actor_of(request))
    except Fault as fault:
        save.add_error(None, fault_line(fault))
        return False
    _settle(slug, form, save, by=actor_of(request).username)
    messages.success(
        request, gettext("The question is saved. It counts from the next exam of this workspace.")
    )
    return True


def _settle(slug: str, form: QuestionForm, save: SaveForm, *, by: str) -> None:
    """Tell who keeps open questions, also of the words with which another page led here."""
    watching = plugged.open_questions()
    if watching is None:
        return
    words = [form.cleaned_data["query"], form.cleaned_data["first_asked"]]
    questions = [each for each in words if each.strip()]
    if save.cleaned_data["profile"] == OFF_TOPIC:
        watching.off_topic(slug, questions, by=by)
    else:
        watching.examined(slug, questions, by=by)
