"""What is said about sessions over the wire: stages, receipts, proposed formulas (spec 60)."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Any, Final, Literal
from uuid import UUID

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    StringConstraints,
    field_validator,
    model_validator,
)
from pydantic_core import PydanticCustomError

from evidence.domain.identifiers import EVIDENCE_ID, ColumnName
from evidence.domain.sql import SqlRefused, check_expression
from evidence.domain.text import LooseText, Text, refuse_repeated
from evidence.domain.units import EvidencePurpose
from search_api.stages import WITHOUT_EVIDENCE, Stage, purpose_of

SESSION_ID: Final = r"^[A-Za-z0-9._:-]{1,100}$"
MAX_IDS: Final = 100
MAX_COLUMNS: Final = 100
MAX_CONCEPT: Final = 200
MAX_SQL: Final = 10_000
MAX_RATIONALE: Final = 5_000


def asks_evidence(value: Any) -> Any:
    """Refuse the stages that a harness has too, and that ask for no evidence, by a code."""
    if isinstance(value, str) and value in WITHOUT_EVIDENCE:
        raise PydanticCustomError("stage_without_evidence", "This stage asks for no evidence.")
    return value


def refuse_mismatch(stage: Stage, purpose: EvidencePurpose) -> None:
    """Refuse a purpose that is not its stage's."""
    if purpose is not purpose_of(stage):
        raise PydanticCustomError(
            "stage_purpose_mismatch",
            "The purpose of {stage} is {purpose}.",
            {"stage": stage.value, "purpose": purpose_of(stage).value},
        )


def _evidence_id(text: str) -> str:
    if not EVIDENCE_ID.match(text):
        raise PydanticCustomError("evidence_id", "This is not the id of a unit.")
    return text


StageName = Annotated[Stage, BeforeValidator(asks_evidence)]
SessionId = Annotated[str, StringConstraints(pattern=SESSION_ID, min_length=1, max_length=100)]
UnitId = Annotated[
    str,
    StringConstraints(pattern=r"^evidence:[a-z0-9]+(-[a-z0-9]+)*$", max_length=89),
    AfterValidator(_evidence_id),
]


class _Said(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class SessionRef(_Said):
    """Whose stage a search is; its answer is kept as that stage's receipt."""

    id: SessionId
    stage: StageName


class Receipt(_Said):
    """What one stage was answered: units in their order, and the generation they came from."""

    stage: StageName
    purpose: EvidencePurpose
    vector_generation: UUID
    evidence_ids: Annotated[
        tuple[UnitId, ...], Field(max_length=MAX_IDS), AfterValidator(refuse_repeated)
    ]

    @model_validator(mode="after")
    def _purpose_is_the_stage_s(self) -> Receipt:
        refuse_mismatch(self.stage, self.purpose)
        return self


class SessionReceipts(_Said):
    """All receipts of a session, in stage order."""

    session: str
    receipts: tuple[Receipt, ...]


class ProposedFormula(_Said):
    """A formula that a session made, judged as a formula unit is and never searchable."""

    schema_version: Literal[1]
    stage: StageName
    concept: Annotated[Text, Field(max_length=MAX_CONCEPT)]
    columns: Annotated[
        tuple[ColumnName, ...], Field(max_length=MAX_COLUMNS), AfterValidator(refuse_repeated)
    ]
    sql: Annotated[Text, Field(max_length=MAX_SQL)]
    rationale: Annotated[LooseText, Field(max_length=MAX_RATIONALE)]
    origin: Literal["retrieved", "synthesized"]
    decision: Literal["approved", "rejected"]

    @field_validator("schema_version", mode="before")
    @classmethod
    def _version_is_a_number(cls, value: Any) -> Any:
        # True and 1.0 equal 1 in Python; in JSON Schema only the latter is 1.
        return str(value) if isinstance(value, bool) else value

    @model_validator(mode="after")
    def _sql_is_one_expression(self) -> ProposedFormula:
        try:
            check_expression(self.sql, declared=self.columns)
        except SqlRefused as refused:
            reason = {"reason": str(refused.message)}
            raise PydanticCustomError("formula_refused", "sql: {reason}", reason) from refused
        return self


class KeptFormula(_Said):
    """A proposed formula as it was taken, with the number to speak of it."""

    id: int
    session: str
    proposed_at: datetime
    formula: ProposedFormula
