"""What a reader would not see, and what looks like personal data: warnings, never a verdict."""

from __future__ import annotations

import re

_HIDDEN = re.compile(
    r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\xad\u061c\u180e\u200b-\u200f\u2028-\u202e"
    r"\u2060-\u206f\ufeff\ufff9-\ufffb\U000e0000-\U000e007f]"
)
_COMMENT = "<!--"
_EMAIL = re.compile(
    r"[\w.+-]{1,64}@[\w-]{1,63}(?:\.[\w-]{1,63}){0,5}\.[a-z]{2,24}\b", re.IGNORECASE
)
_PHONE = re.compile(r"(?<![\w+])(?:\+|00)[1-9][0-9]{0,2}(?:[ ./-]?[0-9]){6,11}(?![\w])")
# Begins with its digit, which is quick to find, and looks back past it.
_MOBILE = re.compile(r"3(?<![\w.,+-]3)[2-9][0-9](?:[ ./-]?[0-9]){6,7}(?![\w])")
# A landline has the form of many other numbers, so a word must say that it is one.
_LANDLINE = re.compile(
    r"\b(?:tel|telefono|telefax|fax|cell|cellulare|phone|mobile|reperibilit[àa])\b"
    r"[.:()\s]{0,4}(?:n[.°]\s?)?\(?0[0-9]{1,3}\)?(?:[ ./-]?[0-9]){5,9}(?![\w])",
    re.IGNORECASE,
)
_LANDLINE_WORDS = ("tel", "fax", "cell", "phone", "mobile", "reperib")  # cheap to look for
_FISCAL_CODE = re.compile(
    r"\b[A-Z]{6}[0-9LMNP-V]{2}[A-EHLMPRST][0-9LMNP-V]{2}[A-Z][0-9LMNP-V]{3}[A-Z]\b", re.IGNORECASE
)
FISCAL_CODE_LENGTH = 16
# The value of each character at an odd place, 0 to 9 as A to J (Decree of 12 March 1974).
_ODD_VALUES = (
    *(1, 0, 5, 7, 9, 13, 15, 17, 19, 21, 2, 4, 18),
    *(20, 11, 3, 6, 8, 12, 14, 16, 10, 22, 25, 24, 23),
)


def has_hidden_text(text: str) -> bool:
    """Tell whether a text holds an HTML comment or characters that nothing shows.

    Controls, zero-width and bidirectional characters, line separators, tags.
    """
    return _COMMENT in text or _HIDDEN.search(text) is not None


def hidden_in(text: str) -> tuple[int, list[str]]:
    """Give the first line of a text that hides something, and what that is, each name once.

    A comment is called `<!--`, a character by its code, such as U+202E.
    """
    places = {_COMMENT: text.find(_COMMENT)}
    for found in _HIDDEN.finditer(text):
        places.setdefault(f"U+{ord(found[0]):04X}", found.start())
    standing = {name: at for name, at in places.items() if at >= 0}
    return text.count("\n", 0, min(standing.values(), default=0)) + 1, list(standing)


def has_personal_data(text: str) -> bool:
    """Tell whether an e-mail address, a phone number or a valid Italian fiscal code stands here."""
    if "@" in text and _EMAIL.search(text):
        return True
    if _has_international(text) or _MOBILE.search(text) or _has_landline(text):
        return True
    return _has_fiscal_code(text)


def _has_international(text: str) -> bool:
    return ("+" in text or "00" in text) and bool(_PHONE.search(text))


def _has_landline(text: str) -> bool:
    lowered = text.lower()
    return any(word in lowered for word in _LANDLINE_WORDS) and bool(_LANDLINE.search(text))


def _has_fiscal_code(text: str) -> bool:
    """Look at long words only: no code is broken by white space, and most words are short."""
    long_words = (word for word in text.split() if len(word) >= FISCAL_CODE_LENGTH)
    codes = (match[0] for word in long_words for match in _FISCAL_CODE.finditer(word))
    return any(map(is_fiscal_code, codes))


def is_fiscal_code(code: str) -> bool:
    """Tell whether sixteen characters end in their own check letter."""
    letters = code.upper()
    total = sum(_value(letter, odd=place % 2 == 0) for place, letter in enumerate(letters[:15]))
    return letters[15] == chr(ord("A") + total % 26)


def _value(letter: str, *, odd: bool) -> int:
    rank = int(letter) if letter.isdigit() else ord(letter) - ord("A")
    return _ODD_VALUES[rank] if odd else rank
