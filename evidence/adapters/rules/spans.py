"""A piece of a note that knows where it stands."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Span:
    """A piece of the note: character offsets, and the text between them."""

    start: int
    end: int
    text: str

    def part(self, start: int, end: int) -> Span:
        """Give a piece of this one by offsets inside it, without white space around it."""
        piece = self.text[start:end]
        left = len(piece) - len(piece.lstrip())
        piece = piece.strip()
        first = self.start + start + left
        return Span(first, first + len(piece), piece)
