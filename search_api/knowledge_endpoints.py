"""The operations beside search: where values are stored, and what one stage needs (spec 60)."""

from __future__ import annotations

from typing import Annotated

from django.http import HttpRequest, HttpResponse
from ninja import Body, Router
from ninja.responses import Status

from search_api import auth, grounding, packing, problems
from search_api.endpoints import Workspace
from search_api.grounding import GroundBody, GroundOutcome
from search_api.packing import ContextBody, ContextOutcome

router = Router(tags=["evidence"])


@router.post(
    "/workspaces/{workspace}/ground",
    auth=auth.READER,
    response=problems.GROUNDED | problems.REFUSALS,
    operation_id="ground",
    url_name="ground",
    summary="Find the columns that store values",
)
def ground(
    request: HttpRequest,
    response: HttpResponse,
    workspace: Workspace,
    asked: Annotated[GroundBody, Body()],
) -> Status[GroundOutcome]:
    """Give for every value all columns where the published enums and mappings put it.

    Each column is a row of its own, and a formula that covers the value is linked.
    """
    outcome = grounding.ground(workspace, asked)
    return problems.answer(response, outcome)


@router.post(
    "/workspaces/{workspace}/context",
    auth=auth.READER,
    response=problems.PACKED | problems.REFUSALS,
    operation_id="context",
    url_name="context",
    summary="Get what one stage needs as one document",
)
def context(
    request: HttpRequest,
    response: HttpResponse,
    workspace: Workspace,
    asked: Annotated[ContextBody, Body()],
) -> Status[ContextOutcome]:
    """Give one Markdown document with the formulas, values and rules that a stage needs, cited.

    It is never above the budget; what did not fit is listed.
    """
    outcome = packing.pack(workspace, asked)
    return problems.answer(response, outcome)
