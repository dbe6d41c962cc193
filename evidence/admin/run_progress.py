"""How far preparations are, in words, badges and rows, for every page that shows them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from django.db.models import Count, QuerySet
from django.utils.formats import date_format, number_format
from django.utils.safestring import SafeString
from django.utils.timezone import localtime
from django.utils.translation import gettext

from evidence.admin.pages import address, listed
from evidence.admin.wording import badge
from evidence.domain.readings import ReadingOutcome
from evidence.domain.runs import OPEN, UNFINISHED, RunState
from evidence.models import PreparationRun, SourceReading

RUN_TONES = {
    RunState.WAITING: "info",
    RunState.RUNNING: "info",
    RunState.PROPOSED: "warn",
    RunState.ACCEPTED: "ok",
    RunState.FAILED: "bad",
}
READING_TONES = {
    ReadingOutcome.ASKED: "ok",
    ReadingOutcome.CACHED: "ok",
    ReadingOutcome.FAILED: "bad",
    ReadingOutcome.REFUSED: "bad",
}
MAX_ROWS = 50
"""Newest first on the page of a run; the list of notes read has them all."""


@dataclass(frozen=True, slots=True)
class OpenRun:
    """A preparation that runs, or whose proposal waits for a decision."""

    workspace: str
    is_running: bool
    link: str
    progress: str
    words: str
    done: int
    total: int


def open_runs() -> tuple[OpenRun, ...]:
    """Give the preparations of all workspaces that are not over, the oldest first: one query."""
    rows = PreparationRun.objects.select_related("workspace").filter(state__in=OPEN)
    return tuple(
        OpenRun(
            workspace=run.workspace.slug,
            is_running=run.state in UNFINISHED,
            link=address("evidence_preparationrun_change", run.pk),
            progress=address("evidence_preparationrun_progress", run.pk),
            words=progress_words(run),
            done=run.sources_done,
            total=run.sources_total,
        )
        for run in rows.order_by("requested_at")
    )


def when(run: PreparationRun) -> str:
    """Give the moment a run was asked for, as people of the reader's language write it."""
    return date_format(localtime(run.requested_at), "SHORT_DATETIME_FORMAT")


def run_badge(run: PreparationRun) -> SafeString:
    """Give the state of a run as a badge."""
    state = RunState(run.state)
    return badge(gettext(state.label), RUN_TONES.get(state, ""))


def progress_words(run: PreparationRun) -> str:
    """Say how far a run is, for people and screen readers."""
    if run.state == RunState.WAITING:
        return gettext("Waiting for a worker…")
    if run.state == RunState.RUNNING and run.sources_total:
        counts = {"done": run.sources_done, "total": run.sources_total}
        return gettext("%(done)s of %(total)s notes read") % counts
    if run.state == RunState.RUNNING:
        return gettext("Looking at what has changed…")
    return gettext(RunState(run.state).label)


def progress_json(run: PreparationRun) -> dict[str, Any]:
    """Give what the page of a running preparation asks for every two seconds."""
    return {
        "ended": run.state not in UNFINISHED,
        "done": run.sources_done,
        "total": run.sources_total,
        "words": progress_words(run),
        "rows": [
            {"name": row.source_file, "words": outcome_words(row), "tone": tone_of(row)}
            for row in _readings(run).order_by("-pk")[:MAX_ROWS]
        ],
    }


def readings_context(run: PreparationRun) -> dict[str, Any]:
    """Give how the notes of a run's last attempt were read: counts, rows, and the whole list."""
    rows = _readings(run)
    counted = dict(rows.order_by().values_list("outcome").annotate(count=Count("pk")))
    return {
        "readings": [_shown(row) for row in rows.order_by("-pk")[:MAX_ROWS]],
        "readings_count": sum(counted.values()),
        "readings_failed": counted.get(ReadingOutcome.FAILED, 0),
        "readings_kept": counted.get(ReadingOutcome.ASKED, 0)
        + counted.get(ReadingOutcome.CACHED, 0),
        "readings_link": listed("evidence_sourcereading", run__id__exact=str(run.pk)),
    }


def outcome_badge(row: SourceReading) -> SafeString:
    """Give how a note was read as a badge."""
    return badge(outcome_words(row), f"{tone_of(row)}")


def outcome_words(row: SourceReading) -> str:
    """Say how a note was read."""
    return gettext(ReadingOutcome(row.outcome).label)


def tone_of(row: SourceReading) -> str:
    """Give the colour of how a note was read."""
    return READING_TONES[ReadingOutcome(row.outcome)]


def duration_words(milliseconds: float | None) -> str:
    """Give a duration in seconds as the reader writes numbers; a dash for none."""
    if milliseconds is None:
        return "-"
    seconds = milliseconds / 1000
    digits = 2 if seconds < 1 else 1
    return gettext("%(seconds)s s") % {"seconds": number_format(seconds, decimal_pos=digits)}


def _readings(run: PreparationRun) -> QuerySet[SourceReading]:
    return SourceReading.objects.filter(run=run, attempt=run.attempts)


def _shown(row: SourceReading) -> dict[str, Any]:
    return {
        "path": row.source_file,
        "badge": outcome_badge(row),
        "duration": duration_words(row.duration_ms),
        "units": row.units,
        "code": row.code,
    }
