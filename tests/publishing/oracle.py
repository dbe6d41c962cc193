"""Units and requests by chance, and which of them belong together by the specification alone."""

from __future__ import annotations

import random
from collections.abc import Sequence
from typing import Any

from evidence.domain.units import CuratedEvidence, EvidencePurpose
from publishing.domain.query import SearchRequest, build_request
from tests.publishing.points import a_unit

PAYLOADS = {
    "glossary": {"term": "t", "definition": "d"},
    "reference": {"url": "https://example.org", "label": "l", "description": "d"},
}
CONCEPTS = ("età", "Età", "reparto", '"Reparto"', "a", "b")
TABLES = ("clinical.patient", 'clinical."Patient"', "clinical.admission")


def a_unit_by_chance(number: int, chance: random.Random) -> CuratedEvidence:
    """Give a unit whose kind, purposes and scope are drawn."""
    kind = chance.choice(list(PAYLOADS))
    return a_unit(
        f"Unità {number}",
        kind=kind,
        payload=PAYLOADS[kind],
        purposes=_some(list(EvidencePurpose), chance, at_least=1),
        scope={
            "concepts": _some(CONCEPTS, chance),
            "tables": _some(TABLES, chance),
            "columns": [f"{table}.id" for table in _some(TABLES, chance)],
        },
    )


def a_request_by_chance(chance: random.Random) -> SearchRequest:
    """Give a request whose purpose, context and required values are drawn."""
    context = {
        "concepts": _some(CONCEPTS, chance),
        "required_kinds": _some(list(PAYLOADS), chance),
        "required_concepts": _some([*CONCEPTS, "ignoto"], chance, at_most=2),
        "required_tables": _some([*TABLES, "clinical.none"], chance, at_most=2),
        "required_columns": [f"{table}.id" for table in _some(TABLES, chance, at_most=1)],
    }
    query, purpose = f"Unità {chance.randrange(60)}", chance.choice(list(EvidencePurpose))
    return build_request({"query": query, "purpose": purpose, "context": context})


def is_wanted(unit: CuratedEvidence, request: SearchRequest) -> bool:
    """Decide by the specification's sentence, without the code under test."""
    context = request.context
    for required, present in (
        (context.required_concepts, unit.scope.concepts),
        (context.required_tables, unit.scope.tables),
        (context.required_columns, unit.scope.columns),
        (context.required_kinds, (unit.kind,)),
    ):
        if required and not any(value in present for value in required):
            return False
    return request.purpose in unit.purposes


def _some(
    values: Sequence[Any], chance: random.Random, *, at_least: int = 0, at_most: int = 3
) -> list[Any]:
    return chance.sample(list(values), chance.randint(at_least, min(at_most, len(values))))
