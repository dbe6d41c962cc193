"""`tht mcp`: three tools for an agent over stdio, on the portal's own home (spec 60, For agents).

The tools call what the API calls, in this process, and write nothing: whoever may start it may
read the home anyway, so it takes no key. Stdout carries the protocol alone.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Annotated, Any, Final, ParamSpec, TypeVar
from uuid import UUID

from asgiref.sync import sync_to_async
from django.db import close_old_connections
from mcp.server import MCPServer
from mcp.server.mcpserver.exceptions import ToolError
from pydantic import Field

from evidence import overview
from evidence.console import OnceCommand, command_line
from evidence.domain.units import EvidenceKind, EvidencePurpose
from evidence.faults import CuratorFault, Fault, OutsideFault
from publishing import retrieval
from search_api import answers, grounding
from search_api.grounding import GroundBody, Values

Given = ParamSpec("Given")
Found = TypeVar("Found")
Slug = Annotated[str, Field(description="Slug of the workspace.", max_length=80)]
Question = Annotated[str, Field(description="The question, as a person would ask it.")]
Purpose = Annotated[EvidencePurpose, Field(description="The step of the work that asks.")]
INSTRUCTIONS: Final = (
    "Typed, cited domain knowledge behind questions that become SQL. Results are candidates, not"
    " truth; name their citation. An empty list is an answer: go on. A status `unavailable` is"
    " none: stop this step and ask again. Formulas are units of kind `formula`."
)
server = MCPServer("evidence-portal", instructions=INSTRUCTIONS, log_level="ERROR")
mcp_app = command_line("Serve three tools to an agent over stdio.")


@server.tool()
async def search_evidence(
    workspace: Slug,
    question: Question,
    purpose: Purpose,
    kind: EvidenceKind | None = None,
    top_n: Annotated[int, Field(ge=1, le=10)] = 10,
) -> dict[str, Any]:
    """Search the published evidence for one purpose; gives the outcome that the API gives."""
    return await _in_thread(_search, workspace, question, purpose, kind, top_n)


@server.tool()
async def get_evidence(
    workspace: Slug, evidence_id: str, generation: UUID | None = None
) -> dict[str, Any]:
    """Read one whole unit as of the active generation, or of a retained one that is named."""
    return await _in_thread(_unit, workspace, evidence_id, generation)


@server.tool()
async def ground_values(workspace: Slug, values: Values) -> dict[str, Any]:
    """Find every column where published enums and mappings put each of the values."""
    return await _in_thread(_ground, workspace, GroundBody(values=values))


@mcp_app.command(cls=OnceCommand)
def mcp() -> None:
    """Serve search_evidence, get_evidence and ground_values over stdio until stdin ends.

    Example: tht mcp
    """
    server.run("stdio")


def _search(
    workspace: str,
    question: str,
    purpose: EvidencePurpose,
    kind: EvidenceKind | None,
    top_n: int,
) -> dict[str, Any]:
    overview.workspace(workspace)
    asked = {"query": question, "purpose": purpose, "top_n": top_n}
    narrowed = {"context": {"required_kinds": [kind]}} if kind else {}
    outcome = answers.search(workspace, retrieval.build_request(asked | narrowed))
    return outcome.model_dump(mode="json")


def _unit(workspace: str, evidence_id: str, generation: UUID | None) -> dict[str, Any]:
    overview.workspace(workspace)
    found = retrieval.document(workspace, evidence_id, generation)
    return answers.document(found).model_dump(mode="json")


def _ground(workspace: str, body: GroundBody) -> dict[str, Any]:
    overview.workspace(workspace)
    return grounding.ground(workspace, body).model_dump(mode="json")


async def _in_thread(
    call: Callable[Given, Found], *given: Given.args, **more: Given.kwargs
) -> Found:
    """Call Django off the event loop; a fault is the tool's error, with its code."""
    return await sync_to_async(_told(call))(*given, **more)


def _told(call: Callable[Given, Found]) -> Callable[Given, Found]:
    def answer(*given: Given.args, **more: Given.kwargs) -> Found:
        close_old_connections()
        try:
            return call(*given, **more)
        except (CuratorFault, OutsideFault) as fault:
            raise ToolError(f"{fault.code}: {fault.message}") from fault
        except Fault as fault:
            raise ToolError(f"{fault.code}: The portal's operator has to act.") from fault

    return answer
