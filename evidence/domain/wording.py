"""The words of a text, whatever their case, accents and punctuation: how two texts are compared."""

from __future__ import annotations

import re
import unicodedata

_WORD = re.compile(r"\w+")
_MARKS = re.compile(r"[\u0300-\u036f]+")


def words_of(text: str) -> list[str]:
    """Give the words of a text in order, folded."""
    folded = text.casefold()
    if not folded.isascii():
        folded = _MARKS.sub("", unicodedata.normalize("NFKD", folded))
    return _WORD.findall(folded)


def worded(text: str) -> str:
    """Give the words of a text in one line; equal for texts that say the same."""
    return " ".join(words_of(text))
