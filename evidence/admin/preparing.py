"""The button that starts a preparation, wherever it stands."""

from __future__ import annotations

from dataclasses import dataclass

from django.db import transaction
from django.db.models import Count, Q
from django.http import HttpRequest, HttpResponse

from evidence import conf, runs, tasks
from evidence.admin.pages import actor_of, go, say_fault
from evidence.faults import Fault
from evidence.models import SourceState, Workspace

WAITING = (SourceState.NEW, SourceState.CHANGED, SourceState.REMOVED)


@dataclass(frozen=True, slots=True)
class Waiting:
    """How many notes of a workspace the last preparation has not seen."""

    slug: str
    title: str
    count: int


def start(
    request: HttpRequest,
    slug: str,
    *,
    only: tuple[str, ...] = (),
    personal_data_confirmed: bool = False,
) -> HttpResponse:
    """Start a preparation and go to its page; the task is sent once the row is committed."""
    try:
        run = runs.start_preparation(
            workspace=slug,
            requested_by=actor_of(request).username,
            restructurer=conf.current().restructurer,
            only=only,
            personal_data_confirmed=personal_data_confirmed,
        )
    except Fault as fault:
        say_fault(request, fault)
        return go("evidence_sourcerecord_changelist")
    # Robust: without a broker the timetable sends the run a minute later.
    transaction.on_commit(lambda: tasks.prepare_workspace.delay(str(run.pk)), robust=True)
    return go("evidence_preparationrun_change", run.pk)


def waiting(request: HttpRequest) -> list[Waiting]:
    """Give the workspaces in which notes wait, narrowed as the list is."""
    rows = Workspace.objects.annotate(
        count=Count("sources", filter=Q(sources__state__in=WAITING))
    ).filter(count__gt=0)
    asked = request.GET.get("workspace")
    return [Waiting(row.slug, row.title, row.count) for row in rows if asked in {None, row.slug}]
