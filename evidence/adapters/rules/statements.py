"""Cut a paragraph into statements: sentences, and lines that begin a definition of their own."""

from __future__ import annotations

import re
from collections.abc import Iterator

from evidence.adapters.rules.spans import Span

_END = re.compile(
    r"(?:(?<![.!?…])[.!?…]{1,9}[)\"»”']?|;)(?=\s+(?:[A-ZÀ-Ý\"«“`*\[(]|https?://)|\s*\n\s*[A-ZÀ-Ý])"
)
_LIST_LINE = re.compile(r"\n(?=[ \t>]*(?:(?:[-*+•]|\d{1,3}[.)])\s|\*\*[^*\n]{1,80}\*\*))")
_LABEL_LINE = re.compile(
    r"\n(?=[ \t>]*(?P<first>[\w\"«“'’(])[\w\"«“'’ ()/-]{0,59}[^\S\n]*"
    r"(?P<sign>:|=|→|->|[—–])[^\S\n]+\S)"
)
_ABBREVIATION = re.compile(
    r"(?:^|[\s(])(?:ad es|es|ecc|cfr|sig|dott|prof|art|pag|n|nr|p|vd|v|ca|abbr|"
    r"e\.g|i\.e|vs|etc|no)\.$",
    re.IGNORECASE,
)
MAX_WORD = 10


def statements_of(span: Span) -> Iterator[Span]:
    """Give the statements of a paragraph in order; together they hold all of its words."""
    lines = (match.start() for match in _LIST_LINE.finditer(span.text))
    cuts = sorted({*_sentence_ends(span.text), *lines, *_labels(span.text)})
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


def _labels(text: str) -> Iterator[int]:
    """Give the line ends before `term: meaning`; a wrapped line may hold a colon by chance."""
    for match in _LABEL_LINE.finditer(text):
        is_by_chance = match["first"].islower() and match["sign"] == ":"
        before = text[max(0, match.start() - MAX_WORD) : match.start()].rstrip()
        if not is_by_chance or before.endswith((".", "!", "?", ":", ";", ")")):
            yield match.start()
