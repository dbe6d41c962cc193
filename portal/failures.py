"""What a browser gets when something broke here: a sentence and a number that the log knows."""

from __future__ import annotations

import uuid

import structlog
from django.http import HttpRequest, HttpResponseServerError
from django.template.loader import render_to_string


def server_error(request: HttpRequest) -> HttpResponseServerError:
    """Show the reference under which the log has the rest (spec 40, What bad input gets)."""
    bound = structlog.contextvars.get_contextvars()
    reference = str(bound.get("request_id") or uuid.uuid4())
    structlog.get_logger(__name__).error("server_error_shown", reference=reference)
    return HttpResponseServerError(render_to_string("500.html", {"reference": reference}))
