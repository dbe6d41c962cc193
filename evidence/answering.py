"""Get one answer for every source: a kept one, or exactly one call, of which good ones are kept."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial

from evidence.candidates import DOUBTS, units_from
from evidence.domain.codec import dump_curated_markdown
from evidence.domain.manifest import PIPELINE_VERSION
from evidence.domain.memory import NOTHING_KNOWN, Memory
from evidence.domain.normalization import source_hash
from evidence.domain.readings import Reading, ReadingOutcome, Witness, nobody
from evidence.domain.suspicions import has_personal_data
from evidence.faults import CuratorFault
from evidence.messages import Message, gettext_noop
from evidence.ports import (
    AnswerCache,
    RestructureCandidate,
    Restructurer,
    RestructureRequest,
)
from evidence.restructuring import Answer, Progress, ask_all
from evidence.situation import PreparationRefused

CONCURRENCY = 4


@dataclass(frozen=True, slots=True)
class Terms:
    """On what terms sources are asked about.

    `notes` are the curator's, by source path; `cache` is used only where an answer costs something;
    `witness` is told how each source was read; `known` is what the last preparation left.
    """

    concurrency: int = CONCURRENCY
    cache: AnswerCache | None = None
    personal_data_confirmed: bool = False
    notes: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    witness: Witness = nobody
    known: Memory = NOTHING_KNOWN


@dataclass(frozen=True, slots=True)
class Answers:
    """One answer per request, in their order, and how many came from the cache."""

    all: tuple[Answer, ...]
    cached: int


class PersonalDataUnconfirmed(PreparationRefused):
    """A note seems to hold personal data and would leave this machine."""

    code = "personal_data_suspected"
    hint = gettext_noop(
        "Take the data out, or confirm that it may be sent (--confirm-personal-data)."
    )


def answers_for(
    restructurer: Restructurer,
    requests: Sequence[RestructureRequest],
    *,
    terms: Terms,
    progress: Progress,
) -> Answers:
    """Give an answer for each request (spec 20, Preparation, step 2).

    Each answer of a restructurer that is not local is checked when it comes and kept if it passes,
    also when another source fails. Raises `PersonalDataUnconfirmed` before any call,
    `CandidateRefused`, or a fault of the restructurer; each names the source.
    """
    noted = [
        replace(each, curator_notes=terms.notes.get(each.source_file, ())) for each in requests
    ]
    if restructurer.local:
        ask, kept = restructurer.restructure, {}
    else:
        ask = partial(_ask, restructurer, terms.cache)
        kept = dict(_kept(restructurer, noted, terms.cache))
    missing = [request for request in noted if request.source_file not in kept]
    if not (restructurer.local or terms.personal_data_confirmed):
        _refuse_personal_data(missing)
    for source, answer in kept.items():
        terms.witness(Reading(source, ReadingOutcome.CACHED, units=len(answer)))
    asked = ask_all(
        ask,
        missing,
        concurrency=terms.concurrency,
        progress=progress,
        witness=terms.witness,
    )
    found = kept | {each.source_file: answer for each, answer in zip(missing, asked, strict=True)}
    return Answers(tuple(found[request.source_file] for request in noted), cached=len(kept))


def cache_key(restructurer: Restructurer, request: RestructureRequest) -> str:
    """Give 64 hex digits that change with everything an answer depends on."""
    parts = {
        "pipeline": PIPELINE_VERSION,
        "restructurer": [restructurer.name, restructurer.model, restructurer.skill_digest],
        "source": [request.source_sha256, source_hash(request.normalized_text)],
        "previous": [dump_curated_markdown(unit) for unit in request.previous_units],
        "notes": request.curator_notes,
        "language": request.language,
    }
    return hashlib.sha256(json.dumps(parts, sort_keys=True).encode()).hexdigest()


def _kept(
    restructurer: Restructurer, requests: Sequence[RestructureRequest], cache: AnswerCache | None
) -> Iterator[tuple[str, Answer]]:
    if cache is None:
        return
    for request in requests:
        answer = cache.get(cache_key(restructurer, request))
        if answer is not None and _passes(request, answer):
            yield request.source_file, answer


def _passes(request: RestructureRequest, answer: Answer) -> bool:
    """Check a kept answer again: the rules may have become stricter since."""
    try:
        units_from(request, answer, taken=())
    except CuratorFault:
        return False
    return True


def _ask(
    restructurer: Restructurer, cache: AnswerCache | None, request: RestructureRequest
) -> Answer:
    answer = tuple(_doubted(each, request) for each in restructurer.restructure(request))
    units_from(request, answer, taken=())  # raises: a refused answer is never kept
    if cache is not None:
        cache.put(cache_key(restructurer, request), answer)
    return answer


def _doubted(candidate: RestructureCandidate, request: RestructureRequest) -> RestructureCandidate:
    """Give back the open doubts of the unit that is meant: a model raises them, people settle them.

    Only what says that the unit had lost its source may go, now that it is found again.
    """
    known = next((u for u in request.previous_units if u.id == candidate.existing_id), None)
    if known is None:
        return candidate
    said = {(item.code, item.field) for item in candidate.review_items}
    silenced = tuple(
        item
        for item in known.review_items
        if item.code not in DOUBTS and (item.code, item.field) not in said
    )
    return replace(candidate, review_items=(*candidate.review_items, *silenced))


def _refuse_personal_data(requests: Sequence[RestructureRequest]) -> None:
    paths = [each.source_file for each in requests if has_personal_data(each.normalized_text)]
    if paths:
        template = gettext_noop(
            "%(count)s notes that a model elsewhere would read seem to hold personal data."
        )
        raise PersonalDataUnconfirmed(Message(template, count=len(paths)), path=paths[0])
