"""Which sessions were told a unit: evidence's port, from the rows of receipts."""

from __future__ import annotations

from urllib.parse import urlencode

from django.urls import reverse

from evidence.ports import UnitReturn, UnitUsage
from search_api.models import ReceiptRecord


class ReceiptUsage:
    """The use of units as `evidence.ports.Usage` gives it."""

    def of_unit(self, workspace: str, evidence_id: str, *, most: int) -> UnitUsage:
        """Give the stages that were told a unit, the last stored first; two queries."""
        rows = ReceiptRecord.objects.filter(
            units__workspace=workspace, units__evidence_id=evidence_id
        )
        latest = rows.select_related("session").order_by("-stored_at", "-pk")[:most]
        listing = reverse("admin:search_api_receiptrecord_changelist")
        questions = reverse("admin:publishing_question_set")
        return UnitUsage(
            count=rows.count(),
            latest=tuple(_return(row) for row in latest),
            link=f"{listing}?{urlencode({'workspace': workspace, 'unit': evidence_id})}",
            exam_link=f"{questions}?{urlencode({'workspace': workspace})}",
        )


def _return(row: ReceiptRecord) -> UnitReturn:
    return UnitReturn(
        session=row.session.name,
        stage=row.stage,
        at=row.stored_at,
        link=reverse("admin:search_api_receiptrecord_change", args=[row.pk]),
    )
