"""Fill a context pack: two searches and the values a question names, from one generation."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import Annotated, Final, Literal
from uuid import UUID

from pydantic import BaseModel, ConfigDict, Field

from evidence.domain.units import EvidenceKind, EvidencePurpose
from publishing import grounding, retrieval
from publishing.domain.grounding import GroundedValue
from publishing.domain.query import SearchContext, SearchRequest
from publishing.retrieval import Confidence, UnitHit
from search_api import context_pack
from search_api.answers import unavailable
from search_api.context_pack import Piece, Section
from search_api.schemas import SearchBody, SearchUnavailable, whole_number
from search_api.session_schemas import StageName
from search_api.stages import Stage, purpose_of

_FENCE = re.compile(r"`{3,}")
Budget = Annotated[int, Field(ge=context_pack.MIN_BUDGET, le=context_pack.MAX_BUDGET), whole_number]
Question = Annotated[str, *SearchBody.model_fields["query"].metadata]


class _Said(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class ContextBody(_Said):
    """A question, the stage that asks it, what is known around it, and how much may be said."""

    question: Question
    stage: StageName
    context: SearchContext = SearchContext()
    token_budget: Budget = context_pack.DEFAULT_BUDGET


class ContextAvailable(_Said):
    """One Markdown document, its size, and the units in it and left out of it."""

    status: Literal["available"] = "available"
    generation: UUID
    workspace_revision: str
    stage: Stage
    purpose: EvidencePurpose
    confidence: Confidence
    markdown: str
    token_budget: int
    token_count: int
    counted_as: str = context_pack.COUNTED_AS
    included: tuple[str, ...]
    left_out: tuple[str, ...]


ContextOutcome = ContextAvailable | SearchUnavailable
TITLE: Final = "# Evidence"


def pack(workspace: str, body: ContextBody) -> ContextOutcome:
    """Give one stage's document from the active generation (spec 60, Context pack)."""
    purpose = purpose_of(body.stage)
    request = SearchRequest(query=body.question, purpose=purpose, context=body.context)
    found = retrieval.search(workspace, request)
    if isinstance(found, retrieval.Unavailable):
        return unavailable(found)
    only = body.context.model_copy(update={"required_kinds": (EvidenceKind.FORMULA,)})
    formulas = retrieval.search(
        workspace, request.model_copy(update={"context": only}), generation=found.generation
    )
    if isinstance(formulas, retrieval.Unavailable):
        return unavailable(formulas)
    texts = (body.question, *body.context.concepts)
    values = grounding.mentioned(workspace, texts, generation=found.generation)
    sections = _sections(formulas.results, values, found.results)
    made = context_pack.assemble(TITLE, sections, budget=body.token_budget)
    return ContextAvailable(
        generation=found.generation,
        workspace_revision=found.revision,
        stage=body.stage,
        purpose=purpose,
        confidence=found.confidence,
        markdown=made.markdown,
        token_budget=body.token_budget,
        token_count=made.token_count,
        included=made.included,
        left_out=made.left_out,
    )


def _sections(
    formulas: Sequence[UnitHit], values: Sequence[GroundedValue], found: Iterable[UnitHit]
) -> tuple[Section, ...]:
    """Put formulas first, then values, then rules, whatever else a search ranked higher."""
    rules = (hit for hit in found if hit.first.evidence_kind is not EvidenceKind.FORMULA)
    return (
        Section("Formulas", tuple(map(_unit, formulas))),
        Section("Values", tuple(_value(each) for each in _rows(values))),
        Section("Rules", tuple(map(_unit, rules))),
    )


def _unit(hit: UnitHit) -> Piece:
    """Quote the matching fragments; a fence keeps their SQL and their headings as they are."""
    first = hit.first
    text = "\n\n".join(fragment.text for fragment in hit.fragments)
    longest = max((len(run) for run in _FENCE.findall(text)), default=2)
    fence = "`" * (longest + 1)
    cited = f"[{hit.evidence_id}, {first.source_file}, revision {first.workspace_revision[:12]}]"
    return Piece(hit.evidence_id, f"{fence}text\n{text}\n{fence}\n{cited}")


def _rows(values: Sequence[GroundedValue]) -> tuple[tuple[str, str, str, str], ...]:
    rows = (
        (one.place.column, one.place.stored_value or "", one.place.meaning, one.place.evidence_id)
        for value in values
        for one in value.matches
    )
    return tuple(dict.fromkeys(rows))


def _value(row: tuple[str, str, str, str]) -> Piece:
    column, stored, meaning, evidence_id = row
    said = f"{column} = {stored!r}" if stored else column
    return Piece(evidence_id, f"- {said}: {' '.join(meaning.split())} [{evidence_id}]")
