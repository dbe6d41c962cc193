"""Names: the ids and paths of units, and the table and column names they point at."""

from __future__ import annotations

import hashlib
import re
import unicodedata
from collections.abc import Collection
from typing import Annotated

from pydantic import AfterValidator

from evidence.domain.problems import FieldRefused
from evidence.domain.text import Line, normalize_text
from evidence.messages import Message, gettext_noop

ID_PREFIX = "evidence:"
MAX_SLUG = 80
EVIDENCE_ID = re.compile(r"evidence:(?=.{1,80}\Z)[a-z0-9]+(?:-[a-z0-9]+)*\Z")

_OTHER_RUNS = re.compile(r"[^a-z0-9]+")
_PART = r'(?:[^\W\d][\w$]*|"(?:[^"]|"")+")'
_NAME = re.compile(rf"{_PART}(?:\.{_PART})*\Z")
_PARTS = re.compile(_PART)
_NEEDS_NO_QUOTES = re.compile(r"[a-z_][a-z0-9_$]*\Z")
_MAX_PART_BYTES = 63  # NAMEDATALEN - 1: PostgreSQL cuts longer names, so none can exist
_ASCII_LOWER = str.maketrans("ABCDEFGHIJKLMNOPQRSTUVWXYZ", "abcdefghijklmnopqrstuvwxyz")


def slug_of(title: str) -> str:
    """Give the slug of a title, at most 80 characters, cut on a hyphen (spec 10, Ids)."""
    decomposed = unicodedata.normalize("NFKD", title)
    bare = "".join(letter for letter in decomposed if not unicodedata.combining(letter))
    slug = _OTHER_RUNS.sub("-", bare.lower()).strip("-")
    if not slug:
        digest = hashlib.sha256(normalize_text(title).encode("utf-8", "surrogatepass"))
        return f"unit-{digest.hexdigest()[:8]}"
    return _cut(slug, MAX_SLUG)


def evidence_id_for(title: str, taken: Collection[str]) -> str:
    """Give the id of a new unit: its slug, with -2, -3, … when `taken` holds it (spec 10, Ids)."""
    slug = slug_of(title)
    candidate, number = f"{ID_PREFIX}{slug}", 1
    while candidate in taken:
        number += 1
        suffix = f"-{number}"
        candidate = f"{ID_PREFIX}{_cut(slug, MAX_SLUG - len(suffix))}{suffix}"
    return candidate


def slug_from_id(evidence_id: str) -> str:
    """Give the slug inside an id, which is also the name of its file."""
    return evidence_id.removeprefix(ID_PREFIX)


def unit_path(kind: str, evidence_id: str) -> str:
    """Give the one path a unit may lie at, relative to `evidence/` (spec 10, The file)."""
    return f"curated/{kind}/{slug_from_id(evidence_id)}.md"


def _cut(slug: str, limit: int) -> str:
    if len(slug) <= limit:
        return slug
    head, hyphen, _ = slug[: limit + 1].rpartition("-")
    return head if hyphen else slug[:limit]


def identifier_parts(name: str) -> tuple[str, ...]:
    """Split a dotted PostgreSQL name into its canonical parts; empty when it is not one.

    Unquoted parts fold to lower case as PostgreSQL does (ASCII only); quoted ones keep their case,
    and lose the quotes when they say nothing.
    """
    if not _NAME.match(name):
        return ()
    parts = tuple(_canonical_part(part) for part in _PARTS.findall(name))
    if any(len(part.strip('"').encode()) > _MAX_PART_BYTES for part in parts):
        return ()
    return parts


def table_name(name: str) -> str:
    """Give `schema.table` in canonical form. Raises `FieldRefused` when it is not one."""
    return _name_of(name, 2, gettext_noop("“%(name)s” is not a table written schema.table."))


def column_name(name: str) -> str:
    """Give `schema.table.column` in canonical form. Raises `FieldRefused` when it is not one."""
    template = gettext_noop("“%(name)s” is not a column written schema.table.column.")
    return _name_of(name, 3, template)


def _name_of(name: str, length: int, template: str) -> str:
    parts = identifier_parts(name)
    if len(parts) != length:
        raise FieldRefused(Message(template, name=name))
    return ".".join(parts)


def _canonical_part(part: str) -> str:
    if not part.startswith('"'):
        return part.translate(_ASCII_LOWER)
    return part[1:-1] if _NEEDS_NO_QUOTES.match(part[1:-1]) else part


def _evidence_id(text: str) -> str:
    if not EVIDENCE_ID.match(text):
        template = gettext_noop(
            "“%(id)s” is not an id: evidence: and at most 80 lower-case letters, digits and"
            " single hyphens."
        )
        raise FieldRefused(Message(template, id=text))
    return text


EvidenceId = Annotated[Line, AfterValidator(_evidence_id)]
"""`evidence:<slug>` (spec 10, Envelope)."""

TableName = Annotated[Line, AfterValidator(table_name)]
"""`schema.table`, checked by syntax only."""

ColumnName = Annotated[Line, AfterValidator(column_name)]
"""`schema.table.column`, checked by syntax only."""
