"""What publishing found, as the outcome that the API and the command line both give."""

from __future__ import annotations

from uuid import UUID

from django.urls import reverse

from publishing import retrieval
from search_api.schemas import (
    Citation,
    Excerpt,
    Outcome,
    Result,
    SearchAvailable,
    SearchUnavailable,
    UnitDocument,
)

MAX_MESSAGE = 500


def search(workspace: str, request: retrieval.SearchRequest) -> Outcome:
    """Give the one outcome of a question to the active generation (spec 60, Outcome)."""
    return said(workspace, retrieval.search(workspace, request))


def said(workspace: str, outcome: retrieval.Outcome) -> Outcome:
    """Give what retrieval found as the API says it, without a receipt."""
    if isinstance(outcome, retrieval.Unavailable):
        return unavailable(outcome)
    return SearchAvailable(
        generation=outcome.generation,
        workspace_revision=outcome.revision,
        confidence=outcome.confidence,
        results=tuple(_result(workspace, outcome.generation, hit) for hit in outcome.results),
    )


def unavailable(outcome: retrieval.Unavailable) -> SearchUnavailable:
    """Give why there is no answer, bounded."""
    return SearchUnavailable(
        code=outcome.code,
        message=str(outcome.message)[:MAX_MESSAGE],
        retriable=outcome.retriable,
    )


def _result(workspace: str, generation: UUID, hit: retrieval.UnitHit) -> Result:
    first = hit.first
    place = reverse("api-1:unit", args=(workspace, hit.evidence_id))
    return Result(
        evidence_id=hit.evidence_id,
        kind=first.evidence_kind,
        title=first.title,
        purposes=first.purposes,
        score=hit.score,
        excerpts=tuple(Excerpt(ordinal=one.ordinal, text=one.text) for one in hit.fragments),
        citation=Citation(
            source_file=first.source_file,
            source_sha256=first.source_sha256,
            path=first.path,
            revision=first.workspace_revision,
        ),
        document=f"{place}?generation={generation}",
    )


def document(found: retrieval.Document) -> UnitDocument:
    """Give a whole unit as typed JSON."""
    return UnitDocument(
        **{name: getattr(found.unit, name) for name in type(found.unit).model_fields},
        generation=found.generation,
        workspace_revision=found.revision,
        path=found.path,
    )
