"""The typed unit of Curated Evidence: one envelope around eight payloads (spec 10, Envelope)."""

from __future__ import annotations

import re
from collections.abc import Mapping
from enum import StrEnum
from typing import Annotated, Any, Literal

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    ValidationError,
    ValidationInfo,
    field_validator,
    model_validator,
)

from evidence.domain.identifiers import ColumnName, EvidenceId, TableName
from evidence.domain.payloads import PAYLOADS, Payload
from evidence.domain.problems import FieldRefused, Problem, problems_of
from evidence.domain.text import Entries, Line, LooseText, OptionalText, Text, refuse_repeated
from evidence.faults import CuratorFault
from evidence.messages import Message, gettext_noop

SCHEMA_VERSION = 1
_SHA256 = re.compile(r"sha256:[0-9a-f]{64}\Z")
_SNAKE_CASE = re.compile(r"[a-z][a-z0-9]*(?:_[a-z0-9]+)*\Z")
_LANGUAGE = re.compile(r"[a-z]{2,3}\Z")


class EvidenceKind(StrEnum):
    """What sort of knowledge a unit is; also the folder it lies in."""

    GLOSSARY = "glossary"
    DOMAIN = "domain"
    ENUM = "enum"
    EXAMPLE = "example"
    MAPPING = "mapping"
    NORMALIZATION = "normalization"
    FORMULA = "formula"
    REFERENCE = "reference"


class EvidencePurpose(StrEnum):
    """The step of a harness that a unit helps."""

    DISAMBIGUATION = "disambiguation"
    REWRITING = "rewriting"
    SCHEMA_LINKING = "schema_linking"
    SQL_GENERATION = "sql_generation"


class UnitInvalid(CuratorFault):
    """A unit breaks a rule of its model or its file cannot be read; `problems` names each field."""

    code = "unit_invalid"

    def __init__(
        self,
        problems: tuple[Problem, ...],
        *,
        path: str = "",
        line: int | None = None,
        column: int | None = None,
    ) -> None:
        """Take every problem; the first one is the message."""
        first = problems[0]
        message = first.message
        if first.field:
            template = gettext_noop("%(field)s: %(problem)s")
            message = Message(template, field=first.field, problem=first.message)
        super().__init__(message, path=path, line=line, column=column)
        self.problems = problems


def _schema_version(value: Any) -> Any:
    # Front matter holds text only: the model decides what is a number (spec 10, Reading).
    if value == str(SCHEMA_VERSION):
        return SCHEMA_VERSION
    return value if type(value) is int else str(value)  # True and 1.0 equal 1, and are not it


def _source_file(path: str) -> str:
    parts = path.split("/")
    hidden = any(part.startswith(".") or not part.strip() for part in parts)
    if parts[0] != "source" or len(parts) < 2 or hidden or "\\" in path:
        template = gettext_noop("“%(path)s” is not a file under source/.")
        raise FieldRefused(Message(template, path=path))
    return path


def _matching(pattern: re.Pattern[str], template: str) -> AfterValidator:
    def check(text: str) -> str:
        if not pattern.match(text):
            raise FieldRefused(Message(template, text=text))
        return text

    return AfterValidator(check)


def _trim_blank_lines(body: str) -> str:
    lines = body.split("\n")
    first, last = 0, len(lines)
    while first < last and not lines[first].strip(" \t"):
        first += 1
    while last > first and not lines[last - 1].strip(" \t"):
        last -= 1
    return "\n".join(lines[first:last])


class _Strict(BaseModel):
    """Frozen, and refuses unknown fields."""

    model_config = ConfigDict(frozen=True, extra="forbid")


class EvidenceScope(_Strict):
    """What a unit is about: concepts, tables `schema.table`, columns `schema.table.column`."""

    concepts: Annotated[Entries[Text], AfterValidator(refuse_repeated)] = ()
    tables: Annotated[Entries[TableName], AfterValidator(refuse_repeated)] = ()
    columns: Annotated[Entries[ColumnName], AfterValidator(refuse_repeated)] = ()


class EvidenceProvenance(_Strict):
    """The one source a unit comes from, by path and hash, and the excerpts that support it."""

    source_file: Annotated[Line, AfterValidator(_source_file)]
    source_sha256: Annotated[
        Line, _matching(_SHA256, gettext_noop("This must be sha256: and 64 hexadecimal digits."))
    ]
    supporting_excerpts: Annotated[
        Entries[Annotated[Text, Field(max_length=1_000)]], Field(min_length=1, max_length=5)
    ]


class ReviewItem(_Strict):
    """An open doubt on a unit; blocks publication for as long as it is there."""

    code: Annotated[
        Line, _matching(_SNAKE_CASE, gettext_noop("“%(text)s” is not a snake_case code."))
    ]
    message: Text
    field: OptionalText = None


class CuratedEvidence(_Strict):
    """One reviewed piece of knowledge. `language` None means the workspace's."""

    schema_version: Annotated[Literal[1], BeforeValidator(_schema_version)]
    id: EvidenceId
    kind: EvidenceKind
    title: Annotated[Line, Field(max_length=200)]
    language: OptionalText = None
    purposes: Annotated[
        Entries[EvidencePurpose], Field(min_length=1, max_length=4), AfterValidator(refuse_repeated)
    ]
    scope: EvidenceScope = EvidenceScope()
    provenance: EvidenceProvenance
    payload: Payload
    review_items: Entries[ReviewItem] = ()
    body: Annotated[LooseText, AfterValidator(_trim_blank_lines)] = ""

    @field_validator("language")
    @classmethod
    def _language_is_a_primary_tag(cls, value: str | None) -> str | None:
        if value is not None and not _LANGUAGE.match(value):
            template = gettext_noop("“%(text)s” is not a language tag such as it or en.")
            raise FieldRefused(Message(template, text=value))
        return value

    @field_validator("payload", mode="wrap")
    @classmethod
    def _payload_is_of_the_kind(cls, value: object, _: object, info: ValidationInfo) -> object:
        kind = info.data.get("kind")
        if kind is None:  # already refused; the payload cannot be judged without it
            return value
        return PAYLOADS[kind].model_validate(value)

    @model_validator(mode="after")
    def _domain_has_a_body(self) -> CuratedEvidence:
        if self.kind is EvidenceKind.DOMAIN and not self.body.strip():
            raise FieldRefused(
                Message(gettext_noop("A domain unit needs a body: it is the content."))
            )
        return self


def build_unit(data: Mapping[str, object]) -> CuratedEvidence:
    """Give the unit these fields describe. Raises `UnitInvalid` with every problem by field."""
    try:
        return CuratedEvidence.model_validate(dict(data))
    except ValidationError as error:
        raise UnitInvalid(problems_of(error)) from error
