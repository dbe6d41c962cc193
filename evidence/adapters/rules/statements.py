"""Cut a paragraph into statements: sentences, and lines that begin a definition of their own."""

from __future__ import annotations

import re
from collections.abc import Iterator

from evidence.adapters.rules.spans import Span

_END = re.compile(
    r"(?:(?<![.!?…])[.!?…]{1,9}[)\"»”']?|;)(?=\s+(?:[A-ZÀ-Ý\"«“`*\[(]|https?://)|\s*\n\s*[A-ZÀ-Ý])"
)
_NEW_LINE = re.compile(
    r"\n(?=[ \t>]*(?:"
    r"(?:[-*+•]|\d{1,3}[.)])\s"  # a list without the blank line it needs
    r"|\*\*[^*\n]{1,80}\*\*"
    r"|[\w\"«“`'’ ()/-]{1,60}[^\S\n]*(?::|=|→|->|[—–])[^\S\n]+\S"
    r"))"
)
_ABBREVIATION = re.compile(
    r"(?:^|[\s(])(?:ad es|es|ecc|cfr|sig|dott|prof|art|pag|n|nr|p|vd|v|ca|e\.g|i\.e|vs|etc|no)\.$",
    re.IGNORECASE,
)
MAX_WORD = 10


def statements_of(span: Span) -> Iterator[Span]:
    """Give the statements of a paragraph in order; together they hold all of its words."""
    cuts = sorted({*_sentence_ends(span.text), *(m.start() for m in _NEW_LINE.finditer(span.text))})
    start = 0
    for cut in (*cuts, len(span.text)):
        piece = span.part(start, cut)
        if piece.text:
            yield piece
        start = cut


def _sentence_ends(text: str) -> Iterator[int]:
    ticks = seen = 0
    for match in _END.finditer(text):
        ticks += text.count("`", seen, match.start())
        seen = match.start()
        if ticks % 2 == 0 and not _ABBREVIATION.search(text, match.end() - MAX_WORD, match.end()):
            yield match.end()
