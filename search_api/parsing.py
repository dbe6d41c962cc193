"""JSON as strictly as RFC 8259 has it: no duplicate keys, no NaN, no endless depth."""

from __future__ import annotations

import json
from typing import Any, NoReturn

from django.http import HttpRequest
from ninja.parser import Parser


class StrictParser(Parser):
    """Refuses what `json.loads` lets pass; Ninja answers a `ValueError` here as a bad request."""

    def parse_body(self, request: HttpRequest) -> Any:
        """Give the value in the body. Raises `ValueError`."""
        try:
            return json.loads(request.body, object_pairs_hook=_once, parse_constant=_no_constant)
        except RecursionError as error:
            raise ValueError("The JSON is nested too deeply.") from error


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        raise ValueError("A key stands twice.")
    return found


def _no_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is not JSON.")
