"""What no other rule spoke for: a section's prose becomes a domain unit, word for word."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from evidence.adapters.rules.drafts import MAX_EXCERPTS, Draft, cut, doubts_where
from evidence.adapters.rules.links import is_navigation
from evidence.adapters.rules.names import bare, scope_of
from evidence.adapters.rules.note import Note
from evidence.adapters.rules.outline import Block, Section
from evidence.adapters.rules.spans import Span
from evidence.adapters.rules.sql_text import announced_only
from evidence.adapters.rules.words import LABEL, NOISE
from evidence.domain.units import EvidenceKind

_WORD = re.compile(r"[^\W\d_]{2,}")
MIN_WORDS = 4
LONG_TITLE = 80


def left_over(section: Section, note: Note) -> Iterator[Draft]:
    """Give the domain drafts of a section: its free prose, in pieces that excerpts can quote."""
    spans = _merged(_free_prose(section, note), note.text)
    pieces = [piece for span in spans for piece in cut(span)]
    groups = [pieces[at : at + MAX_EXCERPTS] for at in range(0, len(pieces), MAX_EXCERPTS)]
    for number, group in enumerate(groups, start=1):
        yield _domain(group, section, note, number)


def _free_prose(section: Section, note: Note) -> Iterator[tuple[Block, Span]]:
    for block, statement in note.free_statements(section):
        if not _says_nothing(statement, section, note):
            yield block, statement
    for block in section.blocks:
        free = [row.span for row in block.rows[1:] if note.is_free(row.span)]
        yield from (
            (block, span) for span in (*[row.span for row in block.rows[:1] if free], *free)
        )


def _says_nothing(statement: Span, section: Section, note: Note) -> bool:
    words = _WORD.findall(statement.text)
    is_opening = not section.path and statement == note.opening
    return (
        len(words) < MIN_WORDS
        or is_navigation(statement)
        or announced_only(statement, section)
        or bool(NOISE.fullmatch(statement.text))
        or (is_opening and _is_headline(statement.text))
        or (statement.text.endswith(":") and len(words) < 2 * MIN_WORDS)
    )


def _is_headline(text: str) -> bool:
    return "\n" not in text and len(text) <= LONG_TITLE * 2 and not text.endswith((".", ";", ":"))


def _merged(found: Iterator[tuple[Block, Span]], text: str) -> Iterator[Span]:
    """Give the statements of one block as one span where nothing was taken between them."""
    open_block: Block | None = None
    start = end = 0
    for block, span in sorted(found, key=lambda each: each[1].start):
        if block is open_block and not text[end : span.start].strip():
            end = span.end
            continue
        if open_block is not None:
            yield Span(start, end, text[start:end])
        open_block, start, end = block, span.start, span.end
    if open_block is not None:
        yield Span(start, end, text[start:end])


def _domain(group: Sequence[Span], section: Section, note: Note, number: int) -> Draft:
    body = "\n\n".join(span.text for span in group)
    topic = bare(note.topic(section)) or _first_words(body)
    scope = scope_of(body)
    headed = bool(section.path) and not LABEL.fullmatch(bare(section.title))
    return Draft(
        kind=EvidenceKind.DOMAIN,
        title=topic if number == 1 else f"{topic} ({number})",
        payload={"topic": topic},
        spans=tuple(group),
        scope=scope,
        body=body,
        doubts=doubts_where(kind_inferred=not headed, purpose_inferred=not scope.tables),
    )


def _first_words(text: str) -> str:
    return bare(text)[:LONG_TITLE].rpartition(" ")[0] or bare(text)[:LONG_TITLE]
