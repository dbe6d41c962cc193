"""The labelled lines of a unit: what is always said, what may be cut between, what closes it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from evidence.domain.payloads import (
    DomainPayload,
    EnumPayload,
    ExamplePayload,
    FormulaPayload,
    GlossaryPayload,
    MappingPayload,
    MappingTarget,
    NormalizationPayload,
    ReferencePayload,
)
from evidence.domain.units import CuratedEvidence

Line = tuple[str, str]
"""A label, English for every language, and its value."""


@dataclass(frozen=True, slots=True)
class Lines:
    """What one kind says of its payload, in order; `printed` are values no later line repeats."""

    header: tuple[Line, ...]
    atoms: tuple[str, ...] = ()
    printed: frozenset[str] = frozenset()
    synonyms: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Rendering:
    """One unit, ready to be written whole or in parts; `body` is text of a domain unit only."""

    header: tuple[str, ...]
    atoms: tuple[str, ...]
    footer: tuple[str, ...]
    body: str

    def text(
        self,
        *,
        atoms: Sequence[str] | None = None,
        body: str | None = None,
        path: Iterable[str] = (),
    ) -> str:
        """Write the labels around these atoms or this body (default: all of them).

        `path` is the heading path of a part of a body.
        """
        chosen = self.atoms if atoms is None else atoms
        section = " > ".join(path)
        lines = [*self.header, *chosen, *self.footer]
        if section:
            lines.append(f"Section: {section}")
        if self.body:
            lines += ["", self.body if body is None else body]
        return "\n".join(lines)


def rendering_of(unit: CuratedEvidence) -> Rendering:
    """Give the lines of a unit: title, the kind's own, then what those did not print."""
    lines = _RENDERERS[type(unit.payload)](unit.payload)
    title = f"{unit.kind.value.capitalize()}: {unit.title}"
    return Rendering(
        header=(title, *(f"{label}: {value}" for label, value in lines.header)),
        atoms=lines.atoms,
        footer=tuple(_closing(unit, lines)),
        body=unit.body if isinstance(unit.payload, DomainPayload) else "",
    )


def _closing(unit: CuratedEvidence, lines: Lines) -> Iterator[str]:
    closing: tuple[tuple[str, Iterable[str]], ...] = (
        ("Purposes", (purpose.value for purpose in unit.purposes)),
        ("Concepts", unit.scope.concepts),
        ("Tables", unit.scope.tables),
        ("Columns", unit.scope.columns),
        ("Synonyms", lines.synonyms),
    )
    for label, values in closing:
        unsaid = [value for value in values if value not in lines.printed]
        if unsaid:
            yield f"{label}: {', '.join(unsaid)}"


def _glossary(payload: GlossaryPayload) -> Lines:
    return Lines(
        (("Term", payload.term), ("Definition", payload.definition)),
        printed=frozenset({payload.term}),
        synonyms=payload.synonyms,
    )


def _domain(payload: DomainPayload) -> Lines:
    return Lines((("Topic", payload.topic),), printed=frozenset({payload.topic}))


def _enum(payload: EnumPayload) -> Lines:
    return Lines(
        (("Column", payload.column),),
        atoms=tuple(f"Value: {entry.value} = {entry.meaning}" for entry in payload.values),
        printed=frozenset({payload.column}),
    )


def _example(payload: ExamplePayload) -> Lines:
    header = [("Question", payload.question), ("SQL", payload.sql)]
    if payload.explanation:
        header.append(("Explanation", payload.explanation))
    return Lines(tuple(header))


def _mapping(payload: MappingPayload) -> Lines:
    columns = {target.column for target in payload.targets}
    return Lines(
        (("Term", payload.term),),
        atoms=tuple(map(_target, payload.targets)),
        printed=frozenset({payload.term} | columns),
    )


def _target(target: MappingTarget) -> str:
    parts = [f"Target: {target.column}"]
    if target.value is not None:
        parts.append(f"Value: {target.value}")
    if target.condition is not None:
        parts.append(f"Condition: {target.condition}")
    return "; ".join(parts)


def _normalization(payload: NormalizationPayload) -> Lines:
    return Lines(
        (("Target", payload.target),),
        atoms=tuple(f"Rule: {rule.match} → {rule.replacement}" for rule in payload.rules),
        printed=frozenset({payload.target}),
    )


def _formula(payload: FormulaPayload) -> Lines:
    header = [("Concept", payload.concept)]
    if payload.columns:
        header.append(("Columns", ", ".join(payload.columns)))
    header.append(("SQL", payload.sql))
    if payload.limitations:
        header.append(("Limitations", payload.limitations))
    return Lines(tuple(header), printed=frozenset({payload.concept, *payload.columns}))


def _reference(payload: ReferencePayload) -> Lines:
    return Lines(
        (("URL", payload.url), ("Label", payload.label), ("Description", payload.description))
    )


_RENDERERS: Mapping[type, Callable[[Any], Lines]] = {
    GlossaryPayload: _glossary,
    DomainPayload: _domain,
    EnumPayload: _enum,
    ExamplePayload: _example,
    MappingPayload: _mapping,
    NormalizationPayload: _normalization,
    FormulaPayload: _formula,
    ReferencePayload: _reference,
}
