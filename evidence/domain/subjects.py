"""What a unit speaks of and what it says of it, so that units which disagree can be found."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from evidence.domain.payloads import (
    EnumPayload,
    FormulaPayload,
    GlossaryPayload,
    MappingPayload,
    MappingTarget,
    Payload,
)
from evidence.domain.sql import SqlRefused, normalized_sql
from evidence.domain.units import CuratedEvidence
from evidence.domain.wording import worded

CONFLICTING_FORMULA = "conflicting_formula"
CONFLICTING_ENUM = "conflicting_enum"
CONFLICTING_TERM = "conflicting_term"

Sayings = Mapping[str, str]
"""What is said, by the part it is said of: by value of an enum, else of the whole, `""`."""


@dataclass(frozen=True, slots=True)
class Subject:
    """What units can contradict each other about; `key` is equal for the same thing only."""

    code: str
    key: str


def subject_of(unit: CuratedEvidence, *, language: str) -> Subject | None:
    """Give the concept, column or term a unit speaks of; None when it is of another kind.

    Words are compared within one language only; `language` is that of the workspace.
    """
    payload, tongue = unit.payload, unit.language or language
    if isinstance(payload, FormulaPayload):
        return _subject(CONFLICTING_FORMULA, worded(payload.concept))
    if isinstance(payload, EnumPayload):
        return _subject(CONFLICTING_ENUM, payload.column, tongue)
    if isinstance(payload, GlossaryPayload):
        return _subject(CONFLICTING_TERM, "glossary", worded(payload.term), tongue)
    if isinstance(payload, MappingPayload):
        return _subject(CONFLICTING_TERM, "mapping", worded(payload.term))
    return None


def sayings_of(payload: Payload) -> Sayings:
    """Give what a payload with a subject says, in a spelling that can be compared."""
    return _SAYINGS[type(payload)](payload)


def _subject(code: str, *parts: str) -> Subject:
    name = "\0".join((code, *parts))
    return Subject(code, hashlib.blake2b(name.encode(), digest_size=16).hexdigest())


def _of_formula(payload: FormulaPayload) -> Sayings:
    return {"": _sql(payload.sql)}


def _of_enum(payload: EnumPayload) -> Sayings:
    return {entry.value: worded(entry.meaning) for entry in payload.values}


def _of_glossary(payload: GlossaryPayload) -> Sayings:
    return {"": worded(payload.definition)}


def _of_mapping(payload: MappingPayload) -> Sayings:
    return {"": "\n".join(sorted(map(_target, payload.targets)))}


def _target(target: MappingTarget) -> str:
    condition = "" if target.condition is None else _sql(target.condition)
    return f"{target.column}\0{target.value or ''}\0{condition}"


def _sql(text: str) -> str:
    try:
        return normalized_sql(text)
    except SqlRefused:  # what a checked expression may still be too intricate for
        return " ".join(text.split())


_SAYINGS: Mapping[type, Callable[..., Sayings]] = {
    FormulaPayload: _of_formula,
    EnumPayload: _of_enum,
    GlossaryPayload: _of_glossary,
    MappingPayload: _of_mapping,
}
