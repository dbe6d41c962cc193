"""Makers of units, generations and points for the tests of publishing."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any
from uuid import UUID, uuid4, uuid5

from evidence.domain.identifiers import slug_of, unit_path
from evidence.domain.units import CuratedEvidence, build_unit
from publishing.domain.points import Point, draft_points
from publishing.ports import Embedder, StoredGeneration

SPACE = UUID("6f0c1c5e-30a4-4d5b-9d0e-3d8a4d9c4c11")
REVISION = "a" * 40
COLLECTION = f"portal-test-{uuid4().hex[:12]}"
"""A name that nobody else has: these tests also run against servers with other collections."""


def a_unit(title: str, **changes: Any) -> CuratedEvidence:
    """Give a valid glossary unit with this title, changed where asked."""
    fields: dict[str, Any] = {
        "schema_version": 1,
        "id": f"evidence:{slug_of(title)}",
        "kind": "glossary",
        "title": title,
        "purposes": ["disambiguation"],
        "provenance": {
            "source_file": "source/note.md",
            "source_sha256": "sha256:" + "0" * 64,
            "supporting_excerpts": ["Una frase."],
        },
        "payload": {"term": title, "definition": f"Che cosa significa {title}."},
    }
    return build_unit(fields | changes)


def a_generation(name: str = "one", **changes: Any) -> StoredGeneration:
    """Give a generation that the bag-of-words embedder fits."""
    fields: dict[str, Any] = {
        "id": uuid5(SPACE, name),
        "workspace": "clinica-demo",
        "revision": REVISION,
        "attempt": 1,
        "collection": COLLECTION,
        "dimension": 64,
        "language": "it",
        "avg_len": 14,
    }
    return StoredGeneration(**fields | changes)


def some_points(
    units: Sequence[CuratedEvidence], generation: StoredGeneration, embedder: Embedder
) -> list[Point]:
    """Give the points of these units, in order."""
    drafts = [
        draft
        for unit in units
        for draft in draft_points(unit, path=unit_path(unit.kind, unit.id), key=generation.key)
    ]
    vectors = embedder.embed_documents([draft.text for draft in drafts])
    return [
        draft.with_vector(vector, dimension=generation.dimension)
        for draft, vector in zip(drafts, vectors, strict=True)
    ]
