"""The search log: how each search went, written behind the answer's back and kept some days.

A search never waits for it: on SQLite a writer may wait seconds for another one. Entries wait in a
bounded queue; a thread of the process writes them together, and a full queue drops the newest.
"""

from __future__ import annotations

import atexit
import logging
import queue
import threading
from datetime import datetime, timedelta
from typing import Final

from django.conf import settings
from django.db import DatabaseError, close_old_connections, transaction

from publishing import retrieval
from search_api import gaps, question_log
from search_api.models import SearchLogEntry

logger = logging.getLogger(__name__)

WAITING: Final = 1_000
BATCH: Final = 100
EVERY_S: Final = 0.5
MAX_ROWS: Final = 200_000
"""However many days are kept; the oldest go first."""
ANSWERED: Final = "available"
_waiting: queue.Queue[SearchLogEntry] = queue.Queue(WAITING)
_starting = threading.Lock()
_started = threading.Event()


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
    try:
        _waiting.put_nowait(entry)
    except queue.Full:
        logger.warning("The search log cannot keep up: an entry is dropped.")
    if settings.SEARCH_API["log_at_once"]:
        write_waiting()
    else:
        _start()


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


def write_waiting() -> int:
    """Write what waits, with the gaps it shows, and give how many; a broken database drops it."""
    entries = _taken()
    if not entries:
        return 0
    try:
        with transaction.atomic():
            SearchLogEntry.objects.bulk_create(entries)
            gaps.learn(entries)
    except DatabaseError as error:
        logger.warning("The search log was not written: %s", type(error).__name__)
    return len(entries)


def _taken() -> list[SearchLogEntry]:
    entries: list[SearchLogEntry] = []
    while len(entries) < BATCH:
        try:
            entries.append(_waiting.get_nowait())
        except queue.Empty:
            break
    return entries


def _start() -> None:
    """Start the writer at the first search of this process: a fork before would lose it."""
    with _starting:
        if not _started.is_set():
            _started.set()
            threading.Thread(target=_write_forever, name="search-log", daemon=True).start()
            atexit.register(write_waiting)


def _write_forever() -> None:
    while not threading.Event().wait(EVERY_S):
        close_old_connections()
        while write_waiting() == BATCH:
            continue


def sweep(*, now: datetime) -> int:
    """Forget searches and gaps older than the settings say, and give how many went."""
    before = now - timedelta(days=settings.SEARCH_API["log_days"])
    gone, _rows = SearchLogEntry.objects.filter(at__lt=before).delete()
    gaps.sweep(before=before)
    edge = SearchLogEntry.objects.order_by("-pk").values_list("pk", flat=True)[MAX_ROWS:][:1]
    for pk in edge:
        gone += SearchLogEntry.objects.filter(pk__lte=pk).delete()[0]
    return gone
