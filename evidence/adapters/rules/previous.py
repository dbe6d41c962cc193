"""Units that people have seen before: what they quote stays theirs, and keeps their words."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import replace

from evidence.adapters.rules.drafts import Draft
from evidence.adapters.rules.names import bare
from evidence.adapters.rules.outline import Span
from evidence.domain.identifiers import slug_of
from evidence.domain.normalization import excerpt_position
from evidence.domain.payloads import EnumPayload
from evidence.domain.text import normalize_text
from evidence.domain.units import CuratedEvidence, EvidenceKind
from evidence.ports import RestructureCandidate


def coverage(unit: CuratedEvidence, text: str) -> tuple[Span, ...] | None:
    """Give the places a unit quotes, or None when one of its excerpts no longer occurs."""
    places = []
    for excerpt in unit.provenance.supporting_excerpts:
        position = excerpt_position(text, excerpt)
        if position is None:
            return None
        wanted = normalize_text(excerpt).rstrip("\n")
        places.append(Span(position, position + len(wanted), wanted))
    return tuple(places)


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
