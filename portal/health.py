"""Is this process alive."""

from __future__ import annotations

from django.http import HttpRequest, HttpResponse, JsonResponse


def alive(request: HttpRequest) -> HttpResponse:
    """Answer without touching anything: the process runs and serves."""
    return JsonResponse({"status": "ok"})
