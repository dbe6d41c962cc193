"""Ground values on the active generation: an outcome, like a search's (spec 60, Grounding)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Final
from uuid import UUID

from evidence import wiring as evidence_wiring
from evidence.reading import read_revision
from publishing import generations, groundings
from publishing.domain.grounding import GroundedValue, GroundingIndex
from publishing.domain.places import places_of
from publishing.outcomes import Unavailable, UnavailableCode, unavailable

KEPT: Final = 8
"""Indexes a process keeps in memory: the active generations, and those just before them."""


@dataclass(frozen=True, slots=True)
class Grounded:
    """Every value in the order it was asked, from one generation."""

    generation: UUID
    revision: str
    values: tuple[GroundedValue, ...]


def ground(workspace: str, values: Sequence[str]) -> Grounded | Unavailable:
    """Give all published columns of each value, as of the active generation.

    Needs neither store nor embedder. Raises the faults of the repository for a generation that was
    built before its places were kept.
    """
    live = generations.lately_active(workspace)
    if live is None:
        return unavailable(UnavailableCode.NO_ACTIVE_GENERATION)
    index = _index(workspace, live.stored.id, live.stored.revision)
    return Grounded(
        generation=live.stored.id,
        revision=live.stored.revision,
        values=tuple(index.ground(value) for value in values),
    )


def mentioned(
    workspace: str, texts: Sequence[str], *, generation: UUID
) -> tuple[GroundedValue, ...]:
    """Give what the words of texts name, as of the active or retained generation of an answer.

    Nothing when the generation is gone by now. Raises what `ground` raises.
    """
    live = generations.searchable(workspace, generation)
    if live is None:
        return ()
    index = _index(workspace, live.stored.id, live.stored.revision)
    return tuple(found for text in texts for found in index.mentioned(text))


@lru_cache(maxsize=KEPT)
def _index(workspace: str, generation: UUID, revision: str) -> GroundingIndex:
    """Put a generation's places in order, once a process: they never change."""
    kept = groundings.read(generation)
    if kept is None:  # built before places were kept: its revision still says the same
        tree = read_revision(evidence_wiring.repository(workspace), revision)
        kept = places_of(groundings.units_of(tree))
    return GroundingIndex(kept.places, kept.formulas)
