"""A note as sections of blocks, each with its place in the text, so that every quote is literal."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from itertools import accumulate

from markdown_it import MarkdownIt
from markdown_it.token import Token

from evidence.adapters.rules.spans import Span
from evidence.adapters.rules.statements import statements_of

_PARSER = MarkdownIt("commonmark").enable("table")
_PARSER.core.ruler.disable(["inline"])  # we read inline text ourselves, where it stands
_MARKER = re.compile(r"(?:\s*(?:>|[-*+](?=\s)|\d{1,3}[.)](?=\s)))*\s*")
_CELLS = re.compile(r"(?<!\\)\|")
_FRONT_MATTER = re.compile(r"---\n(?:.*\n){0,100}?---\n")
_GENERATED = re.compile(
    r"<!--[^>]{0,80}\b(?:begin|start|inizio)\b[^>]{0,80}-->"
    r"(?:(?!<!--).|<!--(?![^>]{0,80}\b(?:end|fine)\b))*"
    r"<!--[^>]{0,80}\b(?:end|fine)\b[^>]{0,80}-->",
    re.IGNORECASE | re.DOTALL,
)
_DOCS_TAG = re.compile(
    r"^[ \t]*\{%-?[ \t]*(?:docs[ \t]+\w+|enddocs)[ \t]*-?%\}[ \t]*$", re.MULTILINE
)


class Shape(StrEnum):
    """What a block is."""

    PARAGRAPH = "paragraph"
    ITEM = "item"
    FENCE = "fence"
    TABLE = "table"


@dataclass(frozen=True, slots=True)
class Row:
    """One row of a table: where it stands, and its cells."""

    span: Span
    cells: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Block:
    """One block of a section: its statements if it is prose, its rows, header first, if a table.

    `info` is a fence's language and `code` what it holds.
    """

    shape: Shape
    span: Span
    statements: tuple[Span, ...] = ()
    info: str = ""
    code: str = ""
    rows: tuple[Row, ...] = ()


@dataclass(frozen=True, slots=True)
class Section:
    """The blocks below one heading; `path` holds the headings from the outermost to its own."""

    path: tuple[str, ...]
    blocks: tuple[Block, ...]

    @property
    def title(self) -> str:
        """Give the section's own heading, or nothing."""
        return self.path[-1] if self.path else ""


@dataclass(slots=True)
class _Reader:
    text: str
    tokens: Sequence[Token]
    starts: Sequence[int]
    headings: list[tuple[int, str]] = field(default_factory=list)

    def sections(self) -> Iterator[Section]:
        blocks: list[Block] = []
        for at, token in enumerate(self.tokens):
            if token.type == "heading_open":
                yield self._section(blocks)
                blocks = []
                self._enter(token, self.tokens[at + 1].content)
            else:
                blocks.extend(self._blocks(at, token))
        yield self._section(blocks)

    def _section(self, blocks: Sequence[Block]) -> Section:
        return Section(tuple(title for _, title in self.headings), tuple(blocks))

    def _enter(self, token: Token, words: str) -> None:
        level = int(token.tag[1:])
        while self.headings and self.headings[-1][0] >= level:
            self.headings.pop()
        self.headings.append((level, " ".join(words.split()).strip("#*_ ")))

    def _blocks(self, at: int, token: Token) -> Iterator[Block]:
        if token.type in {"fence", "code_block"}:
            yield self._fence(token)
        elif token.type == "table_open":
            yield self._table(token)
        elif token.type == "paragraph_open":
            inside = self.tokens[at - 1].type == "list_item_open"
            shape = Shape.ITEM if inside else Shape.PARAGRAPH
            span = self._lines(token)
            yield Block(shape, span, statements=tuple(statements_of(span)))

    def _lines(self, token: Token) -> Span:
        first, last = token.map or (0, 0)
        start, end = self.starts[first], self.starts[last]
        marker = _MARKER.match(self.text, start, end)
        start = marker.end() if marker else start
        return Span(
            start, start + len(self.text[start:end].rstrip()), self.text[start:end].rstrip()
        )

    def _fence(self, token: Token) -> Block:
        span = self._lines(token)
        body = token.content.strip("\n")
        inside = span.text.find(body) if body else -1
        # An indented fence loses its indentation in `content`; then the whole block is quoted.
        quoted = span if inside < 0 else span.part(inside, inside + len(body))
        info = token.info.split()[0].lower() if token.info.split() else ""
        return Block(Shape.FENCE, quoted, info=info, code=body)

    def _table(self, token: Token) -> Block:
        first, last = token.map or (0, 0)
        lines = [self._row(number) for number in range(first, last) if number != first + 1]
        return Block(Shape.TABLE, self._lines(token), rows=tuple(lines))

    def _row(self, number: int) -> Row:
        start, end = self.starts[number], self.starts[number + 1]
        span = Span(start, end, self.text[start:end]).part(0, end - start)
        cells = _CELLS.split(span.text.strip("|"))
        return Row(span, tuple(cell.strip().replace("\\|", "|") for cell in cells))


def sections_of(text: str) -> tuple[Section, ...]:
    """Give the sections of a normalized note in order; the first one has no heading.

    Front matter, HTML, generated parts and the tags of dbt docs blocks are left out.
    """
    visible = _blanked(text)
    lines = visible.split("\n")
    starts = list(accumulate((len(line) + 1 for line in lines), initial=0))
    starts[-1] = len(visible)
    reader = _Reader(visible, _PARSER.parse(visible), starts)
    return tuple(section for section in reader.sections() if section.blocks or section.path)


def _blanked(text: str) -> str:
    """Put spaces where nothing may be read, so that every offset stays true."""
    front = _FRONT_MATTER.match(text)
    if front:
        text = _spaces(front) + text[front.end() :]
    return _DOCS_TAG.sub(_spaces, _GENERATED.sub(_spaces, text))


def _spaces(match: re.Match[str]) -> str:
    return re.sub(r"[^\n]", " ", match[0])
