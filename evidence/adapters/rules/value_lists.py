"""The values a column may hold: in bullets, in tables, in parentheses."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from evidence.adapters.rules.drafts import Draft
from evidence.adapters.rules.names import COLUMN, bare, columns_in, scope_of
from evidence.adapters.rules.note import Note, column_about, lead_in, lists_of
from evidence.adapters.rules.outline import Block, Row, Section, Shape
from evidence.adapters.rules.spans import Span
from evidence.adapters.rules.values import Value, enum_of, pairs_in, pairs_said_in
from evidence.adapters.rules.words import RULES_HEADING, VALUES_HEADING
from evidence.domain.units import EvidenceKind

_ENTRY = re.compile(
    r"(?:\*\*)?[`'\"«“]?(?P<value>[^\s:=`'\"«»“”](?:[^:=`\"«»“”\n]{0,58}?[^\s:=`'\"«»“”])?)[`'\"»”]?"
    r"(?:\*\*)?\s*(?:\*\*)?(?::|=|→|->|\s[—–-])(?:\*\*)?\s+(?P<meaning>\S.*)",
    re.DOTALL,
)
_INLINE = re.compile(rf"`?(?P<column>{COLUMN})`?(?P<between>[^().\n]{{0,80}})\((?P<list>[^()]+)\)")
_INLINE_COLON = re.compile(
    rf"(?:[^.\n]{{0,80}}[\s`(])?(?P<column>{COLUMN})`?[^:.\n]{{0,60}}:\s*(?P<list>.+)", re.DOTALL
)
_VALUE_HEAD = re.compile(r"(?:valor[ei]|codic[ei]|sigla|stato|values?|codes?|status)\b", re.I)
_MEANING_HEAD = re.compile(
    r"(?:significat[oi]|descrizion[ei]|etichett[ae]|spiegazione|meanings?|descriptions?|labels?)\b",
    re.I,
)
_BREAK = re.compile(r"<br\s*/?>", re.IGNORECASE)
_CODE_LIKE = re.compile(r"[A-Z0-9_.+-]{1,12}")


def listed_values(section: Section, note: Note) -> Iterator[Draft]:
    """Give one draft per run of list items that are values of a named column."""
    for run in lists_of(section):
        lead = lead_in(section, run[0], note.text)
        column, said = column_about(section, run[0], lead)
        context = " ".join((*section.path, lead.text if lead else ""))
        if RULES_HEADING.search(context):
            continue
        values = [each for block in run if (each := _value_of(block.span)) is not None]
        if len(values) * 2 > len(run):
            yield from (
                enum_of(column, values, note, lead=lead, context=said)
                if column
                else _of_no_column(values, lead, note, section)
            )


def tabled_values(section: Section, note: Note) -> Iterator[Draft]:
    """Give one draft per table whose header says value and meaning, below a named column."""
    for block in section.blocks:
        if block.shape is not Shape.TABLE:
            continue
        header = [bare(cell) for cell in block.rows[0].cells]
        value = next((at for at, cell in enumerate(header) if _VALUE_HEAD.match(cell)), None)
        meaning = next((at for at, cell in enumerate(header) if _MEANING_HEAD.match(cell)), None)
        lead = lead_in(section, block, note.text)
        column, said = column_about(section, block, block.rows[0].span, lead)
        if value is not None and meaning is not None and column:
            values = [each for row in block.rows[1:] for each in _of_row(row, value, meaning)]
            yield from enum_of(column, values, note, lead=lead, context=said)
        else:
            yield from _broken_cells(block, note)


def values_in_text(section: Section, note: Note) -> Iterator[Draft]:
    """Give the drafts of statements such as `schema.table.column (A = one, B = two)`."""
    for _, statement in list(note.free_statements(section)):
        match = _INLINE.search(statement.text) or _INLINE_COLON.fullmatch(statement.text)
        values = pairs_in(match["list"], statement) if match else []
        if match and len(values) > 1:
            yield from enum_of(match["column"], values, note)
        else:
            yield from _said_values(statement, note)


def _said_values(statement: Span, note: Note) -> Iterator[Draft]:
    """Give the draft of a sentence such as `schema.table.column` is A for one, B for two."""
    columns, values = columns_in(statement.text), pairs_said_in(statement)
    if len(columns) == 1 and len(values) > 1:
        yield from enum_of(columns[0], values, note)


def _of_no_column(
    values: Sequence[Value], lead: Span | None, note: Note, section: Section
) -> Iterator[Draft]:
    hinted = VALUES_HEADING.search(" ".join((section.title, lead.text if lead else "")))
    codes = all(_CODE_LIKE.fullmatch(each.value) for each in values)
    free = [each.span for each in values if note.is_free(each.span)]
    if (hinted or codes) and len(values) > 1 and free:
        spans = (lead, *free) if lead else tuple(free)
        title = lead.text if lead else note.topic(section)
        yield Draft(
            kind=EvidenceKind.DOMAIN,
            title=title,
            payload={"topic": bare(title)},
            spans=spans,
            scope=scope_of(" ".join(span.text for span in spans)),
            body="\n".join(
                (*([lead.text, ""] if lead else []), *(f"- {span.text}" for span in free))
            ),
            doubts=("kind_inferred", "column_unknown"),
        )


def _value_of(span: Span) -> Value | None:
    match = _ENTRY.fullmatch(span.text)
    if match is None or columns_in(match["value"]):
        return None
    return Value(match["value"].strip(), " ".join(match["meaning"].split()), span)


def _of_row(row: Row, value: int, meaning: int) -> Iterator[Value]:
    if len(row.cells) > max(value, meaning) and bare(row.cells[value]) and row.cells[meaning]:
        yield Value(row.cells[value].strip("`'\"* "), row.cells[meaning], row.span)


def _broken_cells(block: Block, note: Note) -> Iterator[Draft]:
    """Give the drafts of rows that hold a column in one cell and values broken by lines in one."""
    for row in block.rows[1:]:
        columns = columns_in(" ".join(row.cells))
        for cell in row.cells:
            values = [v for part in _BREAK.split(cell) for v in pairs_in(part, row.span)]
            if len(values) > 1 and len(columns) == 1:
                yield from enum_of(columns[0], values, note)
