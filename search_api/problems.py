"""Outcomes and faults as HTTP, RFC 9457 included: the only file that knows status codes."""

from __future__ import annotations

import json
import logging
from collections.abc import Mapping
from http import HTTPStatus
from typing import Any, Final, TypeVar

from django.core.exceptions import RequestDataTooBig
from django.http import HttpRequest, HttpResponse
from ninja.errors import AuthenticationError, HttpError, ValidationError
from ninja.responses import Status
from pydantic import BaseModel

from evidence.faults import CuratorFault, Fault, OperatorFault, OutsideFault
from search_api.grounding import GroundAvailable
from search_api.packing import ContextAvailable
from search_api.schemas import Problem, SearchAvailable, SearchUnavailable, UnitDocument

logger = logging.getLogger(__name__)
OutcomeT = TypeVar("OutcomeT", bound=BaseModel)

MEDIA_TYPE: Final = "application/problem+json"
RETRY_AFTER_S: Final = 5
"""What a caller waits after a fault that may pass, when the fault does not say."""
STATUS_OF_CODE: Final[Mapping[str, HTTPStatus]] = {
    "key_unknown": HTTPStatus.UNAUTHORIZED,
    "access_refused": HTTPStatus.FORBIDDEN,
    "session_of_another_key": HTTPStatus.FORBIDDEN,
    "generation_unknown": HTTPStatus.NOT_FOUND,
    "unit_unknown": HTTPStatus.NOT_FOUND,
    "stale_edit": HTTPStatus.CONFLICT,
    "edit_conflict": HTTPStatus.CONFLICT,
    "session_full": HTTPStatus.CONFLICT,
    "too_many_requests": HTTPStatus.TOO_MANY_REQUESTS,
}
STATUS_OF_CLASS: Final[Mapping[type[Fault], HTTPStatus]] = {
    CuratorFault: HTTPStatus.UNPROCESSABLE_ENTITY,
    OperatorFault: HTTPStatus.SERVICE_UNAVAILABLE,
    OutsideFault: HTTPStatus.SERVICE_UNAVAILABLE,
}
OUTCOMES: Final[dict[int, Any]] = {
    HTTPStatus.OK: SearchAvailable,
    HTTPStatus.SERVICE_UNAVAILABLE: SearchUnavailable,
}
GROUNDED: Final[dict[int, Any]] = {
    HTTPStatus.OK: GroundAvailable,
    HTTPStatus.SERVICE_UNAVAILABLE: SearchUnavailable,
}
PACKED: Final[dict[int, Any]] = {
    HTTPStatus.OK: ContextAvailable,
    HTTPStatus.SERVICE_UNAVAILABLE: SearchUnavailable,
}
DOCUMENT: Final[dict[int, Any]] = {HTTPStatus.OK: UnitDocument}
REFUSALS: Final[dict[int, Any]] = dict.fromkeys(
    (
        HTTPStatus.BAD_REQUEST,
        HTTPStatus.UNAUTHORIZED,
        HTTPStatus.FORBIDDEN,
        HTTPStatus.UNPROCESSABLE_ENTITY,
        HTTPStatus.TOO_MANY_REQUESTS,
    ),
    Problem,
)
"""What every operation may answer instead; Ninja documents only what is declared."""
NOT_ANSWERED: Final[dict[int, Any]] = dict.fromkeys(
    (HTTPStatus.NOT_FOUND, HTTPStatus.SERVICE_UNAVAILABLE), Problem
)
CONFLICT: Final[dict[int, Any]] = {HTTPStatus.CONFLICT: Problem}
BROKEN: Final[dict[int, Any]] = {HTTPStatus.SERVICE_UNAVAILABLE: Problem}
CODED_ERRORS: Final = frozenset(
    {"stage_purpose_mismatch", "stage_without_evidence", "formula_refused"}
)
"""Field errors that are a problem of their own rather than one of many."""
MAX_ERRORS: Final = 20
MAX_DETAIL: Final = 500


def also_document(media_type: str) -> dict[str, Any]:
    """Give the OpenAPI addition for a good answer that comes as text of another type, too."""
    return {"responses": {HTTPStatus.OK: {"content": {media_type: {"schema": {"type": "string"}}}}}}


def answer(response: HttpResponse, outcome: OutcomeT) -> Status[OutcomeT]:
    """Give an outcome with its status, and say when to ask again where that may help.

    Neither of the two outcomes is a problem document.
    """
    if not isinstance(outcome, SearchUnavailable):
        return Status(HTTPStatus.OK, outcome)
    if outcome.retriable:
        response["Retry-After"] = str(RETRY_AFTER_S)
    return Status(HTTPStatus.SERVICE_UNAVAILABLE, outcome)


def status_of(fault: Fault) -> HTTPStatus:
    """Give the status of a fault: by its code where one is listed, else by who can act."""
    by_class = (STATUS_OF_CLASS[cls] for cls in type(fault).__mro__ if cls in STATUS_OF_CLASS)
    return STATUS_OF_CODE.get(fault.code) or next(by_class, HTTPStatus.INTERNAL_SERVER_ERROR)


def problem(status: HTTPStatus, *, code: str, detail: str, **more: object) -> HttpResponse:
    """Give one problem document; `more` are its extension members."""
    document = {
        "type": "about:blank",
        "title": status.phrase,
        "status": status.value,
        "code": code,
        "detail": detail[:MAX_DETAIL],
        **{name: value for name, value in more.items() if value},
    }
    return HttpResponse(json.dumps(document), status=status, content_type=MEDIA_TYPE)


def of_fault(request: HttpRequest, fault: Fault) -> HttpResponse:
    """Translate a fault; an operator learns the cause from the log, the caller only the code."""
    status = status_of(fault)
    detail, hint = str(fault.message), fault.hint
    if isinstance(fault, OperatorFault):
        logger.error("%s: %s", fault.code, fault.message)
        detail, hint = "The portal is not able to answer; its operator has to act.", ""
    response = problem(status, code=fault.code, detail=detail, hint=hint)
    if status is HTTPStatus.UNAUTHORIZED:
        response["WWW-Authenticate"] = "Bearer"
    if isinstance(fault, OutsideFault):
        response["Retry-After"] = str(getattr(fault, "retry_after_s", RETRY_AFTER_S))
    return response


def of_validation(request: HttpRequest, error: ValidationError) -> HttpResponse:
    """Say which fields are wrong, and never repeat what was sent."""
    errors = [_field_error(item) for item in error.errors[:MAX_ERRORS]]
    coded = next((item for item in errors if item["code"] in CODED_ERRORS), None)
    return problem(
        HTTPStatus.UNPROCESSABLE_ENTITY,
        code=coded["code"] if coded else "request_invalid",
        detail=coded["message"] if coded else "Some fields of the request are not valid.",
        errors=errors,
    )


def _field_error(item: Mapping[str, Any]) -> dict[str, str]:
    # Ninja puts where the value came from, and the name of our own argument, before the field.
    place = [str(part) for part in item["loc"]]
    named = place[2:] if place[:1] == ["body"] else place[1:]
    return {
        "field": ".".join(named)[:100],
        "code": str(item["type"]),
        "message": str(item["msg"]).removeprefix("Value error, ")[:MAX_DETAIL],
    }


def of_http_error(request: HttpRequest, error: HttpError) -> HttpResponse:
    """Translate what Ninja itself refuses: no key, or a body that is not JSON."""
    status = HTTPStatus(error.status_code)
    if isinstance(error, AuthenticationError):
        response = problem(status, code="key_unknown", detail="An API key is needed.")
        response["WWW-Authenticate"] = "Bearer"
        return response
    return problem(status, code="request_unreadable", detail="The request body is not JSON.")


def of_large_body(request: HttpRequest, error: RequestDataTooBig) -> HttpResponse:
    """Refuse a body above Django's limit before it is read into memory."""
    detail = "The request body is too large."
    return problem(HTTPStatus.BAD_REQUEST, code="request_too_large", detail=detail)


def of_bug(request: HttpRequest, error: Exception) -> HttpResponse:
    """Keep the traceback in the log and tell the caller nothing but that it is ours."""
    logger.error("Unexpected error in the API", exc_info=error)
    return problem(
        HTTPStatus.INTERNAL_SERVER_ERROR, code="internal_error", detail="Something is wrong here."
    )


def of_missing_route(request: HttpRequest) -> HttpResponse:
    """Answer a path that the API does not have."""
    return problem(HTTPStatus.NOT_FOUND, code="route_unknown", detail="There is nothing here.")


def of_plain(request: HttpRequest, response: HttpResponse) -> HttpResponse:
    """Give a wrong method as a problem document, with `Allow` as Ninja gives it; else as it is."""
    if response.status_code != HTTPStatus.METHOD_NOT_ALLOWED:
        return response
    refusal = problem(
        HTTPStatus.METHOD_NOT_ALLOWED,
        code="method_not_allowed",
        detail="This path does not take that method.",
    )
    refusal["Allow"] = response["Allow"]
    return refusal
