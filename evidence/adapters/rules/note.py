"""The note at work: its sections, what is spoken for already, and what leads into a block."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import groupby

from evidence.adapters.rules.names import bare, columns_in
from evidence.adapters.rules.outline import Block, Section, Shape, sections_of
from evidence.adapters.rules.spans import Span
from evidence.adapters.rules.words import GENERIC_HEADING, NOISE


@dataclass(slots=True)
class Note:
    """One note; `taken` marks each character that a unit or an earlier rule speaks for."""

    text: str
    sections: tuple[Section, ...]
    language: str
    taken: bytearray

    @classmethod
    def read(cls, text: str, language: str) -> Note:
        """Read a normalized text."""
        return cls(text, sections_of(text), language, bytearray(len(text)))

    def take(self, spans: Iterable[Span]) -> None:
        """Speak for these places."""
        for span in spans:
            self.taken[span.start : span.end] = b"\1" * (span.end - span.start)

    def is_free(self, span: Span) -> bool:
        """Tell whether nobody speaks for any part of a place."""
        return self.taken.find(1, span.start, span.end) < 0

    def free_statements(self, section: Section) -> Iterator[tuple[Block, Span]]:
        """Give the statements of a section that nobody speaks for, each with its block."""
        for block in section.blocks:
            for statement in block.statements:
                if self.is_free(statement) and not NOISE.fullmatch(statement.text):
                    yield block, statement

    def topic(self, section: Section) -> str:
        """Give the nearest heading that says what a section is about, or the note's first line."""
        for heading in reversed(section.path):
            if not GENERIC_HEADING.fullmatch(bare(heading)):
                return heading
        return section.title or self.opening.text

    @property
    def opening(self) -> Span:
        """Give the first statement of the note, which stands for a missing heading."""
        every = (block.statements for section in self.sections for block in section.blocks)
        return next((statements[0] for statements in every if statements), Span(0, 0, ""))


def lists_of(section: Section) -> Iterator[list[Block]]:
    """Give the lists of a section as their items; lists that follow each other are one."""
    for shape, run in groupby(section.blocks, key=lambda block: block.shape):
        if shape is Shape.ITEM:
            yield list(run)


def lead_in(section: Section, block: Block, text: str) -> Span | None:
    """Give the statement right before a list, table or fence that introduces it, if one does.

    It does when it ends in a colon or question mark, or touches the block.
    """
    before = _before(section, block)
    if before is None or before.shape is not Shape.PARAGRAPH or not before.statements:
        return None
    last = before.statements[-1]
    touches = text.count("\n", last.end, block.span.start) < 2 and block.shape is not Shape.FENCE
    return last if touches or last.text.endswith((":", "?", ":**")) else None


def column_for(section: Section, *spans: Span | None) -> str | None:
    """Give the one column that the nearest of these places, else a heading, names."""
    texts = [span.text for span in spans if span is not None]
    for text in (*texts, *reversed(section.path)):
        columns = columns_in(text)
        if len(columns) == 1:
            return columns[0]
    return None


def column_about(
    section: Section, block: Block, *spans: Span | None
) -> tuple[str | None, tuple[Span, ...]]:
    """Give the column that a list or table is about, as `column_for` does.

    Else the one that the paragraph before it names, with that paragraph, which must be quoted.
    """
    column = column_for(section, *spans)
    before = _before(section, block)
    if column or before is None or before.shape is not Shape.PARAGRAPH:
        return column, ()
    columns = columns_in(before.span.text)
    return (columns[0], (before.span,)) if len(columns) == 1 else (None, ())


def _before(section: Section, block: Block) -> Block | None:
    at = bisect_left(section.blocks, block.span.start, key=lambda each: each.span.start)
    return section.blocks[at - 1] if at else None
