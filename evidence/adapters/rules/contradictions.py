"""Two drafts of one note that say different things about the same: both are doubted."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable

from evidence.adapters.rules.drafts import Draft
from evidence.adapters.rules.names import bare
from evidence.domain.units import EvidenceKind

_SUBJECT = {
    EvidenceKind.GLOSSARY: ("term", "definition"),
    EvidenceKind.FORMULA: ("concept", "sql"),
    EvidenceKind.MAPPING: ("term", "targets"),
}


def doubt_contradictions(drafts: Iterable[Draft]) -> tuple[Draft, ...]:
    """Give the drafts, those doubted that differ about one term, concept or stored value."""
    every = tuple(drafts)
    said: dict[tuple[str, str], set[str]] = defaultdict(set)
    for draft in every:
        for subject, statement in _statements(draft):
            said[subject].add(statement)
    return tuple(
        draft.doubting("source_contradicts_itself")
        if any(len(said[subject]) > 1 for subject, _ in _statements(draft))
        else draft
        for draft in every
    )


def _statements(draft: Draft) -> Iterable[tuple[tuple[str, str], str]]:
    if draft.kind in _SUBJECT:
        subject, statement = _SUBJECT[draft.kind]
        name = bare(str(draft.payload[subject])).casefold()
        yield (draft.kind, name), str(draft.payload[statement])
    elif draft.kind is EvidenceKind.ENUM:
        values = draft.payload["values"]
        for value in values if isinstance(values, tuple) else ():
            yield (f"enum {draft.payload['column']}", value["value"]), value["meaning"]
