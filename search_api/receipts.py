"""What each stage of a session was answered: kept, replaced, or forgotten by a step back."""

from __future__ import annotations

from datetime import datetime

from django.db import transaction

from evidence import known_units
from evidence.faults import CuratorFault
from evidence.messages import Message, gettext_noop
from publishing import overview
from search_api import formula_proposals, sessions
from search_api.models import ReceiptRecord, ReturnedUnit
from search_api.session_schemas import Receipt
from search_api.stages import Stage, onwards, position


class ReceiptRefused(CuratorFault):
    """A receipt names a generation or units its workspace never had, or another stage."""

    code = "receipt_refused"


def put(
    *, workspace: str, session: str, stage: Stage, receipt: Receipt, owner: str, now: datetime
) -> Receipt:
    """Keep the receipt that a client says this stage had; the present one is replaced.

    Raises `ReceiptRefused`, `SessionOfAnotherKey`, and the faults of the repository.
    """
    if receipt.stage is not stage:
        raise ReceiptRefused(gettext_noop("The receipt is of another stage than its address."))
    sessions.refuse_foreign(workspace=workspace, session=session, owner=owner)
    _refuse_unknown(workspace, receipt)
    return keep(workspace=workspace, session=session, receipt=receipt, owner=owner, now=now)


def keep(*, workspace: str, session: str, receipt: Receipt, owner: str, now: datetime) -> Receipt:
    """Keep the receipt of an answer of ours. Raises `SessionOfAnotherKey`."""
    with transaction.atomic():
        mine = sessions.claim(workspace=workspace, session=session, owner=owner, now=now)
        row, _created = ReceiptRecord.objects.update_or_create(
            session=mine,
            stage=receipt.stage.value,
            defaults={
                "purpose": receipt.purpose.value,
                "generation": receipt.vector_generation,
                "evidence_ids": list(receipt.evidence_ids),
                "stored_at": now,
            },
        )
        row.units.all().delete()
        ReturnedUnit.objects.bulk_create(
            ReturnedUnit(receipt=row, workspace=workspace, evidence_id=each)
            for each in receipt.evidence_ids
        )
    return receipt


def of_session(*, workspace: str, session: str) -> tuple[Receipt, ...]:
    """Give the receipts of a session in stage order; one that nobody wrote has none."""
    rows = ReceiptRecord.objects.filter(session__workspace=workspace, session__name=session)
    found = [_receipt(row) for row in rows]
    return tuple(sorted(found, key=lambda receipt: position(receipt.stage)))


def step_back(
    *, workspace: str, session: str, stage: Stage, owner: str, now: datetime
) -> tuple[Receipt, ...]:
    """Forget what a session has from a stage on, that stage included, and give what stays.

    Formula proposals of those stages go too; those an expert took over are marked withdrawn.
    Raises `SessionOfAnotherKey`.
    """
    if sessions.exists(workspace=workspace, session=session):
        with transaction.atomic():
            mine = sessions.claim(workspace=workspace, session=session, owner=owner, now=now)
            mine.receipts.filter(stage__in=onwards(stage)).delete()
            formula_proposals.forget(session=mine, stages=onwards(stage), now=now)
    return of_session(workspace=workspace, session=session)


def _receipt(row: ReceiptRecord) -> Receipt:
    return Receipt.model_validate(
        {
            "stage": row.stage,
            "purpose": row.purpose,
            "vector_generation": row.generation,
            "evidence_ids": tuple(row.evidence_ids),
        }
    )


def _refuse_unknown(workspace: str, receipt: Receipt) -> None:
    try:
        generation = overview.generation_summary(workspace, receipt.vector_generation)
    except overview.GenerationUnknown as unknown:
        raise ReceiptRefused(unknown.message) from unknown
    known = known_units.known(
        workspace=workspace, revision=generation.revision, evidence_ids=receipt.evidence_ids
    )
    for evidence_id in receipt.evidence_ids:
        if evidence_id not in known:
            message = gettext_noop("This workspace never had a unit %(id)s.")
            raise ReceiptRefused(Message(message, id=evidence_id))
