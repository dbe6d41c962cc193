"""The search log: how each search went, written behind the answer's back and kept some days.

A search never waits for it: on SQLite a writer may wait seconds for another one. Entries wait in
`waiting`; a thread of the process writes them together, and a full queue drops the newest.
"""

from __future__ import annotations

import logging
from datetime import datetime, timedelta
from typing import Final

from django.conf import settings
from django.db import Error, transaction

from publishing import retrieval
from search_api import gaps, question_log
from search_api.log_queue import LogQueue
from search_api.models import SearchLogEntry

logger = logging.getLogger(__name__)

WAITING: Final = 1_000
MAX_ROWS: Final = 200_000
"""However many days are kept; the oldest go first."""
ANSWERED: Final = "available"


def note(
    *,
    workspace: str,
    question: retrieval.SearchRequest,
    outcome: retrieval.Outcome,
    key_prefix: str,
    now: datetime,
) -> None:
    """Put a search on the log; never fails, and writes later unless the settings say at once."""
    entry = _entry(workspace, question, outcome)
    entry.key_prefix, entry.at = key_prefix, now
    if not waiting.put(entry):
        logger.warning("The search log cannot keep up: an entry is dropped.")
    if settings.SEARCH_API["log_at_once"]:
        waiting.write_waiting()
    else:
        waiting.write_behind()


def _entry(
    workspace: str, question: retrieval.SearchRequest, outcome: retrieval.Outcome
) -> SearchLogEntry:
    kept = settings.SEARCH_API["log_text"]
    words = question.query[: question_log.MAX_TEXT] if kept else ""
    entry = SearchLogEntry(
        workspace=workspace,
        purpose=question.purpose.value,
        question=words,
        question_key=gaps.key_of(words) if kept else "",
        **(question_log.repeatable(question) if kept else {}),
    )
    if isinstance(outcome, retrieval.Unavailable):
        entry.code = outcome.code.value
        return entry
    entry.code = ANSWERED
    entry.generation = outcome.generation
    entry.confidence = outcome.confidence
    entry.result_count = len(outcome.results)
    entry.best_dense = outcome.best_dense
    entry.lexical_hits = outcome.lexical_hits
    return entry


def write(entries: list[SearchLogEntry]) -> bool:
    """Write entries with the gaps they show, all or none, and tell whether that was possible."""
    try:
        with transaction.atomic():
            SearchLogEntry.objects.bulk_create(entries)
            gaps.learn(entries)
    except Error as error:  # a connection that cannot be had is no DatabaseError
        logger.warning("The search log was not written: %s", type(error).__name__)
        return False
    return True


waiting: Final = LogQueue(write, most=WAITING)


def sweep(*, now: datetime) -> int:
    """Forget searches and gaps older than the settings say, and give how many went."""
    before = now - timedelta(days=settings.SEARCH_API["log_days"])
    gone, _rows = SearchLogEntry.objects.filter(at__lt=before).delete()
    gaps.sweep(before=before)
    edge = SearchLogEntry.objects.order_by("-pk").values_list("pk", flat=True)[MAX_ROWS:][:1]
    for pk in edge:
        gone += SearchLogEntry.objects.filter(pk__lte=pk).delete()[0]
    return gone
