"""What is said over the wire about values: the request, the rows of each, and the one call."""

from __future__ import annotations

from typing import Annotated, Final, Literal
from uuid import UUID

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, StringConstraints

from evidence.messages import gettext_noop
from publishing import grounding
from publishing.domain.grounding import GroundedValue, Match
from publishing.retrieval import Unavailable
from search_api.answers import unavailable
from search_api.schemas import SearchUnavailable

MAX_VALUES: Final = 50
MAX_VALUE_CHARS: Final = 200


def _says_something(value: str) -> str:
    if not value.strip() or "\0" in value:
        raise ValueError(gettext_noop("A value is empty or holds a NUL character."))
    return value


Value = Annotated[
    str,
    StringConstraints(max_length=MAX_VALUE_CHARS),
    AfterValidator(_says_something),
    Field(json_schema_extra={"pattern": r"^[^\u0000]*[^\s\u0000][^\u0000]*$"}),
]


Values = Annotated[tuple[Value, ...], Field(min_length=1, max_length=MAX_VALUES)]


class _Said(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class GroundBody(_Said):
    """Values as a person wrote them, each looked up by itself."""

    values: Values


class GroundMatch(_Said):
    """One column that stores a value; `stored_value` is null where only a condition picks it."""

    column: str
    stored_value: str | None
    meaning: str
    match: Match
    score: float
    evidence_id: str


class GroundValue(_Said):
    """All columns of one value, never collapsed into one, and the formulas that cover it."""

    value: str
    matches: tuple[GroundMatch, ...]
    formulas: tuple[str, ...]


class GroundAvailable(_Said):
    """The values were looked up; none found is a good answer too."""

    status: Literal["available"] = "available"
    generation: UUID
    workspace_revision: str
    values: tuple[GroundValue, ...]


GroundOutcome = GroundAvailable | SearchUnavailable


def ground(workspace: str, body: GroundBody) -> GroundOutcome:
    """Give the outcome of grounding values on the active generation (spec 60, Grounding)."""
    found = grounding.ground(workspace, body.values)
    if isinstance(found, Unavailable):
        return unavailable(found)
    return GroundAvailable(
        generation=found.generation,
        workspace_revision=found.revision,
        values=tuple(map(value_of, found.values)),
    )


def value_of(found: GroundedValue) -> GroundValue:
    """Give one value's rows as they are said."""
    return GroundValue(
        value=found.value,
        matches=tuple(
            GroundMatch(
                column=one.place.column,
                stored_value=one.place.stored_value,
                meaning=one.place.meaning,
                match=one.match,
                score=one.score,
                evidence_id=one.place.evidence_id,
            )
            for one in found.matches
        ),
        formulas=found.formulas,
    )
