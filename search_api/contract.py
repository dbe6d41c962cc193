"""The OpenAPI document as Ninja makes it, and what Ninja leaves out: problem types, examples."""

from __future__ import annotations

from http import HTTPStatus
from typing import Any, Final

from search_api import examples

PROBLEM: Final = "/Problem"
JSON: Final = "application/json"

Operation = dict[str, Any]


def complete(operation: Operation, *, problem_type: str) -> None:
    """Name the media type of problems, and give every body and parameter its example."""
    name = operation["operationId"]
    for status, response in operation["responses"].items():
        _complete_response(name, HTTPStatus(int(status)), response, problem_type)
    for parameter in operation.get("parameters", ()):
        parameter["example"] = examples.PARAMETERS[parameter["name"]]
    if "requestBody" in operation:
        operation["requestBody"]["content"][JSON]["example"] = examples.REQUESTS[name]


def _complete_response(
    name: str, status: HTTPStatus, response: dict[str, Any], problem_type: str
) -> None:
    content = response["content"]
    if content[JSON]["schema"].get("$ref", "").endswith(PROBLEM):
        content[problem_type] = content.pop(JSON) | {"example": examples.refusal(status)}
    elif status is HTTPStatus.SERVICE_UNAVAILABLE:
        content[JSON]["example"] = examples.UNAVAILABLE
    else:
        content[JSON]["example"] = examples.ANSWERS[name]
