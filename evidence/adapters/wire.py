"""What goes to a restructurer outside and comes back: one JSON object each (spec 20)."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from typing import Annotated, Any, Literal

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, ValidationError, WrapValidator

from evidence.adapters.strict_json import JsonRefused, read_json
from evidence.domain.identifiers import EvidenceId
from evidence.domain.payloads import Payload
from evidence.domain.units import (
    CuratedEvidence,
    EvidenceKind,
    EvidencePurpose,
    EvidenceScope,
    ReviewItem,
)
from evidence.messages import Message, gettext_noop
from evidence.ports import RestructureCandidate, RestructureRequest

SCHEMA_VERSION = 1
MAX_CANDIDATES = 500


def _as_given(value: Any, _: object) -> Any:
    """Keep a payload as it came: the unit's own model judges it, together with its kind."""
    if not isinstance(value, Mapping):
        raise ValueError("a payload holds named fields")  # noqa: TRY004  (pydantic wants this one)
    return dict(value)


def _whole_number(value: Any) -> Any:
    """Refuse `true` and `1.0`, which Python takes for 1."""
    if type(value) is not int:
        raise ValueError("a version is a whole number")
    return value


class _Strict(BaseModel):
    """Frozen, refuses unknown fields, and takes no text for a number or the other way round."""

    model_config = ConfigDict(frozen=True, extra="forbid")


class WireCandidate(_Strict):
    """One unit as a model proposes it; id, hash, language and source are never its to say."""

    existing_id: EvidenceId | None = None
    kind: EvidenceKind
    title: Annotated[str, Field(strict=True, min_length=1, max_length=200)]
    purposes: Annotated[tuple[EvidencePurpose, ...], Field(min_length=1, max_length=4)]
    scope: EvidenceScope = EvidenceScope()
    excerpts: Annotated[
        tuple[Annotated[str, Field(strict=True, min_length=1, max_length=1_000)], ...],
        Field(min_length=1, max_length=5),
    ]
    payload: Annotated[Payload, WrapValidator(_as_given)]
    body: Annotated[str, Field(strict=True)] = ""
    review_items: tuple[ReviewItem, ...] = ()


class WireAnswer(_Strict):
    """The whole answer for one source."""

    schema_version: Annotated[Literal[1], BeforeValidator(_whole_number)]
    candidates: Annotated[tuple[WireCandidate, ...], Field(max_length=MAX_CANDIDATES)]


def read_answer(data: bytes) -> tuple[RestructureCandidate, ...]:
    """Give the candidates of an answer.

    Raises `JsonRefused` saying which rule was broken and where, never what was written.
    """
    value = read_json(data)
    if not isinstance(value, dict):
        raise JsonRefused(Message(gettext_noop("not one JSON object")))
    try:
        answer = WireAnswer.model_validate(value)
    except ValidationError as error:
        raise JsonRefused(_first_problem(error)) from None
    return tuple(_candidate(each) for each in answer.candidates)


def write_answer(candidates: Iterable[RestructureCandidate]) -> bytes:
    """Give an answer as `read_answer` takes it."""
    answer = {
        "schema_version": SCHEMA_VERSION,
        "candidates": [_fields(each) for each in candidates],
    }
    return json.dumps(answer, ensure_ascii=False).encode()


def write_request(request: RestructureRequest) -> bytes:
    """Give a request as one JSON object; previous units look like the candidates they would be."""
    said = {
        "source_file": request.source_file,
        "source_sha256": request.source_sha256,
        "language": request.language,
        "curator_notes": request.curator_notes,
        "previous_units": [_fields(_as_candidate(unit)) for unit in request.previous_units],
        "normalized_text": request.normalized_text,
    }
    return json.dumps(said, ensure_ascii=False, indent=1).encode()


def _candidate(wire: WireCandidate) -> RestructureCandidate:
    fields = {name: getattr(wire, name) for name in WireCandidate.model_fields}
    return RestructureCandidate(**fields)


def _as_candidate(unit: CuratedEvidence) -> RestructureCandidate:
    return RestructureCandidate(
        existing_id=unit.id,
        kind=unit.kind,
        title=unit.title,
        purposes=unit.purposes,
        scope=unit.scope,
        excerpts=unit.provenance.supporting_excerpts,
        payload=unit.payload.model_dump(mode="json", exclude_none=True),
        body=unit.body,
        review_items=unit.review_items,
    )


def _fields(candidate: RestructureCandidate) -> dict[str, object]:
    """Give a candidate's fields in the order of the schema; what is empty is left out."""
    items = [item.model_dump(mode="json", exclude_none=True) for item in candidate.review_items]
    fields: dict[str, object] = {
        "existing_id": candidate.existing_id,
        "kind": candidate.kind,
        "title": candidate.title,
        "purposes": candidate.purposes,
        "scope": candidate.scope.model_dump(mode="json", exclude_defaults=True),
        "excerpts": candidate.excerpts,
        "payload": candidate.payload,
        "body": candidate.body,
        "review_items": items,
    }
    return {name: value for name, value in fields.items() if value or name == "payload"}


def _first_problem(error: ValidationError) -> Message:
    first = error.errors(include_url=False, include_input=False, include_context=False)[0]
    place = [part for part in first["loc"] if isinstance(part, int) or part in _NAMES]
    if first["type"] == "extra_forbidden":  # its name is the model's word: not repeated
        template = gettext_noop("unknown field in %(place)s")
    elif first["type"] == "missing":
        template = gettext_noop("%(place)s is missing")
    else:
        template = gettext_noop("%(place)s is not as it must be")
    return Message(template, place=".".join(map(str, place)) or "the answer")


_NAMES = frozenset(
    name
    for model in (WireAnswer, WireCandidate, EvidenceScope, ReviewItem)
    for name in model.model_fields
)
