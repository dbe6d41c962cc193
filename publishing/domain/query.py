"""A question: normalization, the one text both branches get, the filter (spec 60, Search)."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Annotated
from uuid import UUID

from pydantic import (
    AfterValidator,
    BaseModel,
    ConfigDict,
    Field,
    StringConstraints,
    ValidationError,
    model_validator,
)

from evidence.domain.units import EvidenceKind, EvidencePurpose
from evidence.faults import CuratorFault
from evidence.messages import Message, gettext_noop
from publishing.domain.payload import FragmentPayload, MalformedPayload
from publishing.domain.points import GenerationKey, comparable, content_hash

MAX_QUERY_CHARS = 20_000
MAX_CONTEXT_VALUES = 200
MAX_VALUE_CHARS = 1_000
MAX_CONTEXT_CHARS = 20_000
"""Of all context values together: they are embedded with the question."""


class QuestionRefused(CuratorFault):
    """A question cannot be asked as it is: empty, too long, or with a field that is not allowed."""

    code = "question_refused"


def normalize_query(query: str) -> str:
    """Give the question in NFC, with LF line ends, trimmed; its case and inner space stay."""
    text = unicodedata.normalize("NFC", query).replace("\r\n", "\n").replace("\r", "\n").strip()
    if not text:
        raise ValueError(gettext_noop("The question is empty."))
    return _without_nul(text)


def normalize_values(values: Iterable[str]) -> tuple[str, ...]:
    """Give context values in NFC, trimmed, without empty ones and repeats, by code point."""
    return tuple(sorted({_without_nul(value) for value in map(comparable, values) if value}))


def normalize_required(values: Iterable[str]) -> tuple[str, ...]:
    """Give filter values likewise; a blank one is refused, since leaving it out would widen."""
    kept = tuple(values)
    if not all(map(comparable, kept)):
        raise ValueError(gettext_noop("A required value is empty."))
    return normalize_values(kept)


def _without_nul(text: str) -> str:
    if "\0" in text:
        raise ValueError(gettext_noop("A NUL character is not allowed."))
    return text


# Patterns only describe, for the published contract, what the functions above refuse.
_WITHOUT_NUL = Field(json_schema_extra={"pattern": r"^[^\u0000]*$"})
_NOT_BLANK = Field(json_schema_extra={"pattern": r"^[^\u0000]*[^\s\u0000][^\u0000]*$"})
_Value = Annotated[str, StringConstraints(max_length=MAX_VALUE_CHARS), _WITHOUT_NUL]
_RequiredValue = Annotated[str, StringConstraints(max_length=MAX_VALUE_CHARS), _NOT_BLANK]
_AtMost = Field(max_length=MAX_CONTEXT_VALUES)
Values = Annotated[tuple[_Value, ...], _AtMost, AfterValidator(normalize_values)]
RequiredValues = Annotated[tuple[_RequiredValue, ...], _AtMost, AfterValidator(normalize_required)]


class SearchContext(BaseModel):
    """What is known around a question: plain values enrich its text, `required_*` values filter."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    concepts: Values = ()
    tables: Values = ()
    columns: Values = ()
    required_kinds: Annotated[tuple[EvidenceKind, ...], Field(max_length=len(EvidenceKind))] = ()
    required_concepts: RequiredValues = ()
    required_tables: RequiredValues = ()
    required_columns: RequiredValues = ()

    @model_validator(mode="after")
    def _is_bounded(self) -> SearchContext:
        texts = (*self.concepts, *self.tables, *self.columns)
        if sum(map(len, texts)) > MAX_CONTEXT_CHARS:
            raise ValueError(gettext_noop("The context is too long."))
        return self


class SearchRequest(BaseModel):
    """One question for one purpose, normalized on construction."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    query: Annotated[
        str,
        StringConstraints(max_length=MAX_QUERY_CHARS),
        _NOT_BLANK,
        AfterValidator(normalize_query),
    ]
    purpose: EvidencePurpose
    context: SearchContext = SearchContext()
    top_n: Annotated[int, Field(ge=1, le=10)] = 10
    workspace_revision: Annotated[str, StringConstraints(max_length=64)] | None = None


def build_request(data: Mapping[str, object]) -> SearchRequest:
    """Give the request behind untyped values. Raises `QuestionRefused`, naming the first field."""
    try:
        return SearchRequest.model_validate(data)
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False)[0]
        raise QuestionRefused(
            Message(
                gettext_noop("The question cannot be asked: %(field)s: %(problem)s."),
                field=".".join(str(part) for part in first["loc"]) or "request",
                problem=first["msg"].removeprefix("Value error, ").rstrip("."),
            )
        ) from None


def render_query_text(request: SearchRequest) -> str:
    """Give the text that the embedder and BM25 both get; lines without values are left out."""
    context = request.context
    lines = [f"Domanda: {request.query}"]
    labelled = (
        ("Concetti", context.concepts),
        ("Tabelle", context.tables),
        ("Colonne", context.columns),
    )
    lines += [f"{label}: {', '.join(values)}" for label, values in labelled if values]
    return "\n".join(lines)


@dataclass(frozen=True, slots=True)
class EvidenceFilter:
    """What a point must be: values inside one list are alternatives, lists are joined by *and*."""

    workspace: str
    revision: str
    generation: UUID
    purpose: EvidencePurpose
    kinds: tuple[EvidenceKind, ...] = ()
    concepts: tuple[str, ...] = ()
    tables: tuple[str, ...] = ()
    columns: tuple[str, ...] = ()


def make_filter(request: SearchRequest, key: GenerationKey) -> EvidenceFilter:
    """Give the full filter of a request to one generation; nothing else ever narrows a search."""
    context = request.context
    return EvidenceFilter(
        workspace=key.workspace,
        revision=key.revision,
        generation=key.id,
        purpose=request.purpose,
        kinds=context.required_kinds,
        concepts=context.required_concepts,
        tables=context.required_tables,
        columns=context.required_columns,
    )


def matches(payload: FragmentPayload, wanted: EvidenceFilter) -> bool:
    """Tell whether a fragment is one that the filter asks for."""
    constants = (payload.workspace_id, payload.workspace_revision, payload.vector_generation)
    lists = (
        ((payload.evidence_kind,), wanted.kinds),
        (payload.concepts, wanted.concepts),
        (payload.tables, wanted.tables),
        (payload.columns, wanted.columns),
    )
    return (
        constants == (wanted.workspace, wanted.revision, wanted.generation)
        and wanted.purpose in payload.purposes
        and all(not asked or not set(asked).isdisjoint(has) for has, asked in lists)
    )


def check_match(payload: FragmentPayload, wanted: EvidenceFilter) -> None:
    """Refuse what a store gave back and nobody asked for, or whose text is not what was written.

    Raises `MalformedPayload`: hard filters are checked twice, here without the store's help.
    """
    if not matches(payload, wanted) or content_hash(payload.text) != payload.content_hash:
        raise MalformedPayload(
            Message(gettext_noop("The vector store gave back a fragment that was not asked for."))
        )
