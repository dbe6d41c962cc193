"""A web process of four threads that asks until it is told to stop."""

from __future__ import annotations

from collections import Counter
from threading import Event, Lock, Thread

from django.db import connection

from publishing import retrieval
from publishing.domain.query import build_request
from publishing.retrieval import Available
from tests.publishing.making import SLUG
from tests.robustness.programs.outcomes import counted

QUESTION = build_request({"query": "Che cosa è il codice triage?", "purpose": "sql_generation"})
_ended = Event()
_lock = Lock()
_total: Counter[str] = Counter()
_threads: list[Thread] = []


def obey(threads: int) -> dict[str, int]:
    """Start this many threads; none at all means to stop them and to count their answers."""
    if threads:
        _threads.extend(Thread(target=_ask) for _ in range(threads))
        for thread in _threads:
            thread.start()
        return {}
    _ended.set()
    for thread in _threads:
        thread.join()
    return dict(_total)


def _ask() -> None:
    def ask(_: int) -> None:
        outcome = retrieval.search(SLUG, QUESTION)
        assert isinstance(outcome, Available), outcome.code
        _ended.wait(0.05)

    try:
        while not _ended.is_set():
            found = counted(ask, times=20)
            with _lock:
                _total.update(found)
    finally:
        connection.close()
