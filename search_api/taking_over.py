"""What an expert makes of a proposed formula: a draft unit, or nothing, with a reason."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Final

from django.db.models import Q, QuerySet

from evidence import drafting
from evidence.domain.drafting import FormulaDraft
from evidence.faults import CuratorFault
from evidence.messages import gettext_noop
from evidence.ports import Actor
from search_api.models import FormulaProposal, ProposalState

ABANDONED_AFTER: Final = timedelta(minutes=2)
"""A draft under way for longer died with its process, and may be tried again."""


class ProposalDecided(CuratorFault):
    """Somebody else decided about this proposal, or the session took it back."""

    code = "proposal_decided"


def draft(*, proposal: FormulaProposal, author: Actor, now: datetime) -> drafting.Drafted:
    """Make a draft unit of a proposal, in one commit, and give it.

    The proposal is taken first, so of two experts one makes the unit, and a step back from then on
    marks it withdrawn. Raises `ProposalDecided`, and what `drafting.draft_formula` raises.
    """
    _take(proposal, author, now)
    mine = FormulaProposal.objects.filter(pk=proposal.pk, decided_at=now)
    formula = FormulaDraft(
        concept=proposal.concept,
        sql=proposal.sql,
        columns=tuple(proposal.columns),
        rationale=proposal.rationale,
    )
    drafted = None
    try:
        drafted = drafting.draft_formula(
            workspace=proposal.workspace, formula=formula, author=author
        )
    finally:
        if drafted is None:
            _give_back(mine)
    mine.update(state=ProposalState.DRAFTED, evidence_id=drafted.evidence_id)
    return drafted


def dismiss(*, proposal: FormulaProposal, reason: str, author: Actor, now: datetime) -> None:
    """Set a proposal aside, with the reason. Raises `ProposalDecided`."""
    changed = FormulaProposal.objects.filter(pk=proposal.pk, state=ProposalState.OPEN).update(
        state=ProposalState.DISMISSED, reason=reason, decided_by=author.username, decided_at=now
    )
    if not changed:
        raise _decided()


def _take(proposal: FormulaProposal, author: Actor, now: datetime) -> None:
    abandoned = Q(state=ProposalState.DRAFTING, decided_at__lt=now - ABANDONED_AFTER)
    changed = FormulaProposal.objects.filter(
        Q(state=ProposalState.OPEN) | abandoned, pk=proposal.pk
    ).update(state=ProposalState.DRAFTING, decided_by=author.username, decided_at=now)
    if not changed:
        raise _decided()


def _give_back(mine: QuerySet[FormulaProposal]) -> None:
    """Undo the taking; what the session took back meanwhile is forgotten, as it would have been.

    First what was not taken back, looked at by the write itself: a session that steps back before
    it has marked the row, one that does so after it finds it open and forgets it.
    """
    mine.filter(withdrawn_at=None).update(state=ProposalState.OPEN, decided_by="", decided_at=None)
    mine.delete()


def _decided() -> ProposalDecided:
    return ProposalDecided(gettext_noop("This proposal is no longer open."))
