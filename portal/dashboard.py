"""The home page: each workspace in numbers that lead to their rows, and one next step in words."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from django.http import HttpRequest
from django.utils import timezone
from django.utils.translation import gettext, ngettext

from evidence import overview as knowledge
from evidence.admin.pages import address, listed, may
from evidence.admin.run_progress import OpenRun, open_runs
from evidence.admin.wording import short
from evidence.overview import WorkspaceSummary
from portal.next_step import NextStep, next_step
from publishing import overview as publication
from publishing.admin.wording import percent, progress_words
from publishing.domain.lifecycle import UNFINISHED
from publishing.overview import GenerationSummary, PublicationStatus
from search_api import gaps


@dataclass(frozen=True, slots=True)
class Number:
    """A count with its words and the rows behind it; `tone` colours it when it is not zero."""

    count: int
    words: str
    link: str
    tone: str = ""


@dataclass(frozen=True, slots=True)
class Task:
    """Something that runs, with where to watch it and where to ask how far it is."""

    title: str
    link: str
    progress: str
    words: str
    done: int
    total: int


@dataclass(frozen=True, slots=True)
class WorkspaceCard:
    """Everything the home page says about one workspace."""

    summary: WorkspaceSummary
    status: PublicationStatus
    next_step: NextStep
    knowledge: tuple[Number, ...]
    working: tuple[Task, ...]
    hit_at_5: str
    hit_at_10: str
    worst: tuple[str, ...]


def home(request: HttpRequest, context: dict[str, Any]) -> dict[str, Any]:
    """Fill the home page for Unfold (`DASHBOARD_CALLBACK`)."""
    if not may(request, "evidence.view_workspace"):
        return context
    summaries, runs = knowledge.workspaces(), open_runs()
    unanswered = gaps.open_this_week([each.slug for each in summaries], now=timezone.now())
    statuses = publication.statuses({each.slug: each.head for each in summaries})
    cards = [
        _card(
            request,
            summary,
            statuses[summary.slug],
            [run for run in runs if run.workspace == summary.slug],
            unanswered[summary.slug],
        )
        for summary in summaries
    ]
    return context | {
        "title": gettext("Home"),
        "cards": cards,
        "is_working": any(card.working for card in cards),
    }


def _card(
    request: HttpRequest,
    summary: WorkspaceSummary,
    status: PublicationStatus,
    runs: Sequence[OpenRun],
    unanswered: int,
) -> WorkspaceCard:
    exam = status.active.evaluation if status.active else None
    return WorkspaceCard(
        summary=summary,
        status=status,
        next_step=next_step(summary, status, runs, lambda name: may(request, name)),
        knowledge=(*_numbers(summary), _unanswered(summary.slug, unanswered)),
        working=(*_preparing(runs), *_building(status.generations)),
        hit_at_5=percent(exam.hit_at_5) if exam else "",
        hit_at_10=percent(exam.hit_at_10) if exam else "",
        worst=exam.worst(3) if exam else (),
    )


def _preparing(runs: Sequence[OpenRun]) -> Iterator[Task]:
    title = gettext("Preparation of notes")
    for run in runs:
        if run.is_running:
            yield Task(title, run.link, run.progress, run.words, run.done, run.total)


def _building(generations: Sequence[GenerationSummary]) -> Iterator[Task]:
    for each in generations:
        if each.state in UNFINISHED:
            yield Task(
                title=gettext("Build of revision %(revision)s")
                % {"revision": short(each.revision)},
                link=address("publishing_generation_change", each.id),
                progress=address("publishing_generation_progress", each.id),
                words=progress_words(each),
                done=each.progress_done,
                total=each.progress_total,
            )


def _unanswered(slug: str, count: int) -> Number:
    words = ngettext(
        "question without an answer this week", "questions without an answer this week", count
    )
    rows = {"workspace": slug, "state__exact": "open", "asked": "week"}
    return Number(count, words, listed("search_api_gap", **rows), "warn")


def _numbers(summary: WorkspaceSummary) -> tuple[Number, ...]:
    slug, new, changed = summary.slug, summary.sources_new, summary.sources_changed
    removed, items, orphans = summary.sources_removed, summary.open_items, summary.orphans
    invalid, errors, stale = summary.invalid, summary.errors, summary.stale

    def sources(state: str) -> str:
        return listed("evidence_sourcerecord", workspace=slug, state__exact=state)

    def units(attention: str) -> str:
        return listed("evidence_unitrecord", workspace=slug, attention=attention)

    queue = listed("evidence_reviewitemrecord", workspace=slug)
    found = listed("evidence_findingrecord", workspace=slug, severity__exact="error")
    return (
        Number(new, ngettext("new note", "new notes", new), sources("new"), "warn"),
        Number(
            changed, ngettext("changed note", "changed notes", changed), sources("changed"), "warn"
        ),
        Number(
            removed, ngettext("removed note", "removed notes", removed), sources("removed"), "warn"
        ),
        Number(items, ngettext("open review item", "open review items", items), queue, "warn"),
        Number(orphans, ngettext("orphan", "orphans", orphans), units("orphan"), "warn"),
        Number(
            invalid,
            ngettext("unreadable unit", "unreadable units", invalid),
            units("invalid"),
            "bad",
        ),
        Number(
            stale,
            ngettext("unit to look at again", "units to look at again", stale),
            units("stale"),
            "warn",
        ),
        Number(
            errors,
            ngettext("error that blocks publication", "errors that block publication", errors),
            found,
            "bad",
        ),
    )
