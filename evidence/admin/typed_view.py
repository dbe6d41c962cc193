"""A unit's payload as labelled parts that one template can show, whatever the kind."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import assert_never

from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _

from evidence.domain.payloads import (
    DomainPayload,
    EnumPayload,
    ExamplePayload,
    FormulaPayload,
    GlossaryPayload,
    MappingPayload,
    NormalizationPayload,
    ReferencePayload,
)
from evidence.domain.units import CuratedEvidence

Text = str | Promise


@dataclass(frozen=True, slots=True)
class Part:
    """One labelled part; exactly one of the other fields is filled."""

    label: Text
    text: str = ""
    code: str = ""
    names: tuple[str, ...] = ()
    headers: tuple[Text, ...] = ()
    rows: tuple[tuple[str, ...], ...] = ()
    link: str = ""


def parts(unit: CuratedEvidence) -> tuple[Part, ...]:
    """Give the parts of the payload in reading order; empty optional ones are left out."""
    return tuple(part for part in _parts(unit) if any(_content(part)))


def _content(part: Part) -> Sequence[object]:
    return (part.text, part.code, part.names, part.rows, part.link)


def _parts(unit: CuratedEvidence) -> Sequence[Part]:
    payload = unit.payload
    if isinstance(payload, FormulaPayload | ExamplePayload):
        return _with_sql(payload)
    if isinstance(payload, EnumPayload | MappingPayload | NormalizationPayload):
        return _with_rows(payload)
    return _with_words(payload)


def _with_sql(payload: FormulaPayload | ExamplePayload) -> Sequence[Part]:
    if isinstance(payload, FormulaPayload):
        return (
            Part(_("Concept"), text=payload.concept),
            Part(_("SQL expression"), code=payload.sql),
            Part(_("Columns it uses"), names=tuple(payload.columns)),
            Part(_("Limits"), text=payload.limitations or ""),
        )
    return (
        Part(_("Question"), text=payload.question),
        Part(_("SQL query"), code=payload.sql),
        Part(_("Explanation"), text=payload.explanation or ""),
    )


def _with_rows(payload: EnumPayload | MappingPayload | NormalizationPayload) -> Sequence[Part]:
    if isinstance(payload, EnumPayload):
        values = tuple((item.value, item.meaning) for item in payload.values)
        return (
            Part(_("Column"), names=(payload.column,)),
            Part(_("Values"), headers=(_("Stored value"), _("Meaning")), rows=values),
        )
    if isinstance(payload, MappingPayload):
        targets = tuple(
            (item.column, item.value or "", item.condition or "") for item in payload.targets
        )
        headers = (_("Column"), _("Value"), _("Condition"))
        return (
            Part(_("Term"), text=payload.term),
            Part(_("Where it is stored"), headers=headers, rows=targets),
        )
    rules = tuple((rule.match, rule.replacement) for rule in payload.rules)
    return (
        Part(_("Applies to"), names=(payload.target,)),
        Part(_("Rules"), headers=(_("Written as"), _("Read as")), rows=rules),
    )


def _with_words(payload: GlossaryPayload | DomainPayload | ReferencePayload) -> Sequence[Part]:
    match payload:
        case GlossaryPayload():
            return (
                Part(_("Term"), text=payload.term),
                Part(_("Definition"), text=payload.definition),
                Part(_("Also called"), names=tuple(payload.synonyms)),
            )
        case DomainPayload():
            return (Part(_("Topic"), text=payload.topic),)
        case ReferencePayload():
            return (
                Part(_("Label"), text=payload.label),
                Part(_("Address"), link=str(payload.url)),
                Part(_("Description"), text=payload.description),
            )
        case _:
            assert_never(payload)
