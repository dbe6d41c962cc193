"""What a field of text may hold: the types every model of this package is built from."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Hashable, Iterable
from typing import Annotated, Any, TypeVar

from pydantic import AfterValidator, BeforeValidator, Field, Strict

from evidence.domain.problems import FieldRefused
from evidence.messages import Message, gettext_noop

MAX_ENTRIES = 2_000
"""A unit's lists hold at most this many entries (spec 10, Writing)."""

# Characters no database, terminal or page treats alike: C0 without tab and line ends, DEL, C1,
# lone surrogates and the two non-characters YAML cannot hold. Refused wherever they stand.
UNSAFE = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\ud800-\udfff\ufffe\uffff]")
_LINE_ENDS = re.compile(r"[\n\r\u2028\u2029]")

Entry = TypeVar("Entry")


def normalize_text(text: str) -> str:
    """Give text in NFC with LF line ends, as it is read from files (spec 20, Normalization)."""
    if "\r" in text:
        text = text.replace("\r\n", "\n").replace("\r", "\n")
    return unicodedata.normalize("NFC", text)


def refuse_unsafe(text: str) -> str:
    """Give the text back. Raises `FieldRefused` naming the first control character."""
    found = UNSAFE.search(text)
    if found is None:
        return text
    template = gettext_noop("The character U+%(code)s is not allowed (at position %(position)s).")
    raise FieldRefused(Message(template, code=f"{ord(found[0]):04X}", position=found.start() + 1))


def refuse_blank(text: str) -> str:
    """Give the text back. Raises `FieldRefused` when nothing but white space is in it."""
    if not text.strip():
        raise FieldRefused(Message(gettext_noop("This may not be empty.")))
    return text


def refuse_line_ends(text: str) -> str:
    """Give the text back. Raises `FieldRefused` when it runs over one line."""
    if _LINE_ENDS.search(text):
        raise FieldRefused(Message(gettext_noop("This must be a single line.")))
    return text


def distinct(
    entries: Iterable[Entry], key: Callable[[Entry], Hashable], label: Callable[[Entry], str] = str
) -> None:
    """Raise `FieldRefused` naming the first entry whose key was seen before."""
    seen: set[Hashable] = set()
    for entry in entries:
        if key(entry) in seen:
            template = gettext_noop("“%(entry)s” is listed twice.")
            raise FieldRefused(Message(template, entry=label(entry)))
        seen.add(key(entry))


def refuse_repeated(entries: tuple[Entry, ...]) -> tuple[Entry, ...]:
    """Give the entries back. Raises `FieldRefused` when two are equal."""
    distinct(entries, key=lambda entry: entry)
    return entries


def none_if_empty(value: Any) -> Any:
    """Give None for "": the reader knows only text, so `limitations:` alone arrives as that."""
    return None if value == "" else value


def _as_entries(value: Any) -> Any:
    if value in ("", None):
        return ()
    return tuple(value) if isinstance(value, list) else value


ExactText = Annotated[str, Strict(), AfterValidator(refuse_unsafe)]
"""Text kept code point by code point, such as a value stored in a database."""

LooseText = Annotated[str, Strict(), AfterValidator(normalize_text), AfterValidator(refuse_unsafe)]
"""Text in NFC with LF line ends that may be empty."""

Text = Annotated[LooseText, AfterValidator(refuse_blank)]
"""Text in NFC with LF line ends that says something."""

Line = Annotated[Text, AfterValidator(refuse_line_ends)]
"""Such text on a single line."""

OptionalText = Annotated[Text | None, BeforeValidator(none_if_empty)]
"""Such text, or None; an empty text counts as absent."""

OptionalExactText = Annotated[ExactText | None, BeforeValidator(none_if_empty)]
"""A stored value, or None; an empty text counts as absent."""

Entries = Annotated[tuple[Entry, ...], BeforeValidator(_as_entries), Field(max_length=MAX_ENTRIES)]
"""A list of at most `MAX_ENTRIES`, taken from a list or tuple and kept as a tuple."""
