"""The note at work: its sections, what is spoken for already, and what leads into a block."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from evidence.adapters.rules.names import bare, columns_in
from evidence.adapters.rules.outline import Block, Section, Shape, Span, sections_of
from evidence.adapters.rules.statements import statements_of
from evidence.adapters.rules.words import GENERIC_HEADING, NOISE

_PROSE = (Shape.PARAGRAPH, Shape.ITEM)


@dataclass(slots=True)
class Note:
    """One note; `taken` are the intervals that a unit or an earlier rule speaks for."""

    text: str
    sections: tuple[Section, ...]
    language: str
    taken: list[tuple[int, int]] = field(default_factory=list)

    @classmethod
    def read(cls, text: str, language: str) -> Note:
        """Read a normalized text."""
        return cls(text, sections_of(text), language)

    def take(self, spans: Iterable[Span]) -> None:
        """Speak for these places."""
        self.taken.extend((span.start, span.end) for span in spans)

    def is_free(self, span: Span) -> bool:
        """Tell whether nobody speaks for any part of a place."""
        return not any(start < span.end and span.start < end for start, end in self.taken)

    def free_statements(self, section: Section) -> Iterator[tuple[Block, Span]]:
        """Give the statements of a section that nobody speaks for, each with its block."""
        for block in section.blocks:
            if block.shape in _PROSE:
                for statement in statements_of(block.span):
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
        for section in self.sections:
            for block in section.blocks:
                if block.shape in _PROSE:
                    return next(statements_of(block.span), block.span)
        return Span(0, 0, "")


def lead_in(section: Section, block: Block, text: str) -> Span | None:
    """Give the statement right before a list, table or fence that introduces it, if one does.

    It does when it ends in a colon or question mark, or touches the block.
    """
    before: Block | None = None
    for each in section.blocks:
        if each.span.start >= block.span.start:
            break
        before = each
    if before is None or before.shape is not Shape.PARAGRAPH:
        return None
    last = list(statements_of(before.span))[-1]
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
