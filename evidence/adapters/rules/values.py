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

_CODE = (
    r"(?:(?:il|con|the|with)\s+)?(?:(?:valore|value)\s+)?"
    r"[`'\"«]?(?P<{name}>[A-Z0-9][A-Z0-9_+-]{{0,11}})[`'\"»]?"
)
_VERB = r"\s+(?:per|significa|indica|vuol dire|sta per|means|indicates|stands for|for)\s+"
_SAID = re.compile(
    rf"(?<![\w.]){_CODE.format(name='value')}{_VERB}(?P<meaning>[^,;\n]{{2,120}}?)"
    rf"(?=[,;.]|$|\s(?:e|ed|o|and|or)\s+{_CODE.format(name='next')}{_VERB})"
)

_HOLDS = re.compile(
    r"(?<!\w)(?:vale|valgono|valor[ei]|codic[ei]|contiene|può essere|significa|indica|vuol dire|"
    r"values?|codes?|is|holds?|contains|can be|means|indicates|stands for)(?!\w)",
    re.IGNORECASE,
)
"""Without one of these, numbers followed by “for” are just numbers."""


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


def pairs_said_in(span: Span) -> list[Value]:
    """Give the values of a sentence such as `is 1 for home, 2 for hospital`."""
    if not _HOLDS.search(span.text):
        return []
    return [
        Value(match["value"], match["meaning"].strip(), span) for match in _SAID.finditer(span.text)
    ]


def pairs_in(text: str, span: Span) -> list[Value]:
    """Give the values of a text such as `A = one, B = two`; `span` is the place that says so."""
    return [
        Value(match["value"].strip(), match["meaning"].strip(), span)
        for match in _PAIR.finditer(text)
    ]
