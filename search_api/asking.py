"""One search of one key: the answer, the receipt of its stage, and a line in the search log."""

from __future__ import annotations

from django.utils import timezone

from publishing import retrieval
from search_api import answers, auth, receipts, search_log, sessions
from search_api.models import ApiKey
from search_api.schemas import Outcome, SearchAvailable, SearchBody
from search_api.session_schemas import Receipt, SessionRef


def ask(*, workspace: str, question: SearchBody, key: ApiKey) -> Outcome:
    """Give the outcome of a question; of an available one in a session the receipt is kept.

    Raises `AccessRefused` for a reader with a session, `SessionOfAnotherKey`.
    """
    if question.session is not None:
        auth.require_writer(key)
        sessions.refuse_foreign(workspace=workspace, session=question.session.id, owner=key.lineage)
    found = retrieval.search(workspace, question)
    outcome = answers.said(workspace, found)
    search_log.note(
        workspace=workspace,
        question=question,
        outcome=found,
        key_prefix=key.prefix,
        now=timezone.now(),
    )
    if question.session is None or not isinstance(outcome, SearchAvailable):
        return outcome
    receipt = receipts.keep(
        workspace=workspace,
        session=question.session.id,
        receipt=_receipt(question, question.session, outcome),
        owner=key.lineage,
        now=timezone.now(),
    )
    return outcome.model_copy(update={"receipt": receipt})


def _receipt(question: SearchBody, session: SessionRef, outcome: SearchAvailable) -> Receipt:
    return Receipt(
        stage=session.stage,
        purpose=question.purpose,
        vector_generation=outcome.generation,
        evidence_ids=tuple(result.evidence_id for result in outcome.results),
    )
