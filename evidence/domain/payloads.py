"""What a unit says, one strict model for each of the eight kinds (spec 10, Payloads)."""

from __future__ import annotations

from collections.abc import Collection
from typing import Annotated, Any
from urllib.parse import urlsplit

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    ValidationInfo,
    field_validator,
    model_validator,
)

from evidence.domain.identifiers import ColumnName
from evidence.domain.problems import FieldRefused
from evidence.domain.sql import SqlRefused, check_expression, check_query
from evidence.domain.text import (
    Entries,
    ExactText,
    Line,
    LooseText,
    OptionalExactText,
    OptionalText,
    Text,
    distinct,
    none_if_empty,
)
from evidence.messages import Message, gettext_noop

_MAX_URL = 2_048


def _query(sql: str) -> str:
    try:
        check_query(sql)
    except SqlRefused as refused:
        raise FieldRefused(refused.message) from refused
    return sql


def _expression(sql: str, *, declared: Collection[str] | None = None) -> str:
    try:
        check_expression(sql, declared=declared)
    except SqlRefused as refused:
        raise FieldRefused(refused.message) from refused
    return sql


def _web_address(url: str) -> str:
    if len(url) > _MAX_URL or "\\" in url or any(letter.isspace() for letter in url):
        raise FieldRefused(Message(gettext_noop("This is not a web address.")))
    refused = FieldRefused(Message(gettext_noop("Only http and https addresses are allowed.")))
    try:
        parts = urlsplit(url)
        usable = parts.scheme in {"http", "https"} and parts.hostname and parts.port != 0
    except ValueError as error:
        raise refused from error
    if not usable:
        raise refused
    if "@" in parts.netloc:
        raise FieldRefused(
            Message(gettext_noop("A web address may not hold a user name or password."))
        )
    return url


Expression = Annotated[Text, AfterValidator(_expression)]
Query = Annotated[Text, AfterValidator(_query)]
WebAddress = Annotated[Line, AfterValidator(_web_address)]


class _Strict(BaseModel):
    """Frozen, and refuses a field of another kind."""

    model_config = ConfigDict(frozen=True, extra="forbid")


class GlossaryPayload(_Strict):
    """A term of the domain and what it means."""

    term: Text
    definition: Text
    synonyms: Entries[Text] = ()


class DomainPayload(_Strict):
    """A topic; the content is the body, and its sections are the split points."""

    topic: Text


class EnumValue(_Strict):
    """One value exactly as the database stores it, and what it means."""

    value: Annotated[ExactText, Field(min_length=1)]
    meaning: Text


class EnumPayload(_Strict):
    """The distinct values a column may hold."""

    column: ColumnName
    values: Annotated[Entries[EnumValue], Field(min_length=1)]

    @model_validator(mode="after")
    def _values_are_distinct(self) -> EnumPayload:
        distinct(self.values, key=lambda entry: entry.value, label=lambda entry: entry.value)
        return self


class ExamplePayload(_Strict):
    """A question and the one read-only query that answers it."""

    question: Text
    sql: Query
    explanation: OptionalText = None


class MappingTarget(_Strict):
    """A column that stores a term, with the value or condition that picks it out."""

    column: ColumnName
    value: OptionalExactText = None
    condition: Annotated[Expression | None, BeforeValidator(none_if_empty)] = None


class MappingPayload(_Strict):
    """Where a term is stored; several columns are normal."""

    term: Text
    targets: Annotated[Entries[MappingTarget], Field(min_length=1)]


class NormalizationRule(_Strict):
    """A spelling, and what it is replaced with (possibly nothing)."""

    match: Annotated[LooseText, Field(min_length=1)]
    replacement: LooseText


class NormalizationPayload(_Strict):
    """How the spellings of a column or a concept are made one."""

    target: Text
    rules: Annotated[Entries[NormalizationRule], Field(min_length=1)]


class FormulaPayload(_Strict):
    """A concept as one PostgreSQL expression over declared columns."""

    concept: Text
    columns: Entries[ColumnName] = ()
    sql: Text
    limitations: OptionalText = None

    @field_validator("sql")
    @classmethod
    def _sql_uses_declared_columns(cls, sql: str, info: ValidationInfo) -> str:
        return _expression(sql, declared=info.data.get("columns"))


class ReferencePayload(_Strict):
    """A page elsewhere that is worth reading; never fetched."""

    url: WebAddress
    label: Text
    description: Text


Payload = (
    GlossaryPayload
    | DomainPayload
    | EnumPayload
    | ExamplePayload
    | MappingPayload
    | NormalizationPayload
    | FormulaPayload
    | ReferencePayload
)

PAYLOADS: dict[str, type[Any]] = {
    "glossary": GlossaryPayload,
    "domain": DomainPayload,
    "enum": EnumPayload,
    "example": ExamplePayload,
    "mapping": MappingPayload,
    "normalization": NormalizationPayload,
    "formula": FormulaPayload,
    "reference": ReferencePayload,
}
