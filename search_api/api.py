"""The API as it is mounted, `/api/v1`: the operations, and problem documents for all else."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any

from django.core.exceptions import RequestDataTooBig
from django.http import Http404, HttpRequest, HttpResponse
from django.urls import URLPattern, URLResolver, re_path
from django.views.decorators.csrf import csrf_exempt
from ninja import NinjaAPI
from ninja.errors import HttpError, ValidationError
from ninja.openapi.schema import OpenAPISchema

from evidence.faults import Fault
from search_api import contract, endpoints, knowledge_endpoints, problems, session_endpoints
from search_api.parsing import StrictParser

Patterns = list[URLResolver | URLPattern]
View = Callable[..., HttpResponse]


class Api(NinjaAPI):
    """Ninja, with RFC 9457 where Ninja alone would answer HTML or undocumented JSON."""

    @property
    def urls(self) -> tuple[Patterns, str, str]:
        """Give the routes; a wrong method and an unknown path are problem documents, too."""
        patterns, app_name, namespace = super().urls
        for pattern in patterns:
            if isinstance(pattern, URLPattern):
                pattern.callback = _with_problems(pattern.callback)
        rest = re_path(r"^.*$", csrf_exempt(problems.of_missing_route), name="missing")
        return [*patterns, rest], app_name, namespace

    def get_openapi_schema(self, **kwargs: Any) -> OpenAPISchema:
        """Give the document; Ninja knows one media type, problems have another."""
        schema = super().get_openapi_schema(**kwargs)
        for path in schema["paths"].values():
            for operation in path.values():
                contract.complete(operation, problem_type=problems.MEDIA_TYPE)
        return schema


def _with_problems(view: View) -> View:
    @wraps(view)
    def answer(request: HttpRequest, *args: object, **kwargs: object) -> HttpResponse:
        try:
            return problems.of_plain(request, view(request, *args, **kwargs))
        except Http404:
            return problems.of_missing_route(request)

    return answer


api = Api(
    title="Evidence Portal",
    version="1",
    description="Typed, cited, published evidence for programs that turn questions into SQL.",
    urls_namespace="api-1",
    openapi_url="/openapi.json",
    docs_url="/docs",
    parser=StrictParser(),
)
api.add_router("", endpoints.router)
api.add_router("", knowledge_endpoints.router)
api.add_router("", session_endpoints.router)
api.exception_handler(Fault)(problems.of_fault)
api.exception_handler(ValidationError)(problems.of_validation)
api.exception_handler(HttpError)(problems.of_http_error)
api.exception_handler(RequestDataTooBig)(problems.of_large_body)
api.exception_handler(Exception)(problems.of_bug)
