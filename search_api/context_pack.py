"""One Markdown document with just what a stage needs, never above its budget (spec 60)."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Final

DEFAULT_BUDGET: Final = 5_000
MAX_BUDGET: Final = 20_000
MIN_BUDGET: Final = 100
BYTES_A_TOKEN: Final = 3
COUNTED_AS: Final = "ceil(UTF-8 bytes / 3)"
"""How tokens are counted; every answer says so."""


@dataclass(frozen=True, slots=True)
class Section:
    """One heading and the pieces below it, best first; a piece is taken whole or left out."""

    heading: str
    pieces: tuple[Piece, ...]


@dataclass(frozen=True, slots=True)
class Piece:
    """A cited paragraph about one unit."""

    evidence_id: str
    text: str


@dataclass(frozen=True, slots=True)
class Pack:
    """The document, its size as `COUNTED_AS` counts it, and what did not fit."""

    markdown: str
    token_count: int
    included: tuple[str, ...]
    left_out: tuple[str, ...]


def count_tokens(text: str) -> int:
    """Give the UTF-8 bytes of a text divided by three, rounded up."""
    return -(-len(text.encode()) // BYTES_A_TOKEN)


def assemble(title: str, sections: Sequence[Section], *, budget: int) -> Pack:
    """Give the sections in their order, each with the pieces that still fit, never above budget.

    A piece that does not fit is left out whole and the next, smaller one may still be taken; a
    section without a piece has no heading. A title that is too long alone is left out.
    """
    markdown = title if count_tokens(title) <= budget else ""
    included: list[str] = []
    left_out: list[str] = []
    for section in sections:
        heading = f"## {section.heading}"
        for piece in section.pieces:
            longer = _joined((markdown, heading, piece.text))
            if count_tokens(longer) > budget:
                left_out.append(piece.evidence_id)
                continue
            markdown, heading = longer, ""
            included.append(piece.evidence_id)
    return Pack(
        markdown=markdown,
        token_count=count_tokens(markdown),
        included=_once(included),
        left_out=tuple(one for one in _once(left_out) if one not in included),
    )


def _joined(parts: Iterable[str]) -> str:
    return "\n\n".join(part for part in parts if part)


def _once(names: Iterable[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(names))
