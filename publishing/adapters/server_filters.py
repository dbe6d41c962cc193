"""Which points a request to a Qdrant server means; ours always say that they are evidence."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

from publishing.domain.query import EvidenceFilter
from publishing.ports import StoredGeneration

Json = Mapping[str, object]
TENANT: Final = "workspace_id"
RECORD_KIND: Final = "evidence"


def of_generation(generation: StoredGeneration, *, vectors: Sequence[str] = ()) -> Json:
    """Select the evidence of one generation, and of it only points that have these vectors."""
    return {
        "must": [
            _is("record_kind", RECORD_KIND),
            _is(TENANT, generation.workspace),
            _is("vector_generation", str(generation.id)),
            *({"has_vector": name} for name in vectors),
        ]
    }


def of_kind(kind: str) -> Json:
    """Select the records of one kind."""
    return {"must": [_is("record_kind", kind)]}


def of_no_kind(kinds: Sequence[str]) -> Json:
    """Select the records of none of these kinds, those without a kind included."""
    return {"must_not": [_is_any("record_kind", kinds)]}


def of_another_kind(kinds: Sequence[str]) -> Json:
    """Select the records of other kinds than these, and none without a kind."""
    without = {"is_empty": {"key": "record_kind"}}
    return {"must_not": [_is_any("record_kind", kinds), without]}


def wanted(filter_: EvidenceFilter) -> Json:
    """Select what a question may find: values of one list are alternatives, lists are joined."""
    lists = {
        "evidence_kind": filter_.kinds,
        "concepts": filter_.concepts,
        "tables": filter_.tables,
        "columns": filter_.columns,
    }
    return {
        "must": [
            _is("record_kind", RECORD_KIND),
            _is(TENANT, filter_.workspace),
            _is("workspace_revision", filter_.revision),
            _is("vector_generation", str(filter_.generation)),
            _is("purposes", filter_.purpose.value),
            *(_is_any(key, values) for key, values in lists.items() if values),
        ]
    }


def _is(key: str, value: str) -> Json:
    return {"key": key, "match": {"value": value}}


def _is_any(key: str, values: Sequence[str]) -> Json:
    # The document wants each value once.
    return {"key": key, "match": {"any": list(dict.fromkeys(str(value) for value in values))}}
