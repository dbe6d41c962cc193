"""The places of a generation as one row, written when it is built."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final
from uuid import UUID

from evidence.domain.codec import parse_curated_markdown
from evidence.domain.tree import EvidenceTree
from evidence.domain.units import CuratedEvidence, EvidenceKind
from publishing.domain.places import Places, places_from_json, places_of
from publishing.models import Generation, GroundingRecord

KINDS: Final = (EvidenceKind.ENUM, EvidenceKind.MAPPING, EvidenceKind.FORMULA)


def write(generation: Generation, tree: EvidenceTree) -> None:
    """Keep the places of the tree's enums, mappings and formulas with the generation.

    A repeated build writes the same again. Raises `UnitInvalid`.
    """
    GroundingRecord.objects.update_or_create(
        generation=generation, defaults={"places": places_of(units_of(tree)).as_json()}
    )


def units_of(tree: EvidenceTree) -> Iterator[CuratedEvidence]:
    """Read the units that say where values are stored; others are not parsed."""
    for kind in KINDS:
        for path, content in sorted(tree.under(f"curated/{kind}/").items()):
            if path.endswith(".md"):
                yield parse_curated_markdown(content.decode("utf-8-sig"), path=path)


def forget(generation: Generation) -> None:
    """Delete the places of a generation whose points are gone."""
    GroundingRecord.objects.filter(generation=generation).delete()


def read(generation: UUID) -> Places | None:
    """Give a generation's places; None when it was built before places were kept."""
    row = GroundingRecord.objects.filter(generation=generation).first()
    return places_from_json(row.places) if row else None
