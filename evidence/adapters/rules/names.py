"""Columns, tables and addresses that a text names, and phrases without their wrapping."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable

from evidence.domain.identifiers import column_name, table_name
from evidence.domain.problems import FieldRefused
from evidence.domain.text import UNSAFE
from evidence.domain.units import EvidenceScope

_PART = r'(?:"[^"\n]{1,63}"|[A-Za-z_][\w$]*)'
TABLE = rf"{_PART}\.{_PART}"
COLUMN = rf"{_PART}\.{_PART}\.{_PART}(?![\w.(]*\()"
_COLUMN = re.compile(rf"(?<![\w.\"@/-]){COLUMN}(?!\.\w)")
_TABLE = re.compile(rf"(?<![\w.\"@/-])({_PART})\.({_PART})(?!\.?[\w(\"])")
_TABLE_WORD = re.compile(
    r"(?:\b(?:tabell[ae]|vist[ae]|tables?|views?|from|join|in|da|su|into)\s+|`)$", re.IGNORECASE
)
URL = re.compile(r"https?://[^\s<>\"`|]+[^\s<>\"`|.,;:!?)\]}'*_]")
_LITERAL = re.compile(r"'(?:[^']|'')*'")
_NO_NAME = frozenset(
    {"md", "txt", "sql", "py", "csv", "pdf", "xlsx", "xls", "doc", "docx", "json", "yaml", "yml"}
    | {"xml", "html", "htm", "png", "jpg", "com", "it", "org", "net", "eu", "gov", "edu", "www"}
)
_ARTICLE = re.compile(
    r"(?:(?:il|lo|la|i|gli|le|un|uno|una|the|an?)\s+|(?:l|un|dell|all)['’]\s*)", re.IGNORECASE
)
_QUOTES = "`*_\"'«»“”‘’ \t\n"
MAX_TITLE = 200


def columns_in(text: str) -> tuple[str, ...]:
    """Give the columns `schema.table.column` a text names, canonical, each once, in order."""
    found = (match[0] for match in _COLUMN.finditer(_without_addresses(text)))
    return _distinct(column_name, (name for name in found if _is_name(name)))


def tables_in(text: str) -> tuple[str, ...]:
    """Give the tables `schema.table` a text names: those of its columns, and those said to be."""
    plain = _without_addresses(text)
    columns = columns_in(text)
    schemas = {column.split(".")[0] for column in columns}
    named = [column.rpartition(".")[0] for column in columns]
    for match in _TABLE.finditer(plain):
        sure = match[1].lower() in schemas or _TABLE_WORD.search(plain[: match.start()])
        if sure and _is_name(match[0]):
            named.append(match[0])
    return _distinct(table_name, named)


def scope_of(text: str, *, concepts: Iterable[str] = ()) -> EvidenceScope:
    """Give the scope that a text itself names."""
    return EvidenceScope(
        # A control character is refused with its source, when the unit it stands in is read.
        concepts=tuple(dict.fromkeys(c for c in concepts if c and not UNSAFE.search(c))),
        tables=tables_in(text),
        columns=columns_in(text),
    )


def without_literals(sql: str) -> str:
    """Give SQL with its string literals emptied, so that names in them do not count."""
    return _LITERAL.sub("''", sql)


def bare(phrase: str) -> str:
    """Give a phrase on one line, without markup, quotes or punctuation around it."""
    text = " ".join(re.sub(r"(\*\*|__|`)", "", phrase).split())
    return text.strip(_QUOTES).rstrip(":;,.").strip(_QUOTES)


def without_article(phrase: str) -> str:
    """Give a bare phrase without a leading article."""
    text = bare(phrase)
    return text[match.end() :] if (match := _ARTICLE.match(text)) else text


def as_title(phrase: str) -> str:
    """Give a phrase as a title: bare, a capital first, at most 200 characters, cut at a word."""
    text = bare(phrase)
    if len(text) > MAX_TITLE:
        text = text[: MAX_TITLE - 1].rpartition(" ")[0] + "…"
    return text[:1].upper() + text[1:]


def _without_addresses(text: str) -> str:
    return URL.sub(" ", text)


def _is_name(name: str) -> bool:
    parts = [part.strip('"').lower() for part in name.split(".")]
    return parts[-1] not in _NO_NAME and parts[0] not in _NO_NAME and all(len(p) > 1 for p in parts)


def _distinct(canonical: Callable[[str], str], names: Iterable[str]) -> tuple[str, ...]:
    found: dict[str, None] = {}
    for name in names:
        try:
            found[canonical(name)] = None
        except FieldRefused:
            continue
    return tuple(found)
