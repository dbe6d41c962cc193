"""Ask what people asked lately of a candidate and of what answers now: which answers would change.

Both are asked as the API asks, one after the other, in one run. The questions may hold personal
data: they are kept with the rehearsal no longer than the search log keeps them, and never logged.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Final

import structlog

from evidence.faults import OperatorFault, OutsideFault
from evidence.messages import Message, gettext_noop
from publishing.domain import replay
from publishing.domain.query import SearchRequest
from publishing.domain.replay import Answer, Replay
from publishing.generations import LiveGeneration
from publishing.hybrid import search_generation
from publishing.parts import EmbedderChanged
from publishing.ports import Beat, Embedder, QuestionLog, RecentQuestions, VectorStore

log = structlog.get_logger(__name__)
DAYS: Final = 14
"""How far back questions are taken from the log."""
MOST: Final = 100
"""How many different questions are asked again, the last asked first."""


@dataclass(frozen=True, slots=True)
class Sides:
    """The two generations that are asked, and with what."""

    active: LiveGeneration
    candidate: LiveGeneration
    store: VectorStore
    embedder: Embedder


@dataclass(frozen=True, slots=True)
class Replayed:
    """What was found, and until when its questions may be kept; None when there are none."""

    found: Replay
    until: datetime | None


def find(sides: Sides, *, questions: QuestionLog, now: datetime, beat: Beat) -> Replayed:
    """Give the questions of the last days whose answer changes, what matters most first.

    Raises the faults of the candidate's store and of the embedder, and what `beat` does; a fault
    of what answers now is kept as a code, since it says nothing about the candidate.
    """
    workspace = sides.active.stored.workspace
    recent = questions.recent(workspace, now=now, days=DAYS, most=MOST)
    found = _nothing(recent)
    for request in recent.questions:
        beat()
        after = _answer(sides, sides.candidate, request)
        try:
            before = _answer(sides, sides.active, request)
        except (OperatorFault, OutsideFault) as fault:
            log.warning("active_not_replayed", code=fault.code, why=str(fault.message))
            return Replayed(_nothing(recent) | {"problem": fault.code}, until=None)
        _add(found, request, before, after)
    found["differences"].sort(key=replay.weight)
    return Replayed(found, recent.until if found["differences"] else None)


def _nothing(recent: RecentQuestions) -> Replay:
    return Replay(
        off=recent.off,
        problem="",
        days=recent.days,
        distinct=recent.distinct,
        asked=0,
        unrepeatable=recent.unrepeatable,
        behind=0,
        differences=[],
    )


def _add(found: Replay, request: SearchRequest, before: Answer, after: Answer) -> None:
    found["asked"] += 1
    one = replay.difference(request, before, after)
    if one:
        found["differences"].append(one)
    elif before != after:
        found["behind"] += 1


def _answer(sides: Sides, live: LiveGeneration, request: SearchRequest) -> Answer:
    """Ask one side. Raises `EmbedderChanged` and the faults of store and embedder."""
    if live.embedder != sides.embedder.id:
        raise EmbedderChanged(
            Message(
                gettext_noop("Built with %(built)s; the portal uses %(used)s now."),
                built=live.embedder,
                used=sides.embedder.id,
            )
        )
    found = search_generation(
        live.stored,
        request,
        store=sides.store,
        embedder=sides.embedder,
        threshold=live.threshold,
    )
    return replay.answer_of(found.units, found.confidence)
