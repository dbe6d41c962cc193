"""What validation found in the mirrored head, as lines that lead to what they are about."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from evidence.models import FindingRecord
from evidence.translation import filled

SHOWN: Final = 200


@dataclass(frozen=True, slots=True)
class Finding:
    """One finding in the reader's language; `pk` leads to the unit or note it is about."""

    pk: int
    path: str
    code: str
    blocks: bool
    text: str


def findings_of(slug: str) -> Iterator[Finding]:
    """Give the first findings of a workspace's head, those that block it before the others."""
    rows = FindingRecord.objects.filter(workspace__slug=slug)
    for row in rows.order_by("severity", "path", "code")[:SHOWN]:
        yield Finding(
            pk=row.pk,
            path=row.path,
            code=row.code,
            blocks=row.severity == "error",
            text=filled(row.template, row.values),
        )
