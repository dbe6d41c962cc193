"""Dismiss warnings about two units after a look at both, and bring them back."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

from django.contrib import messages
from django.core.paginator import Paginator
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseRedirect
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from evidence import dismissing
from evidence.admin.pages import (
    CURATE,
    ReadablePage,
    actor_of,
    address,
    listed,
    may,
    require,
    say_fault,
)
from evidence.admin.pairs import QUESTIONS, asked_for, pairs_of
from evidence.dismissed import Dismissed, dismissals_of, standing
from evidence.dismissing import Warned
from evidence.faults import Fault
from evidence.models import Workspace

A_PAGE: Final = 50


def respond(page: ReadablePage, request: HttpRequest) -> HttpResponse:
    """Show the units of the warnings that are asked for; on a post dismiss these in one commit."""
    if request.method != "POST":
        return ask(page, request, _workspace(request), asked_for(request.GET))
    require(request, CURATE)
    workspace, asked = _workspace(request), asked_for(request.POST)
    try:
        dismissing.dismiss(workspace=workspace.slug, warnings=asked, author=actor_of(request))
    except Fault as fault:
        say_fault(request, fault)
        response = ask(page, request, workspace, asked)
        response.status_code = 422
        return response
    words = ngettext(
        "Dismissed, in your name. The warning comes back when one of the two units changes.",
        "Dismissed, in your name. A warning comes back when one of its two units changes.",
        len(asked),
    )
    messages.success(request, words)
    return HttpResponseRedirect(_list(workspace))


def ask(
    page: ReadablePage, request: HttpRequest, workspace: Workspace, asked: Sequence[Warned]
) -> HttpResponse:
    """Show both units of each warning that still stands, and the button that dismisses them."""
    context = {
        "pairs": pairs_of(workspace, asked),
        "workspace": workspace,
        "may_edit": may(request, CURATE),
        "title": _("Compare two units"),
        "back": _list(workspace),
    }
    return page.page(request, None, "evidence/dismiss.html", **context)


def dismissed(page: ReadablePage, request: HttpRequest) -> HttpResponse:
    """Show what was dismissed, fifty a page, and whether it still holds."""
    workspace = _workspace(request)
    paging = Paginator(dismissals_of(workspace), A_PAGE).get_page(request.GET.get("p"))
    context = {
        "rows": [_row(each) for each in standing(workspace, list(paging.object_list))],
        "paging": paging,
        "workspace": workspace,
        "may_edit": may(request, CURATE),
        "title": _("Dismissed warnings"),
        "back": _list(workspace),
    }
    return page.page(request, None, "evidence/dismissed.html", **context)


def restore(request: HttpRequest) -> HttpResponse:
    """Bring one dismissed warning back in one commit."""
    require(request, CURATE)
    workspace, line = _workspace(request), request.POST.get("line", "")
    try:
        dismissing.restore(workspace=workspace.slug, lines=(line,), author=actor_of(request))
    except Fault as fault:
        say_fault(request, fault)
    else:
        messages.success(request, _("No longer dismissed, in your name."))
    return HttpResponseRedirect(dismissed_address(workspace))


@dataclass(frozen=True, slots=True)
class Counted:
    """How many warnings of a workspace are on the list of dismissed ones, and where that is."""

    title: str
    count: int
    link: str


def counted(slug: str | None) -> list[Counted]:
    """Count the dismissed warnings of each workspace that has any, or of this one; one query."""
    rows = Workspace.objects.exclude(dismissals_yaml="")
    found = [
        Counted(row.title, len(dismissals_of(row)), dismissed_address(row))
        for row in rows
        if slug in {None, row.slug}
    ]
    return [each for each in found if each.count]


def dismissed_address(workspace: Workspace) -> str:
    """Give where the dismissed warnings of a workspace are listed."""
    return f"{address('evidence_findingrecord_dismissed')}?workspace={workspace.slug}"


def _row(each: Dismissed) -> dict[str, Any]:
    units = list(zip(each.ids, each.units, strict=True))
    return {"told": each, "question": QUESTIONS[each.code], "units": units}


def _list(workspace: Workspace) -> str:
    return listed("evidence_findingrecord", workspace=workspace.slug)


def _workspace(request: HttpRequest) -> Workspace:
    slug = request.POST.get("workspace") or request.GET.get("workspace") or ""
    row = None if "\0" in slug else Workspace.objects.filter(slug=slug).first()
    if row is None:
        raise Http404
    return row
