"""Formulas that a session made: kept for experts, never searchable (spec 60, Sessions)."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime
from typing import Final

from django.db import transaction

from evidence.faults import CuratorFault
from evidence.messages import Message, gettext_noop
from search_api import sessions
from search_api.models import FormulaProposal, HarnessSession, ProposalState
from search_api.session_schemas import KeptFormula, ProposedFormula
from search_api.stages import Stage

MAX_A_SESSION: Final = 100
TAKEN_OVER: Final = (ProposalState.DRAFTING, ProposalState.DRAFTED)


class SessionFull(CuratorFault):
    """A session holds as many formula proposals as it may; a step back makes room."""

    code = "session_full"


def propose(
    *, workspace: str, session: str, formula: ProposedFormula, owner: str, now: datetime
) -> KeptFormula:
    """Keep a formula for the experts. Raises `SessionOfAnotherKey`, `SessionFull`."""
    with transaction.atomic():
        mine = sessions.claim(workspace=workspace, session=session, owner=owner, now=now)
        if mine.formula_proposals.count() >= MAX_A_SESSION:
            message = gettext_noop("A session keeps at most %(most)s formula proposals.")
            raise SessionFull(Message(message, most=MAX_A_SESSION))
        row = FormulaProposal.objects.create(
            session=mine,
            workspace=workspace,
            stage=formula.stage.value,
            concept=formula.concept,
            sql=formula.sql,
            columns=list(formula.columns),
            rationale=formula.rationale,
            origin=formula.origin,
            decision=formula.decision,
            proposed_at=now,
        )
    return KeptFormula(id=row.pk, session=session, proposed_at=now, formula=formula)


def forget(*, session: HarnessSession, stages: Iterable[Stage], now: datetime) -> None:
    """Forget proposals of these stages; called inside the transaction of a step back.

    The mark comes first, on every row whatever its state: it locks them, so an expert who takes
    one over, or gives it back, does so before the mark or after the end of the step back.
    """
    rows = FormulaProposal.objects.filter(session=session, stage__in=list(stages))
    rows.filter(withdrawn_at=None).update(withdrawn_at=now)
    rows.exclude(state__in=TAKEN_OVER).delete()
