"""The home page: each workspace in numbers that lead to their rows, and one next step in words."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from django.http import HttpRequest

from evidence import overview as knowledge
from evidence.admin.pages import address, listed
from evidence.overview import WorkspaceSummary
from portal.next_step import NextStep, next_step
from publishing import overview as publication
from publishing.admin.wording import percent
from publishing.domain.lifecycle import UNFINISHED
from publishing.overview import GenerationSummary, PublicationStatus


@dataclass(frozen=True, slots=True)
class Number:
    """A count with its words and the rows behind it; `tone` colours it when it is not zero."""

    count: int
    words: str
    link: str
    tone: str = ""


@dataclass(frozen=True, slots=True)
class WorkspaceCard:
    """Everything the home page says about one workspace."""

    summary: WorkspaceSummary
    status: PublicationStatus
    next_step: NextStep
    knowledge: tuple[Number, ...]
    building: tuple[GenerationSummary, ...]
    hit_at_5: str
    hit_at_10: str
    worst: tuple[str, ...]


def home(request: HttpRequest, context: dict[str, Any]) -> dict[str, Any]:
    """Fill the home page for Unfold (`DASHBOARD_CALLBACK`)."""
    if not request.user.has_perm("evidence.view_workspace"):
        return context
    statuses = publication.statuses()
    cards = [_card(request, summary, statuses) for summary in knowledge.workspaces()]
    return context | {"cards": cards}


def _card(
    request: HttpRequest, summary: WorkspaceSummary, statuses: Mapping[str, PublicationStatus]
) -> WorkspaceCard:
    status = statuses[summary.slug]
    exam = status.active.evaluation if status.active else None
    return WorkspaceCard(
        summary=summary,
        status=status,
        next_step=next_step(summary, status, request.user.has_perm),
        knowledge=_numbers(summary),
        building=_building(status.generations),
        hit_at_5=percent(exam.hit_at_5) if exam else "",
        hit_at_10=percent(exam.hit_at_10) if exam else "",
        worst=exam.worst(3) if exam else (),
    )


def _building(generations: Sequence[GenerationSummary]) -> tuple[GenerationSummary, ...]:
    return tuple(each for each in generations if each.state in UNFINISHED)


def _numbers(summary: WorkspaceSummary) -> tuple[Number, ...]:
    slug = summary.slug

    def sources(state: str) -> str:
        return listed("evidence_sourcerecord", workspace=slug, state__exact=state)

    def units(attention: str) -> str:
        return listed("evidence_unitrecord", workspace=slug, attention=attention)

    errors = listed("evidence_findingrecord", workspace=slug, severity__exact="error")
    items = listed("evidence_reviewitemrecord", workspace=slug)
    return (
        Number(summary.sources_new, gettext("new notes"), sources("new"), "warn"),
        Number(summary.sources_changed, gettext("changed notes"), sources("changed"), "warn"),
        Number(summary.sources_removed, gettext("removed notes"), sources("removed"), "warn"),
        Number(summary.open_items, gettext("open review items"), items, "warn"),
        Number(summary.orphans, gettext("orphans"), units("orphan"), "warn"),
        Number(summary.invalid, gettext("unreadable units"), units("invalid"), "bad"),
        Number(summary.errors, gettext("errors"), errors, "bad"),
    )
