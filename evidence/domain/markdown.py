"""The body of a domain unit as blocks: where sections begin, and what may be cut between."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from markdown_it import MarkdownIt
from markdown_it.token import Token

_PARSER = MarkdownIt("commonmark").enable("table")
_PARSER.core.ruler.disable(["inline"])  # block boundaries are all we need; text stays as written


@dataclass(frozen=True, slots=True)
class Block:
    """One top-level block, word for word.

    `path` holds the headings above it, outermost first; `heading` is its own when it is one.
    `pieces` are what it may be cut into, none of them to be cut further; `preamble` (a table's
    header) is repeated before each part of a cut block.
    """

    text: str
    path: tuple[str, ...]
    heading: str = ""
    pieces: tuple[str, ...] = ()
    preamble: str = ""


def blocks_of(body: str) -> tuple[Block, ...]:
    """Give the top-level blocks of a Markdown text; together they hold every line with words.

    A fenced block, a table row and a list item are never cut: only tables and lists have pieces.
    """
    outline = _Outline(body.split("\n"))
    tokens = _PARSER.parse(body)
    opening = [at for at, token in enumerate(tokens) if token.level == 0 and token.map]
    for at, following in pairwise([*opening, len(tokens)]):
        outline.add(tokens[at:following])
    return outline.finish()


class _Outline:
    """Collects blocks, and keeps the headings that are open."""

    def __init__(self, lines: Sequence[str]) -> None:
        self.lines = lines
        self.blocks: list[Block] = []
        self.headings: list[tuple[int, str]] = []
        self.reached = 0

    @property
    def path(self) -> tuple[str, ...]:
        return tuple(title for _, title in self.headings)

    def add(self, tokens: Sequence[Token]) -> None:
        start, end = tokens[0].map or (self.reached, self.reached)
        self._add_between(start)
        self.reached = end
        text = self._text(start, end)
        kind = tokens[0].type
        if kind == "heading_open":
            self._add_heading(text, int(tokens[0].tag[1:]), tokens[1].content)
        elif kind == "table_open":
            header, rule, *rows = text.split("\n")
            table = Block(text, self.path, pieces=tuple(rows), preamble=f"{header}\n{rule}")
            self.blocks.append(table)
        elif kind in {"bullet_list_open", "ordered_list_open"}:
            self.blocks.append(Block(text, self.path, pieces=self._items(tokens, end)))
        else:
            self.blocks.append(Block(text, self.path))

    def finish(self) -> tuple[Block, ...]:
        self._add_between(len(self.lines))
        return tuple(self.blocks)

    def _add_between(self, end: int) -> None:
        # Link definitions make no token, and they are words of the curator all the same.
        text = self._text(self.reached, end)
        if text:
            self.blocks.append(Block(text, self.path))

    def _add_heading(self, text: str, level: int, content: str) -> None:
        while self.headings and self.headings[-1][0] >= level:
            self.headings.pop()
        words = " ".join(content.split())
        self.blocks.append(Block(text, self.path, heading=words))
        self.headings.append((level, words))

    def _items(self, tokens: Sequence[Token], end: int) -> tuple[str, ...]:
        items = (token for token in tokens if token.type == "list_item_open" and token.level == 1)
        starts = [token.map[0] for token in items if token.map]
        return tuple(self._text(first, last) for first, last in pairwise([*starts, end]))

    def _text(self, start: int, end: int) -> str:
        lines = list(self.lines[start:end])
        while lines and not lines[-1].strip():
            lines.pop()
        while lines and not lines[0].strip():
            lines.pop(0)
        return "\n".join(lines)
