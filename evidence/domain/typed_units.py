"""A unit as the fields of a typed form, and the unit that filled-in fields describe.

What no field holds (id, kind, language, provenance, open doubts) is taken from the unit that was
opened, so that a form which nobody touched gives that very unit back.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any, Final, TypeVar

from evidence.domain.cells import Row, line_ends, read_list, read_rows, written_list, written_rows
from evidence.domain.problems import Problem
from evidence.domain.text import MAX_ENTRIES
from evidence.domain.units import (
    CuratedEvidence,
    EvidenceKind,
    EvidencePurpose,
    UnitInvalid,
    build_unit,
)
from evidence.messages import Message, gettext_noop

Entry = TypeVar("Entry")
Typed = Mapping[str, str | Sequence[str]]
"""Texts by field name; `purposes` alone is a list."""

ROWS: Final[Mapping[str, tuple[str, ...]]] = {
    "values": ("value", "meaning"),
    "targets": ("column", "value", "condition"),
    "rules": ("match", "replacement"),
}
"""The payload fields that are tables, with their columns."""

LISTS: Final = frozenset({"synonyms", "columns"})
"""The payload fields that are lists of texts."""

PAYLOAD_FIELDS: Final[Mapping[EvidenceKind, tuple[str, ...]]] = {
    EvidenceKind.GLOSSARY: ("term", "definition", "synonyms"),
    EvidenceKind.DOMAIN: ("topic",),
    EvidenceKind.ENUM: ("column", "values"),
    EvidenceKind.EXAMPLE: ("question", "sql", "explanation"),
    EvidenceKind.MAPPING: ("term", "targets"),
    EvidenceKind.NORMALIZATION: ("target", "rules"),
    EvidenceKind.FORMULA: ("concept", "columns", "sql", "limitations"),
    EvidenceKind.REFERENCE: ("label", "url", "description"),
}
"""What a form asks for each kind, in reading order."""

SCOPE_FIELDS: Final = ("concepts", "tables", "columns")
MAX_FIELD_CHARS: Final = 1024 * 1024
"""Longer than any unit may be, so that its own limits speak first."""


@dataclass(frozen=True, slots=True)
class FieldPlace:
    """Where in a form a problem lies: the field, and the row and cell of a table."""

    name: str
    row: int | None = None
    cell: str = ""


def field_names(kind: EvidenceKind) -> tuple[str, ...]:
    """Give the names of a kind's fields in reading order."""
    payload = (f"payload_{name}" for name in PAYLOAD_FIELDS[kind])
    scope = (f"scope_{name}" for name in SCOPE_FIELDS)
    return ("title", *payload, "body", "purposes", *scope)


def typed(unit: CuratedEvidence) -> dict[str, str | list[str]]:
    """Give what the fields of a unit's form hold when it opens."""
    fields: dict[str, str | list[str]] = {
        "title": unit.title,
        "body": unit.body,
        "purposes": [purpose.value for purpose in unit.purposes],
    }
    for name in SCOPE_FIELDS:
        fields[f"scope_{name}"] = written_list(getattr(unit.scope, name))
    for name in PAYLOAD_FIELDS[unit.kind]:
        fields[f"payload_{name}"] = _shown(name, getattr(unit.payload, name))
    return fields


def unit_of(
    opened: CuratedEvidence, fields: Typed, *, settled: Collection[int] = ()
) -> CuratedEvidence:
    """Give the unit that filled-in fields make of the one opened, without its settled doubts.

    Raises `UnitInvalid` with every problem by the field path of the unit (spec 10).
    """
    data = opened.model_dump(mode="json")
    data["title"], data["body"] = _text(fields, "title"), _text(fields, "body")
    data["purposes"] = _in_order(opened.purposes, fields.get("purposes", ()))
    data["scope"] = {
        name: _some(f"scope.{name}", read_list(_text(fields, f"scope_{name}")))
        for name in SCOPE_FIELDS
    }
    data["payload"] = {
        name: _READERS.get(name, _as_typed)(name, _text(fields, f"payload_{name}"))
        for name in PAYLOAD_FIELDS[opened.kind]
    }
    data["review_items"] = tuple(
        item for place, item in enumerate(data["review_items"]) if place not in settled
    )
    return build_unit(data)


def is_covered(unit: CuratedEvidence) -> bool:
    """Tell whether a form gives this unit back as it is; a browser changes a lone CR."""
    posted = {
        name: line_ends(value) if isinstance(value, str) else value
        for name, value in typed(unit).items()
    }
    try:
        return unit_of(unit, posted) == unit
    except UnitInvalid:
        return False


def place_of_problem(kind: EvidenceKind, field: str) -> FieldPlace:
    """Give where in a kind's form a problem at a field path such as `payload.values.3.meaning` is.

    A field that no form has gives the empty name.
    """
    head, *rest = field.split(".")
    if head == "":
        return FieldPlace("body" if kind is EvidenceKind.DOMAIN else "")
    if head in {"scope", "payload"}:
        name, *rest = rest or [_table_of(kind)]
        head = f"{head}_{name}"
    if head not in field_names(kind):
        return FieldPlace("")
    row = int(rest[0]) if rest and rest[0].isdigit() else None
    return FieldPlace(head, row, rest[1] if len(rest) > 1 else "")


def _table_of(kind: EvidenceKind) -> str:
    return next((name for name in PAYLOAD_FIELDS[kind] if name in ROWS), "")


def _shown(name: str, value: Any) -> str:
    if name in ROWS:
        return written_rows(
            [[getattr(entry, cell) or "" for cell in ROWS[name]] for entry in value]
        )
    return written_list(value) if name in LISTS else str(value or "")


def _text(fields: Typed, name: str) -> str:
    value = fields.get(name, "")
    return line_ends(value) if isinstance(value, str) else ""


def _in_order(before: Iterable[EvidencePurpose], ticked: Collection[str]) -> list[str]:
    kept = [purpose.value for purpose in before if purpose.value in ticked]
    return kept + [value for value in ticked if value not in kept]


def _as_typed(_: str, text: str) -> Any:
    return text


def _list(name: str, text: str) -> Any:
    return _some(f"payload.{name}", read_list(text))


def _table(name: str, text: str) -> Any:
    rows = _some(f"payload.{name}", read_rows(text))
    columns = ROWS[name]
    problems = [
        _too_many_cells(f"payload.{name}.{number}", row, len(columns))
        for number, row in enumerate(rows)
        if len(row) > len(columns) and any(row[len(columns) :])
    ]
    if problems:
        raise UnitInvalid(tuple(problems))
    return tuple(
        dict(zip(columns, row + ("",) * (len(columns) - len(row)), strict=False)) for row in rows
    )


def _some(field: str, entries: Iterator[Entry]) -> tuple[Entry, ...]:
    """Give the entries, of which more than a unit may hold are not even read."""
    kept = tuple(islice(entries, MAX_ENTRIES + 1))
    if len(kept) > MAX_ENTRIES:
        template = gettext_noop("At most %(max_length)s entries are allowed.")
        raise UnitInvalid((Problem(field, Message(template, max_length=MAX_ENTRIES)),))
    return kept


def _too_many_cells(field: str, row: Row, wanted: int) -> Problem:
    template = gettext_noop("This row has %(found)s cells; at most %(wanted)s are expected.")
    return Problem(field, Message(template, found=len(row), wanted=wanted))


_READERS: Final[Mapping[str, Callable[[str, str], Any]]] = {
    **dict.fromkeys(ROWS, _table),
    **dict.fromkeys(LISTS, _list),
}
