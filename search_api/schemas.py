"""What is said over the wire: the request of a search, its two outcomes, a unit, a problem."""

from __future__ import annotations

from typing import Annotated, Any, Literal
from uuid import UUID

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, model_validator
from pydantic_core import PydanticCustomError

from evidence.domain.units import CuratedEvidence, EvidenceKind, EvidencePurpose
from publishing.retrieval import Confidence, SearchRequest
from search_api.session_schemas import Receipt, SessionRef, refuse_mismatch


def _number(value: Any) -> Any:
    # To JSON Schema 3.0 is an integer, and so is it here; true and "3" are none.
    if isinstance(value, (bool, str)):
        raise PydanticCustomError("int_type", "Input should be a valid integer")
    return value


whole_number = BeforeValidator(_number)
"""Refuses what JSON does not write as a number, and takes 3.0 for 3."""


class SearchBody(SearchRequest):
    """A question, its purpose, and what is known around it (spec 60, Search)."""

    top_n: Annotated[int, Field(ge=1, le=10), whole_number] = 10
    session: SessionRef | None = None

    @model_validator(mode="after")
    def _purpose_is_the_stage_s(self) -> SearchBody:
        if self.session is not None:
            refuse_mismatch(self.session.stage, self.purpose)
        return self


class _Answer(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class Excerpt(_Answer):
    """One matching fragment of a unit."""

    ordinal: int
    text: str


class Citation(_Answer):
    """Where a unit comes from: its source, its own file, and the commit."""

    source_file: str
    source_sha256: str
    path: str
    revision: str


class Result(_Answer):
    """One unit found; the whole of it is at `document`."""

    evidence_id: str
    kind: EvidenceKind
    title: str
    purposes: tuple[EvidencePurpose, ...]
    score: float
    excerpts: tuple[Excerpt, ...]
    citation: Citation
    document: str


class SearchAvailable(_Answer):
    """The search was made; no result is a good answer too."""

    status: Literal["available"] = "available"
    generation: UUID
    workspace_revision: str
    confidence: Confidence
    results: tuple[Result, ...]
    receipt: Receipt | None = None


class SearchUnavailable(_Answer):
    """The search could not be made, and why; never a stale or partial answer."""

    status: Literal["unavailable"] = "unavailable"
    code: str
    message: str
    retriable: bool


Outcome = SearchAvailable | SearchUnavailable


class UnitDocument(CuratedEvidence):
    """A canonical unit as of one generation, and the file and commit it was read from."""

    generation: UUID
    workspace_revision: str
    path: str


class FieldError(_Answer):
    """One field that is wrong."""

    field: str
    code: str
    message: str


class Problem(BaseModel):
    """Every other error (RFC 9457); `code` is stable, `detail` is for people."""

    type: str = "about:blank"
    title: str
    status: int
    code: str
    detail: str
    hint: str | None = None
    errors: tuple[FieldError, ...] | None = None
