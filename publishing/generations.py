"""A generation's row read as values: what a store must know, and which one answers."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from typing import Final
from uuid import UUID

from publishing import conf
from publishing.domain.lifecycle import EXAMINABLE, SEARCHABLE, GenerationState
from publishing.models import Generation
from publishing.ports import StoredGeneration
from publishing.recent import Recent


@dataclass(frozen=True, slots=True)
class LiveGeneration:
    """A generation that may be searched, with what its exam decided."""

    stored: StoredGeneration
    embedder: str
    """Id of the embedder whose vectors it holds."""
    threshold: float | None
    """The best similarity below which an answer may be weak; None means the embedder's default."""


_LATELY: Final[Recent[str, LiveGeneration | None]] = Recent()


def stored(generation: Generation) -> StoredGeneration:
    """Give what a store must know to write or read this generation."""
    return StoredGeneration(
        id=generation.id,
        workspace=generation.workspace,
        revision=generation.revision,
        attempt=generation.attempt,
        collection=generation.collection,
        dimension=generation.dimension,
        language=generation.language,
        avg_len=generation.avg_len,
        fusion=generation.fusion,
        prefetch=generation.prefetch,
        point_count=generation.point_count,
    )


def live(generation: Generation) -> LiveGeneration:
    """Give a row as what a search needs."""
    return LiveGeneration(
        stored=stored(generation),
        embedder=generation.embedder,
        threshold=generation.threshold,
    )


def active(workspace: str) -> LiveGeneration | None:
    """Give the one generation that answers now, or None; one indexed query."""
    row = Generation.objects.filter(workspace=workspace, state=GenerationState.ACTIVE).first()
    return live(row) if row else None


def lately_active(workspace: str) -> LiveGeneration | None:
    """Give the generation that answered at most a second ago; most often without a query."""
    return _LATELY.get(workspace, lambda: active(workspace), for_s=conf.current().remember_s)


def searchable(workspace: str, generation_id: UUID) -> LiveGeneration | None:
    """Give the active or a retained generation by its id; None for any other (spec 60)."""
    return _named(workspace, generation_id, SEARCHABLE)


def examinable(workspace: str, generation_id: UUID) -> LiveGeneration | None:
    """Give any generation that still holds points, for those who look behind answers."""
    return _named(workspace, generation_id, EXAMINABLE)


def _named(
    workspace: str, generation_id: UUID, states: Collection[GenerationState]
) -> LiveGeneration | None:
    row = Generation.objects.filter(workspace=workspace, id=generation_id, state__in=states).first()
    return live(row) if row else None
