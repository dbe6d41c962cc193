"""The columns that published enums and mappings name, and the names of formulas, as plain rows."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from evidence.domain.payloads import EnumPayload, FormulaPayload, MappingPayload, MappingTarget
from evidence.domain.units import CuratedEvidence

_FIRST_CLAUSE = re.compile(r"[^,;:(\n]+")


@dataclass(frozen=True, slots=True)
class Place:
    """One column that stores something, and every name under which that is looked for."""

    names: tuple[str, ...]
    column: str
    stored_value: str | None
    """As the database stores it; None where only a condition picks it out (see `meaning`)."""
    meaning: str
    evidence_id: str

    @property
    def key(self) -> tuple[str, str, str, str]:
        """Give what tells two rows of an answer apart, in the order they are listed."""
        return (self.column, self.stored_value or "", self.meaning, self.evidence_id)


@dataclass(frozen=True, slots=True)
class Formula:
    """A formula by the names of what it computes."""

    names: tuple[str, ...]
    evidence_id: str


@dataclass(frozen=True, slots=True)
class Places:
    """What one generation says about values: all places, and the formulas that may cover a term."""

    places: tuple[Place, ...]
    formulas: tuple[Formula, ...]

    def as_json(self) -> dict[str, Any]:
        """Give lists of plain values, as a row of the database keeps them."""
        return {
            "places": [
                [list(one.names), one.column, one.stored_value, one.meaning, one.evidence_id]
                for one in self.places
            ],
            "formulas": [[list(one.names), one.evidence_id] for one in self.formulas],
        }


def places_of(units: Iterable[CuratedEvidence]) -> Places:
    """Give the places and formulas of units; other kinds than enum, mapping, formula say none."""
    places: list[Place] = []
    formulas: list[Formula] = []
    for unit in units:
        match unit.payload:
            case EnumPayload() as payload:
                places += _enum_places(unit, payload)
            case MappingPayload() as payload:
                places += _mapping_places(unit, payload)
            case FormulaPayload() as payload:
                names = _distinct((payload.concept, unit.title, *unit.scope.concepts))
                formulas.append(Formula(names=names, evidence_id=unit.id))
            case _:
                pass
    return Places(places=tuple(places), formulas=tuple(formulas))


def places_from_json(kept: Mapping[str, Any]) -> Places:
    """Give what `Places.as_json` wrote."""
    return Places(
        places=tuple(Place(tuple(names), *rest) for names, *rest in kept["places"]),
        formulas=tuple(Formula(tuple(names), found) for names, found in kept["formulas"]),
    )


def _enum_places(unit: CuratedEvidence, payload: EnumPayload) -> Iterator[Place]:
    """A value is found by itself, by its meaning, and by the first clause of its meaning."""
    for entry in payload.values:
        first_clause = _FIRST_CLAUSE.match(entry.meaning)
        names = (entry.value, entry.meaning, first_clause[0] if first_clause else "")
        yield Place(
            names=_distinct(names),
            column=payload.column,
            stored_value=entry.value,
            meaning=entry.meaning,
            evidence_id=unit.id,
        )


def _mapping_places(unit: CuratedEvidence, payload: MappingPayload) -> Iterator[Place]:
    """A target is found by the term, by the concepts of the unit, and by the value it stores."""
    for target in payload.targets:
        names = (payload.term, *unit.scope.concepts, target.value or "")
        yield Place(
            names=_distinct(names),
            column=target.column,
            stored_value=target.value,
            meaning=_meaning(payload.term, target),
            evidence_id=unit.id,
        )


def _meaning(term: str, target: MappingTarget) -> str:
    return f"{term}: {target.condition}" if target.condition else term


def _distinct(names: Iterable[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(name.strip() for name in names if name.strip()))
