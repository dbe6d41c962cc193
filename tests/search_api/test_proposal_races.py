"""An expert who takes a proposal over while its session steps back: every order of their writes."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor, wait
from contextlib import suppress
from typing import Any, Final

import pytest
from django.db import connection
from django.utils import timezone

from evidence.models import WorkspaceUnknown
from evidence.ports import Actor
from search_api import formula_proposals, receipts, taking_over
from search_api.models import FormulaProposal, ProposalState
from search_api.session_schemas import ProposedFormula
from search_api.stages import Stage
from tests.search_api.test_sessions import FORMULA

pytestmark = pytest.mark.django_db(transaction=True)

ANNA: Final = Actor(username="anna", name="Anna", email="anna@example.org")
WRITES: Final = range(6)
"""More than any of these steps writes, so that the other step comes before, between and after."""
PATIENCE_S: Final = 0.4
"""How long the other step may take before it is plain that it waits for a lock."""

Step = Callable[[FormulaProposal], None]


def failing_draft(proposal: FormulaProposal) -> None:
    """Take the proposal over and give it back: nobody registered its workspace."""
    with suppress(taking_over.ProposalDecided, WorkspaceUnknown):
        taking_over.draft(proposal=proposal, author=ANNA, now=timezone.now())


def dismissal(proposal: FormulaProposal) -> None:
    with suppress(taking_over.ProposalDecided):
        taking_over.dismiss(proposal=proposal, reason="No.", author=ANNA, now=timezone.now())


def taking(proposal: FormulaProposal) -> None:
    """Take the proposal over, and let the process die before there is a unit."""
    with suppress(taking_over.ProposalDecided):
        taking_over._take(proposal, ANNA, timezone.now())


def step_back(_proposal: FormulaProposal) -> None:
    receipts.step_back(
        workspace="w", session="s", stage=Stage.CTE, owner="abcdefgh", now=timezone.now()
    )


class Between:
    """Runs another step, in a connection of its own, before the n-th write to proposals."""

    def __init__(self, pool: ThreadPoolExecutor, other: Callable[[], None], nth: int) -> None:
        self.pool, self.other, self.nth = pool, other, nth
        self.writes = 0
        self.running: Future[None] | None = None

    def __call__(self, execute: Any, sql: str, params: Any, many: bool, context: Any) -> Any:
        if "formulaproposal" in sql and not sql.startswith("SELECT"):
            if self.writes == self.nth:
                self.start()
            self.writes += 1
        return execute(sql, params, many, context)

    def start(self) -> None:
        self.running = self.pool.submit(self.other)
        wait([self.running], timeout=PATIENCE_S)


def both(first: Step, other: Step, nth: int) -> None:
    """Do one step with the other before its n-th write, or after it if it has fewer."""
    formula = ProposedFormula.model_validate(FORMULA)
    kept = formula_proposals.propose(
        workspace="w", session="s", formula=formula, owner="abcdefgh", now=timezone.now()
    )
    proposal = FormulaProposal.objects.get(pk=kept.id)

    def aside() -> None:
        try:
            other(proposal)
        finally:
            connection.close()

    with ThreadPoolExecutor(1) as pool:
        between = Between(pool, aside, nth)
        with connection.execute_wrapper(between):
            first(proposal)
        if between.running is None:
            between.start()
        assert between.running is not None
        between.running.result(timeout=30)


@pytest.mark.parametrize("nth", WRITES)
@pytest.mark.parametrize("expert", [failing_draft, dismissal, taking])
@pytest.mark.parametrize("session_first", [True, False])
def test_what_a_session_took_back_is_never_open_again(expert: Step, nth: int, session_first: bool):
    first, other = (step_back, expert) if session_first else (expert, step_back)
    both(first, other, nth)
    for left in FormulaProposal.objects.all():
        assert expert is taking
        assert left.state == ProposalState.DRAFTING
        assert left.withdrawn_at is not None
