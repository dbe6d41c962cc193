"""Ask the active generation, or a retained one by name: an outcome, never a guess (spec 60)."""

from __future__ import annotations

from dataclasses import dataclass
from uuid import UUID

import structlog

from evidence import wiring as evidence_wiring
from evidence.domain.codec import parse_curated_markdown
from evidence.domain.identifiers import unit_path
from evidence.domain.paths import EVIDENCE_FOLDER
from evidence.domain.units import CuratedEvidence, EvidenceKind
from evidence.faults import CuratorFault
from evidence.messages import Message, gettext_noop
from publishing import generations, wiring
from publishing.domain.confidence import Confidence
from publishing.domain.query import (
    QuestionRefused,
    SearchContext,
    SearchRequest,
    build_request,
)
from publishing.domain.scoring import UnitHit
from publishing.generations import LiveGeneration
from publishing.hybrid import Found, search_generation
from publishing.outcomes import (
    MESSAGES,
    SEARCH_FAULTS,
    Available,
    Outcome,
    Unavailable,
    UnavailableCode,
    unavailable,
    unavailable_for,
)
from publishing.overview import GenerationUnknown

__all__ = [
    "Available",
    "Confidence",
    "Document",
    "GenerationUnknown",
    "Outcome",
    "QuestionRefused",
    "SearchContext",
    "SearchRequest",
    "Unavailable",
    "UnavailableCode",
    "UnitHit",
    "UnitUnknown",
    "build_request",
    "document",
    "search",
]

log = structlog.get_logger(__name__)


class UnitUnknown(CuratorFault):
    """The revision of this generation has no such unit."""

    code = "unit_unknown"


@dataclass(frozen=True, slots=True)
class Document:
    """One whole unit as of a generation: typed, and the text of its file as it was approved."""

    unit: CuratedEvidence
    markdown: str
    path: str
    generation: UUID
    revision: str


def search(workspace: str, request: SearchRequest, *, generation: UUID | None = None) -> Outcome:
    """Ask the active generation of a workspace, or the active or retained one that is named.

    Gives an outcome whatever the store and the embedder do. Raises `GenerationUnknown` for a named
    generation that may not be searched.
    """
    live = live_generation(workspace, generation)
    outcome = _ask(live, request)
    if live is None or generation is not None or not _may_have_moved(outcome):
        return outcome
    # An activation may have removed the old generation since it was read: ask the new one, once.
    latest = generations.active(workspace)
    return outcome if latest == live else _ask(latest, request)


def document(workspace: str, evidence_id: str, generation: UUID | None = None) -> Document:
    """Give a whole unit as of the active generation, or of the active or retained one named.

    Read from Git at the generation's revision. Raises `GenerationUnknown`, `UnitUnknown`, and the
    faults of the repository.
    """
    live = live_generation(workspace, generation)
    if live is None:
        raise GenerationUnknown(Message(MESSAGES[UnavailableCode.NO_ACTIVE_GENERATION]))
    revision = live.stored.revision
    found = unit_bytes(workspace, revision, evidence_id)
    if found is None:
        raise UnitUnknown(
            Message(gettext_noop("There is no unit %(id)s in this generation."), id=evidence_id)
        )
    path, content = found
    markdown = content.decode("utf-8-sig")
    return Document(
        unit=parse_curated_markdown(markdown, path=path),
        markdown=markdown,
        path=path,
        generation=live.stored.id,
        revision=revision,
    )


def live_generation(workspace: str, generation: UUID | None) -> LiveGeneration | None:
    """Give the named generation, or the active one, or None when nothing is active.

    Raises `GenerationUnknown` when the named one is neither active nor retained.
    """
    if generation is None:
        return generations.lately_active(workspace)
    live = generations.searchable(workspace, generation)
    if live is None:
        raise GenerationUnknown(
            Message(
                gettext_noop("Generation %(id)s is neither active nor retained."), id=generation
            )
        )
    return live


def _may_have_moved(outcome: Outcome) -> bool:
    return (
        isinstance(outcome, Unavailable)
        and outcome.code == UnavailableCode.VECTOR_STORE_UNAVAILABLE
    )


def _ask(live: LiveGeneration | None, request: SearchRequest) -> Outcome:
    if live is None:
        return unavailable(UnavailableCode.NO_ACTIVE_GENERATION)
    found = find_in(live, request)
    return found if isinstance(found, Unavailable) else _available(live, found)


def find_in(
    live: LiveGeneration, request: SearchRequest, *, depth: int | None = None
) -> Found | Unavailable:
    """Ask one generation whose right to answer was decided before; gives no fault.

    With a `depth`, both branches come along, that many fragments each.
    """
    if request.workspace_revision not in (None, live.stored.revision):
        return unavailable(UnavailableCode.REVISION_MISMATCH)
    embedder = wiring.embedder()
    try:
        if embedder.id != live.embedder:
            log.error("embedder_differs", generation=str(live.stored.id), wanted=live.embedder)
            return unavailable(UnavailableCode.EMBEDDER_UNAVAILABLE)
        return search_generation(
            live.stored,
            request,
            store=wiring.store(),
            embedder=embedder,
            threshold=live.threshold,
            depth=depth,
        )
    except SEARCH_FAULTS as fault:
        generation = str(live.stored.id)
        log.warning(
            "search_unavailable", code=fault.code, why=str(fault.message), generation=generation
        )
        return unavailable_for(fault)


def _available(live: LiveGeneration, found: Found) -> Available:
    return Available(
        generation=live.stored.id,
        revision=live.stored.revision,
        confidence=found.confidence,
        results=found.units,
        best_dense=found.best_dense,
        lexical_hits=found.lexical_hits,
    )


def unit_bytes(workspace: str, revision: str, evidence_id: str) -> tuple[str, bytes] | None:
    """Find a unit's file in a revision: its name follows from the id, its folder from the kind."""
    repository = evidence_wiring.repository(workspace)
    paths = [f"evidence/{unit_path(kind, evidence_id)}" for kind in EvidenceKind]
    for entry in repository.entries(revision, paths):
        path = entry.path.removeprefix(EVIDENCE_FOLDER)
        return path, repository.blobs([entry.blob])[entry.blob]
    return None
