"""Values and their meanings, wherever a note lists them, become one enum of their column."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from evidence.adapters.rules.drafts import Draft, doubts_where
from evidence.adapters.rules.names import columns_in, scope_of
from evidence.adapters.rules.note import Note
from evidence.adapters.rules.spans import Span
from evidence.domain.units import EvidenceKind

_PAIR = re.compile(
    r"[`'\"«]?(?P<value>[^\s=:,;()`'\"«»][^=:,;()`'\"«»]{0,40}?)[`'\"»]?\s*(?:=|:|→|->|[—–])\s*"
    r"(?P<meaning>[^,;()=\n]{2,120}?)(?=\s*(?:[,;.)]|$|\s(?:e|ed|o|and|or)\s))"
)


@dataclass(frozen=True, slots=True)
class Value:
    """One value, its meaning, and the place that says so."""

    value: str
    meaning: str
    span: Span


def enum_of(
    column: str,
    values: Iterable[Value],
    note: Note,
    *,
    lead: Span | None = None,
    context: tuple[Span, ...] = (),
) -> Iterator[Draft]:
    """Give the enum draft of the values that nobody speaks for yet, if there are any."""
    free = [each for each in values if note.is_free(each.span)]
    meanings = {each.value: each.meaning for each in reversed(free)}
    contradicted = any(meanings[each.value] != each.meaning for each in free)
    if meanings:
        in_order = {each.value: meanings[each.value] for each in free}
        name = (columns_in(column) or (column,))[0]
        entries = tuple({"value": value, "meaning": said} for value, said in in_order.items())
        title = f"Valori di {name}" if note.language == "it" else f"Values of {name}"
        yield Draft(
            kind=EvidenceKind.ENUM,
            title=title,
            payload={"column": name, "values": entries},
            spans=((lead,) if lead else ()) + tuple(each.span for each in free),
            context=context,
            scope=scope_of(name),
            doubts=doubts_where(source_contradicts_itself=contradicted),
        )


def pairs_in(text: str, span: Span) -> list[Value]:
    """Give the values of a text such as `A = one, B = two`; `span` is the place that says so."""
    return [
        Value(match["value"].strip(), match["meaning"].strip(), span)
        for match in _PAIR.finditer(text)
    ]
