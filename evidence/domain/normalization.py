"""The only change we make to a source: one deterministic text, its hash, its excerpts."""

from __future__ import annotations

import hashlib

from charset_normalizer import from_bytes

from evidence.domain.text import normalize_text
from evidence.faults import CuratorFault
from evidence.messages import Message, gettext_noop

SAMPLE_BYTES = 64 * 1024
_NARROW = ["cp1252", "mac_roman", "cp850"]
_WIDE = ["utf_16", "utf_16_le", "utf_16_be"]


class InvalidUtf8(CuratorFault):
    """A file is not UTF-8; `offset` is the byte that says so, `encoding` the likely one or None."""

    code = "invalid_utf8"
    hint = gettext_noop("Save the file as UTF-8.")

    def __init__(self, offset: int, encoding: str | None, *, path: str = "") -> None:
        """Name the place and, where one is likely, the encoding."""
        if encoding is None:
            message = Message(gettext_noop("Not UTF-8 at byte %(offset)s."), offset=offset)
        else:
            message = Message(
                gettext_noop("Not UTF-8 at byte %(offset)s; it is probably %(encoding)s."),
                offset=offset,
                encoding=encoding,
            )
        super().__init__(message, path=path)
        self.offset = offset
        self.encoding = encoding


def decode_utf8(data: bytes, *, path: str = "") -> str:
    """Give the text without its byte order mark (spec 20, Sources).

    Raises `InvalidUtf8`, for a NUL too: it is in no text, only in UTF-16 and binary files, and no
    database takes it.
    """
    offset = data.find(b"\0")
    try:
        text = data[:offset].decode("utf-8") if offset >= 0 else data.decode("utf-8")
    except UnicodeDecodeError as error:
        text, offset = "", error.start
    if offset >= 0:
        raise InvalidUtf8(offset, likely_encoding(data, offset), path=path)
    return text.removeprefix("\ufeff")


def likely_encoding(data: bytes, offset: int) -> str | None:
    """Guess the encoding from the bytes around the first one that is not UTF-8.

    Only what office machines here write is considered; asked without a choice, the detector
    takes Italian in Windows-1252 for a Macintosh alphabet of Central Europe.
    """
    start = max(0, offset - SAMPLE_BYTES // 2)
    sample = data[start : start + SAMPLE_BYTES]
    best = from_bytes(sample, cp_isolation=_WIDE if b"\0" in sample else _NARROW).best()
    return best.encoding if best else None


def normalize_source(data: bytes, *, path: str = "") -> str:
    """Give the normalized text of a file: no BOM, NFC, LF, exactly one terminal newline.

    An empty file gives one newline. Raises `InvalidUtf8` (spec 20, Normalization).
    """
    return normalize_text(decode_utf8(data, path=path)).rstrip("\n") + "\n"


def source_hash(text: str) -> str:
    """Give `sha256:<64 hex>` of a normalized text."""
    return f"sha256:{hashlib.sha256(text.encode()).hexdigest()}"


def excerpt_position(text: str, excerpt: str, *, start: int = 0) -> int | None:
    """Give the character offset of an excerpt in a normalized text, or None (literally)."""
    wanted = normalize_text(excerpt).rstrip("\n")
    found = text.find(wanted, start) if wanted else -1
    return None if found < 0 else found


def contains_excerpt(text: str, excerpt: str) -> bool:
    """Tell whether an excerpt occurs word for word in a normalized text."""
    return excerpt_position(text, excerpt) is not None
