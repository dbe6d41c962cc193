"""The one thing to do next in a workspace, in words and with a button (spec 40, Home)."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from django.utils.translation import gettext, ngettext

from evidence.admin.pages import CURATE, address, listed
from evidence.admin.run_progress import OpenRun
from evidence.overview import WorkspaceSummary
from publishing.domain.lifecycle import UNFINISHED
from publishing.overview import PublicationStatus
from publishing.permissions import APPROVE

Holds = Callable[[str], bool]
"""Tells whether the reader has a permission."""


@dataclass(frozen=True, slots=True)
class NextStep:
    """What to do, why, and where; `is_post` when the button starts something."""

    words: str
    hint: str = ""
    label: str = ""
    link: str = ""
    is_post: bool = False


def next_step(
    summary: WorkspaceSummary, status: PublicationStatus, runs: Sequence[OpenRun], may: Holds
) -> NextStep:
    """Give the first step that applies: what runs, waits, blocks, or can be approved."""
    return next(_steps(summary, status, runs, may))


def _steps(
    summary: WorkspaceSummary, status: PublicationStatus, runs: Sequence[OpenRun], may: Holds
) -> Iterator[NextStep]:
    yield from _proposal(runs)
    yield from _notes(summary, may)
    yield from _blocked(summary)
    yield from _publication(summary, status, may)
    yield NextStep(
        gettext("Nothing is waiting for you."),
        gettext("What is answered now is what the notes say. Write a note when you learn more."),
        gettext("Write a note") if may(CURATE) else "",
        f"{address('evidence_sourcerecord_write')}?workspace={summary.slug}",
    )


def _proposal(runs: Sequence[OpenRun]) -> Iterator[NextStep]:
    for run in runs:
        if run.is_running:
            yield NextStep(
                gettext("Notes are being prepared."),
                gettext("The proposal waits for you when it is ready."),
                gettext("Watch"),
                run.link,
            )
        else:
            yield NextStep(
                gettext("A proposal waits for your decision."),
                gettext("Compare each unit with the passage it rests on, then accept or discard."),
                gettext("Look at the proposal"),
                run.link,
            )


def _notes(summary: WorkspaceSummary, may: Holds) -> Iterator[NextStep]:
    count = summary.waiting
    if not count:
        return
    words = ngettext(
        "%(count)s note waits to be prepared.", "%(count)s notes wait to be prepared.", count
    )
    yield NextStep(
        words % {"count": count},
        gettext("Preparing a note proposes units of knowledge; nothing changes before you accept."),
        gettext("Prepare") if may(CURATE) else "",
        address("evidence_prepare", summary.slug),
        is_post=True,
    )


def _blocked(summary: WorkspaceSummary) -> Iterator[NextStep]:
    slug = summary.slug
    reasons = (
        (
            summary.invalid,
            ngettext(
                "%(count)s file cannot be read.", "%(count)s files cannot be read.", summary.invalid
            ),
            gettext("Repair it"),
            listed("evidence_unitrecord", workspace=slug, attention="invalid"),
        ),
        (
            summary.open_items,
            ngettext(
                "%(count)s review item is open before this revision can be published.",
                "%(count)s review items are open before this revision can be published.",
                summary.open_items,
            ),
            gettext("Settle the doubts"),
            listed("evidence_reviewitemrecord", workspace=slug),
        ),
        (
            summary.orphans,
            ngettext(
                "%(count)s unit has lost its source.",
                "%(count)s units have lost their source.",
                summary.orphans,
            ),
            gettext("Look at the orphans"),
            listed("evidence_unitrecord", workspace=slug, attention="orphan"),
        ),
        (
            summary.errors,
            ngettext(
                "%(count)s error blocks publication.",
                "%(count)s errors block publication.",
                summary.errors,
            ),
            gettext("Look at the findings"),
            listed("evidence_findingrecord", workspace=slug, severity__exact="error"),
        ),
    )
    for count, words, label, link in reasons:
        if count:
            yield NextStep(words % {"count": count}, "", label, link)


def _publication(
    summary: WorkspaceSummary, status: PublicationStatus, may: Holds
) -> Iterator[NextStep]:
    for generation in status.generations:
        if generation.state in UNFINISHED:
            yield NextStep(
                gettext("A revision is being built and examined."),
                gettext("The present answers stay until it has passed."),
                gettext("Watch"),
                address("publishing_generation_change", generation.id),
            )
    if status.behind != 0 and summary.publishable:
        yield NextStep(
            gettext("This revision can be published."),
            gettext("It answers once an approver has released it and it has passed its exam.")
            if may(APPROVE)
            else gettext("An approver has to release it."),
            gettext("Look and approve") if may(APPROVE) else gettext("See what is new"),
            address("publishing_release", summary.slug),
        )
