"""YAML written one way only: block style, and no text another reader could take for a number."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator, Mapping, Sequence

_INDENT = "  "
_MAX_SIMPLE_KEY = 120  # a YAML reader looks at most 1,024 characters ahead for the colon

# Text that YAML 1.1 or 1.2 would resolve to a boolean, null, number, date, time or merge key.
_AMBIGUOUS = re.compile(
    r"(?:~|null|true|false|yes|no|on|off|y|n|=|<<|[-+]?\.(?:inf|nan)"
    r"|[-+]?\.?[0-9][0-9a-f_.,:xotz +-]*)\Z",
    re.IGNORECASE,
)
_PLAIN = re.compile(r"(?![-?:,\[\]{}#&*!|>'\"%@`]|\.\.\.)(?:(?!: | #)[^\t\n])*(?<!:)\Z")
# Characters a reader would not see: controls, format and bidirectional characters, separators.
_HIDDEN = re.compile(
    r"[\x00-\x08\x0b-\x1f\x7f-\x9f\xad\u061c\u180e\u200b-\u200f\u2028-\u202e\u2060-\u206f"
    r"\ud800-\udfff\ufeff\ufff9-\ufffb\ufffe\uffff\U000e0000-\U000e007f]"
)
_TRAILING_BLANKS = re.compile(r"[ \t](?:\n|\Z)")
_ESCAPED = re.compile(rf'["\\\n\t]|{_HIDDEN.pattern}')
_ESCAPED_ALL = re.compile(rf'["\\\n\t]|{_HIDDEN.pattern}|[^\x00-\x7f]')
_SHORT_ESCAPES = {'"': '\\"', "\\": "\\\\", "\n": "\\n", "\t": "\\t", "\r": "\\r"}


def write_yaml(data: Mapping[str, object]) -> str:
    """Give a mapping as YAML: keys in the order given, block style, one terminal newline.

    Takes text, whole numbers, booleans, mappings and sequences; an empty collection is written
    as `[]` or `{}`. Raises `TypeError` for anything else.
    """
    return "\n".join(_mapping(data, "")) + "\n"


def _mapping(data: Mapping[str, object], pad: str) -> Iterator[str]:
    for key, value in data.items():
        name = _one_line(key)
        head = f"{pad}{name}:" if len(name) <= _MAX_SIMPLE_KEY else f"{pad}? {name}\n{pad}:"
        yield from _entry(head, value, pad)


def _entry(head: str, value: object, pad: str) -> Iterator[str]:
    if isinstance(value, Mapping) and value:
        yield head
        yield from _mapping(value, pad + _INDENT)
    elif isinstance(value, Sequence) and not isinstance(value, str) and value:
        yield head
        for item in value:
            yield from _item(item, pad)
    else:
        yield f"{head} {_scalar(value, pad + _INDENT)}"


def _item(value: object, pad: str) -> Iterator[str]:
    if isinstance(value, Mapping) and value:
        lines = _mapping(value, pad + _INDENT)
        yield f"{pad}- {next(lines)[len(pad) + 2 :]}"
        yield from lines
    elif isinstance(value, Sequence) and not isinstance(value, str) and value:
        yield f"{pad}-"
        for item in value:
            yield from _item(item, pad + _INDENT)
    else:
        yield f"{pad}- {_scalar(value, pad + _INDENT)}"


def _scalar(value: object, pad: str) -> str:
    if isinstance(value, str):
        return _literal(value, pad) if _fits_literal(value) else _one_line(value)
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int):
        return str(value)
    if isinstance(value, (Mapping, Sequence)):
        return "{}" if isinstance(value, Mapping) else "[]"
    raise TypeError(f"{type(value).__name__} has no place in a YAML file of ours")


def _fits_literal(text: str) -> bool:
    return (
        "\n" in text
        and bool(text.strip())
        and not _HIDDEN.search(text)
        and not _TRAILING_BLANKS.search(text)
        and unicodedata.is_normalized("NFC", text)
    )


def _literal(text: str, pad: str) -> str:
    content = text.rstrip("\n")
    newlines = len(text) - len(content)
    chomp = "-" if newlines == 0 else "" if newlines == 1 else "+"
    # Without a stated indent a reader would take leading blanks for the indentation.
    stated = "2" if content.lstrip("\n")[0] in " \t" else ""
    lines = [pad + line if line else "" for line in content.split("\n")]
    return "\n".join([f"|{stated}{chomp}", *lines, *[""] * (newlines - 1)])


def _one_line(text: str) -> str:
    if "\n" in text or "\t" in text or _HIDDEN.search(text):
        return _double_quoted(text)
    if not unicodedata.is_normalized("NFC", text):
        return _double_quoted(text)
    if text != text.strip() or not text or _AMBIGUOUS.match(text) or not _PLAIN.match(text):
        return "'" + text.replace("'", "''") + "'"
    return text


def _double_quoted(text: str) -> str:
    quoted = _ESCAPED.sub(_escape, text)
    # Files are read in NFC: a mark must not melt into the letter before it, or into an escape.
    if not unicodedata.is_normalized("NFC", quoted):
        quoted = _ESCAPED_ALL.sub(_escape, text)
    return f'"{quoted}"'


def _escape(found: re.Match[str]) -> str:
    letter = found[0]
    code = ord(letter)
    if letter in _SHORT_ESCAPES:
        return _SHORT_ESCAPES[letter]
    if code <= 0xFF:
        return f"\\x{code:02X}"
    return f"\\u{code:04X}" if code <= 0xFFFF else f"\\U{code:08X}"
