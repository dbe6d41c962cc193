"""Units that people have seen before: what they quote stays theirs, and keeps their words."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import replace

from evidence.adapters.rules.drafts import Draft
from evidence.adapters.rules.names import bare
from evidence.adapters.rules.note import Note
from evidence.adapters.rules.spans import Span
from evidence.domain.identifiers import slug_of
from evidence.domain.normalization import contains_excerpt
from evidence.domain.payloads import EnumPayload
from evidence.domain.text import normalize_text
from evidence.domain.units import CuratedEvidence, EvidenceKind
from evidence.ports import RestructureCandidate


def keep_quoted(
    units: Iterable[CuratedEvidence], note: Note, *, told: Collection[Span]
) -> tuple[CuratedEvidence, ...]:
    """Give the units whose excerpts all occur, and speak for the places they quote.

    The same words in two places are two places: the longest excerpts choose first, and each takes
    a free one where there is one, of those rather one that a reading without units quotes (`told`).
    """
    kept = tuple(unit for unit in units if _is_supported(unit, note.text))
    excerpts = [_searched(each) for unit in kept for each in unit.provenance.supporting_excerpts]
    for excerpt in sorted(excerpts, key=len, reverse=True):
        places = _places(excerpt, note.text)
        note.take([min(places, key=lambda place: (not note.is_free(place), place not in told))])
    return kept


def _is_supported(unit: CuratedEvidence, text: str) -> bool:
    return all(contains_excerpt(text, each) for each in unit.provenance.supporting_excerpts)


def _searched(excerpt: str) -> str:
    return normalize_text(excerpt).rstrip("\n")


def _places(excerpt: str, text: str) -> Iterator[Span]:
    position = text.find(excerpt)
    while position >= 0:
        yield Span(position, position + len(excerpt), excerpt)
        position = text.find(excerpt, position + len(excerpt))


def unchanged(unit: CuratedEvidence) -> RestructureCandidate:
    """Give a previous unit back as it is, open and resolved items and all."""
    return RestructureCandidate(
        existing_id=unit.id,
        kind=unit.kind,
        title=unit.title,
        purposes=unit.purposes,
        scope=unit.scope,
        excerpts=unit.provenance.supporting_excerpts,
        payload=unit.payload.model_dump(exclude_defaults=True),
        body=unit.body,
        review_items=unit.review_items,
    )


def matched(
    drafts: Sequence[Draft],
    lost: Sequence[CuratedEvidence],
    *,
    kept: Collection[CuratedEvidence],
    text: str,
) -> Iterator[RestructureCandidate]:
    """Give the candidates of all drafts; one that renews a unit without support takes its id.

    It keeps the unit's title and purposes, which are a person's choice by now.
    """
    waiting = {unit.id: unit for unit in lost}
    for draft in drafts:
        if _is_known(draft, kept):
            continue
        candidate = draft.candidate(text)
        unit = next((each for each in waiting.values() if _is_same(draft, each)), None)
        if unit is not None:
            del waiting[unit.id]
            candidate = replace(
                candidate, existing_id=unit.id, title=unit.title, purposes=unit.purposes
            )
        yield candidate


def _is_same(draft: Draft, unit: CuratedEvidence) -> bool:
    if draft.kind is not unit.kind:
        return False
    if isinstance(unit.payload, EnumPayload):
        return draft.payload.get("column") == unit.payload.column
    return slug_of(bare(draft.title)) == slug_of(unit.title)


def _is_known(draft: Draft, kept: Collection[CuratedEvidence]) -> bool:
    """Tell whether kept units hold every value of an enum draft: a long list is quoted in part."""
    if draft.kind is not EvidenceKind.ENUM:
        return False
    known = {
        (unit.payload.column, entry.value, entry.meaning)
        for unit in kept
        if isinstance(unit.payload, EnumPayload)
        for entry in unit.payload.values
    }
    values = draft.payload["values"]
    return isinstance(values, tuple) and all(
        (draft.payload["column"], entry["value"], entry["meaning"]) in known for entry in values
    )
