"""Values that stand in SQL: COMMENT ON COLUMN with a list, INSERT into a table of two columns."""

from __future__ import annotations

import re
from collections.abc import Iterator

from evidence.adapters.rules.drafts import Draft
from evidence.adapters.rules.names import COLUMN, TABLE
from evidence.adapters.rules.note import Note
from evidence.adapters.rules.outline import Section, Shape
from evidence.adapters.rules.spans import Span
from evidence.adapters.rules.values import Value, enum_of, pairs_in

_COMMENT = re.compile(
    rf"COMMENT\s+ON\s+COLUMN\s+(?P<column>{COLUMN})\s+IS\s+'(?P<list>(?:[^']|'')*)'", re.IGNORECASE
)
_LABEL = r"\"?\w*(?:label|descr|meaning|name|nome|etichetta|significato)\w*\"?"
_INSERT = re.compile(
    rf"INSERT\s+INTO\s+(?P<table>{TABLE})\s*\(\s*(?P<code>[\w\"]+)\s*,\s*"
    rf"(?:[\w\"]+|{_LABEL}\s*(?:,\s*[\w\"]+\s*)+)\s*\)\s*"
    r"VALUES\s*(?P<rows>\([^;]{1,20000})",
    re.IGNORECASE,
)
_ROW = re.compile(
    r"\(\s*(?:'(?P<text>(?:[^']|'')*)'|(?P<number>-?[\d.]+))\s*,\s*'(?P<meaning>(?:[^']|'')*)'\s*"
    r"(?:,[^()]*)?\)"
)


def values_in_sql(section: Section, note: Note) -> Iterator[Draft]:
    """Give the enum drafts of a section's fenced SQL."""
    for block in section.blocks:
        if block.shape is Shape.FENCE:
            yield from _comments(block.span, note)
            yield from _inserts(block.span, note)


def _comments(code: Span, note: Note) -> Iterator[Draft]:
    for match in _COMMENT.finditer(code.text):
        place = code.part(match.start(), match.end())
        values = pairs_in(match["list"], place)
        if len(values) > 1:  # one colon in a comment is no list
            yield from enum_of(match["column"], values, note)


def _inserts(code: Span, note: Note) -> Iterator[Draft]:
    for match in _INSERT.finditer(code.text):
        place = code.part(match.start(), match.end())
        values = [
            Value(_unquoted(row["text"] or row["number"]), _unquoted(row["meaning"]), place)
            for row in _ROW.finditer(match["rows"])
        ]
        yield from enum_of(f"{match['table']}.{match['code']}", values, note)


def _unquoted(literal: str) -> str:
    return literal.replace("''", "'")
