"""Highlight quoted passages inside rendered HTML, wherever the Markdown's marks fell."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from html import escape
from html.parser import HTMLParser
from itertools import groupby

from django.utils.safestring import SafeString, mark_safe


@dataclass(frozen=True, slots=True)
class Passage:
    """An excerpt, an anchor for the first place it stands, and who quotes it."""

    text: str
    anchor: str
    title: str


@dataclass(slots=True)
class _Piece:
    """A tag, kept as it is, or the text between two tags with the passages of each character."""

    markup: str = ""
    text: str = ""
    owners: list[frozenset[int]] | None = None


class _Splitter(HTMLParser):
    """Cut clean HTML into tags and texts."""

    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.pieces: list[_Piece] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.pieces.append(_Piece(markup=self.get_starttag_text() or ""))

    def handle_endtag(self, tag: str) -> None:
        self.pieces.append(_Piece(markup=f"</{tag}>"))

    def handle_data(self, data: str) -> None:
        self.pieces.append(_Piece(text=data, owners=[frozenset()] * len(data)))


def highlight(html: SafeString, passages: Sequence[Passage]) -> SafeString:
    """Wrap each passage in `<mark>`; the first mark of a passage carries its anchor.

    Only letters and digits are compared: emphasis, list marks and table bars of the source are no
    text in the HTML. A passage that is not found is left out.
    """
    splitter = _Splitter()
    splitter.feed(html)
    splitter.close()
    letters, places = _letters(splitter.pieces)
    for number, passage in enumerate(passages):
        wanted = _key(passage.text)
        start = letters.find(wanted) if wanted else -1
        if start >= 0:
            _own(splitter.pieces, places[start], places[start + len(wanted) - 1], number)
    seen: set[int] = set()
    parts = [_written(piece, passages, seen) for piece in splitter.pieces]
    return mark_safe("".join(parts))  # noqa: S308 - clean tags copied, all text escaped


_LINK_TARGET = re.compile(r"\]\([^()\s]*\)")


def _key(text: str) -> str:
    return "".join(char for char in _LINK_TARGET.sub("]", text) if char.isalnum())


def _letters(pieces: Sequence[_Piece]) -> tuple[str, list[tuple[int, int]]]:
    places = [
        (number, offset)
        for number, piece in enumerate(pieces)
        for offset, char in enumerate(piece.text)
        if char.isalnum()
    ]
    return "".join(pieces[number].text[offset] for number, offset in places), places


def _own(
    pieces: Sequence[_Piece], first: tuple[int, int], last: tuple[int, int], passage: int
) -> None:
    for number in range(first[0], last[0] + 1):
        owners = pieces[number].owners
        if owners is None:
            continue
        begin = first[1] if number == first[0] else 0
        end = last[1] + 1 if number == last[0] else len(owners)
        for offset in range(begin, end):
            owners[offset] |= {passage}


def _written(piece: _Piece, passages: Sequence[Passage], seen: set[int]) -> str:
    if piece.owners is None:
        return piece.markup
    written = []
    for owners, run in groupby(
        zip(piece.text, piece.owners, strict=True), key=lambda pair: pair[1]
    ):
        text = escape("".join(char for char, _ in run))
        written.append(_marked(text, sorted(owners), passages, seen) if text.strip() else text)
    return "".join(written)


def _marked(text: str, owners: Sequence[int], passages: Sequence[Passage], seen: set[int]) -> str:
    if not owners:
        return text
    title = escape("; ".join(dict.fromkeys(passages[owner].title for owner in owners)))
    anchors = [passages[owner].anchor for owner in owners if owner not in seen]
    seen.update(owners)
    ids = "".join(f'<span id="{escape(anchor)}"></span>' for anchor in dict.fromkeys(anchors))
    return f'{ids}<mark class="ep-mark" title="{title}">{text}</mark>'
