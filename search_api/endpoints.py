"""The operations: search, and a whole unit on demand (spec 60). Each makes one call."""

from __future__ import annotations

from typing import Annotated, Final
from uuid import UUID

from django.http import HttpRequest, HttpResponse
from django.utils.cache import patch_vary_headers
from ninja import Body, Path, Query, Router
from ninja.responses import Status
from pydantic import StringConstraints

from publishing import retrieval
from search_api import answers, asking, auth, problems
from search_api.schemas import Outcome, SearchBody, UnitDocument

MARKDOWN: Final = "text/markdown"
Workspace = Annotated[
    str, StringConstraints(max_length=80), Path(description="Slug of the workspace.")
]
EvidenceId = Annotated[
    str,
    StringConstraints(pattern=r"^evidence:[a-z0-9]+(-[a-z0-9]+)*$", max_length=89),
    Path(description="Id of the unit."),
]
Generation = Annotated[
    UUID | None, Query(description="The active or a retained generation; the active one if absent.")
]
router = Router(tags=["evidence"])


@router.post(
    "/workspaces/{workspace}/search",
    auth=auth.READER,
    response=problems.OUTCOMES | problems.REFUSALS,
    operation_id="search",
    url_name="search",
    summary="Search the published evidence",
)
def search(
    request: HttpRequest,
    response: HttpResponse,
    workspace: Workspace,
    question: Annotated[SearchBody, Body()],
) -> Status[Outcome]:
    """Ask the active generation one question for one purpose.

    An outcome is `available`, with zero or more results, or `unavailable`, with a code; never a
    stale, partial or dense-only answer. With a `session`, which takes a writer's key, the receipt
    of an available answer is kept as that stage's.
    """
    outcome = asking.ask(workspace=workspace, question=question, key=auth.key_of(request))
    return problems.answer(response, outcome)


@router.get(
    "/workspaces/{workspace}/units/{evidence_id}",
    auth=auth.READER,
    response=problems.DOCUMENT | problems.REFUSALS | problems.NOT_ANSWERED,
    operation_id="unit",
    url_name="unit",
    summary="Read one whole unit",
    openapi_extra=problems.also_document(MARKDOWN),
)
def unit(
    request: HttpRequest,
    response: HttpResponse,
    workspace: Workspace,
    evidence_id: EvidenceId,
    generation: Generation = None,
) -> UnitDocument | HttpResponse:
    """Give the canonical unit as of a generation: typed JSON, or its Markdown file by `Accept`."""
    found = retrieval.document(workspace, evidence_id, generation)
    if request.get_preferred_type(["application/json", MARKDOWN]) == MARKDOWN:
        answer = HttpResponse(found.markdown, content_type=f"{MARKDOWN}; charset=utf-8")
        patch_vary_headers(answer, ["Accept"])
        return answer
    patch_vary_headers(response, ["Accept"])
    return answers.document(found)
