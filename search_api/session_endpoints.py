"""The operations on a session: its receipts, a step back, proposed formulas (spec 60)."""

from __future__ import annotations

from http import HTTPStatus
from typing import Annotated

from django.http import HttpRequest
from django.utils import timezone
from ninja import Body, Path, Query, Router
from ninja.responses import Status
from pydantic import StringConstraints

from search_api import auth, formula_proposals, problems, receipts
from search_api.session_schemas import (
    SESSION_ID,
    KeptFormula,
    ProposedFormula,
    Receipt,
    SessionReceipts,
    StageName,
)

Workspace = Annotated[
    str, StringConstraints(max_length=80), Path(description="Slug of the workspace.")
]
Session = Annotated[
    str,
    StringConstraints(pattern=SESSION_ID),
    Path(description="Id that the harness gave its session."),
]
StageInPath = Annotated[StageName, Path(description="Stage of the session.")]
From = Annotated[
    StageName,
    Query(alias="from", description="The first stage that is forgotten, itself included."),
]
PLACE = "/workspaces/{workspace}/sessions/{session}"
router = Router(tags=["sessions"])


@router.put(
    PLACE + "/receipts/{stage}",
    auth=auth.WRITER,
    response={HTTPStatus.OK: Receipt} | problems.REFUSALS | problems.BROKEN,
    operation_id="put_receipt",
    summary="Keep the receipt of a stage",
)
def put_receipt(
    request: HttpRequest,
    workspace: Workspace,
    session: Session,
    stage: StageInPath,
    receipt: Annotated[Receipt, Body()],
) -> Receipt:
    """Say what a stage was answered; a retry replaces the receipt that is there.

    No text is copied. A generation or a unit that the workspace never had is refused.
    """
    return receipts.put(
        workspace=workspace,
        session=session,
        stage=stage,
        receipt=receipt,
        owner=auth.key_of(request).lineage,
        now=timezone.now(),
    )


@router.get(
    PLACE + "/receipts",
    auth=auth.READER,
    response={HTTPStatus.OK: SessionReceipts} | problems.REFUSALS | problems.BROKEN,
    operation_id="receipts",
    summary="Read the receipts of a session",
)
def read_receipts(request: HttpRequest, workspace: Workspace, session: Session) -> SessionReceipts:
    """Give all receipts in stage order; a session that nobody wrote has none."""
    found = receipts.of_session(workspace=workspace, session=session)
    return SessionReceipts(session=session, receipts=found)


@router.delete(
    PLACE + "/receipts",
    auth=auth.WRITER,
    response={HTTPStatus.OK: SessionReceipts} | problems.REFUSALS | problems.BROKEN,
    operation_id="step_back",
    summary="Go back a step",
)
def step_back(
    request: HttpRequest, workspace: Workspace, session: Session, stage: From
) -> SessionReceipts:
    """Forget the receipts and formula proposals from a stage on, and give the receipts that stay.

    What an expert already took over stays with the expert, marked withdrawn.
    """
    left = receipts.step_back(
        workspace=workspace,
        session=session,
        stage=stage,
        owner=auth.key_of(request).lineage,
        now=timezone.now(),
    )
    return SessionReceipts(session=session, receipts=left)


@router.post(
    PLACE + "/formula-proposals",
    auth=auth.WRITER,
    response={HTTPStatus.CREATED: KeptFormula}
    | problems.REFUSALS
    | problems.BROKEN
    | problems.CONFLICT,
    operation_id="propose_formula",
    summary="Leave a formula for the experts",
)
def propose_formula(
    request: HttpRequest,
    workspace: Workspace,
    session: Session,
    formula: Annotated[ProposedFormula, Body()],
) -> Status[KeptFormula]:
    """Keep a formula that a session made: one PostgreSQL expression over declared columns.

    It is never searchable; experts see it and may make a draft unit of it.
    """
    kept = formula_proposals.propose(
        workspace=workspace,
        session=session,
        formula=formula,
        owner=auth.key_of(request).lineage,
        now=timezone.now(),
    )
    return Status(HTTPStatus.CREATED, kept)
