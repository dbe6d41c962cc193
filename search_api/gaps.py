"""Questions that found nothing or little: one row a question, however often it was asked."""

from __future__ import annotations

import hashlib
import unicodedata
from collections.abc import Iterable, Sequence
from datetime import datetime, timedelta
from typing import Final

from django.db.models import Count, F, QuerySet

from evidence import curation
from evidence.ports import Actor
from publishing.retrieval import Confidence
from search_api.models import Gap, GapState, SearchLogEntry

WEEK: Final = timedelta(days=7)
UNDECIDED: Final = (GapState.OPEN, GapState.ANSWERED)
"""What no person has decided about yet."""


def key_of(question: str) -> str:
    """Give what equal questions share: their words, whatever case, spacing or last mark."""
    text = unicodedata.normalize("NFKC", question).casefold()
    words = " ".join(text.split()).strip("?!.… ")
    return hashlib.sha256(words.encode("utf-8", "surrogatepass")).hexdigest()


def learn(entries: Iterable[SearchLogEntry]) -> None:
    """Count each weak answer as a gap, and close the gap of each question answered since.

    Where a person decided already the decision stays, and the gap says that it is answered.
    """
    for entry in entries:
        if not entry.question or not entry.confidence:
            continue
        if entry.confidence == Confidence.WEAK:
            _count(entry)
        else:
            _rows(entry).update(answered_at=entry.at)
            _rows(entry).filter(state=GapState.OPEN).update(state=GapState.ANSWERED)


def _count(entry: SearchLogEntry) -> None:
    row = Gap(
        workspace=entry.workspace,
        question_key=entry.question_key,
        question=entry.question,
        times_asked=0,
        first_asked_at=entry.at,
        last_asked_at=entry.at,
    )
    Gap.objects.bulk_create([row], ignore_conflicts=True)
    _rows(entry).update(
        times_asked=F("times_asked") + 1,
        last_asked_at=entry.at,
        purpose=entry.purpose,
        result_count=entry.result_count,
        best_dense=entry.best_dense,
        answered_at=None,
    )
    _rows(entry).filter(state=GapState.ANSWERED).update(state=GapState.OPEN)


def _rows(entry: SearchLogEntry) -> QuerySet[Gap]:
    return Gap.objects.filter(workspace=entry.workspace, question_key=entry.question_key)


def write_note(*, gap: Gap, name: str, text: str, author: Actor) -> str:
    """Save a source note that answers a gap, in one commit, and give the commit.

    Raises what `curation.add_source` raises; the gap then stays as it is.
    """
    commit = curation.add_source(workspace=gap.workspace, name=name, text=text, author=author)
    path = f"source/{name.strip().removeprefix('source/')}"
    Gap.objects.filter(pk=gap.pk).update(
        state=GapState.NOTED, decided_by=author.username, note_path=path
    )
    return commit


def dismiss(*, gap: Gap, author: Actor) -> None:
    """Set a gap aside: the workspace need not answer this."""
    Gap.objects.filter(pk=gap.pk).update(state=GapState.DISMISSED, decided_by=author.username)


class GapQuestions:
    """Gaps as `publishing.ports.OpenQuestions` is told of what joins an exam."""

    def examined(self, workspace: str, questions: Sequence[str], *, by: str) -> None:
        """Settle gaps that the exam asks about from now on: each exam tells how they fare."""
        _settle(workspace, questions, state=GapState.EXAMINED, decided_by=by)

    def off_topic(self, workspace: str, questions: Sequence[str], *, by: str) -> None:
        """Set aside gaps that the workspace is not meant to answer."""
        _settle(workspace, questions, state=GapState.DISMISSED, decided_by=by)


def _settle(workspace: str, questions: Sequence[str], *, state: GapState, decided_by: str) -> None:
    keys = {key_of(each) for each in questions}
    undecided = Gap.objects.filter(workspace=workspace, question_key__in=keys, state__in=UNDECIDED)
    undecided.update(state=state, decided_by=decided_by)


def open_this_week(workspaces: Iterable[str], *, now: datetime) -> dict[str, int]:
    """Give how many questions of the last seven days wait for knowledge, by slug; one query."""
    slugs = tuple(workspaces)
    waiting = Gap.objects.filter(
        workspace__in=slugs, state=GapState.OPEN, last_asked_at__gte=now - WEEK
    )
    counted = waiting.order_by().values_list("workspace").annotate(Count("pk"))
    return dict.fromkeys(slugs, 0) | dict(counted)


def sweep(*, before: datetime) -> None:
    """Forget gaps that nobody asked since."""
    Gap.objects.filter(last_asked_at__lt=before).delete()
