"""Where a unit is read in the admin, and what it is called, by its id."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass

from evidence.admin.pages import address
from evidence.models import UnitRecord


@dataclass(frozen=True, slots=True)
class UnitLink:
    """A unit by its title; `link` is empty when the head does not have it."""

    evidence_id: str
    title: str
    link: str


class UnitLinks(dict[str, UnitLink]):
    """Links by evidence id; a unit that the head lacks is called by its id."""

    def __missing__(self, evidence_id: str) -> UnitLink:
        """Give the id as it stands, leading nowhere."""
        return UnitLink(evidence_id, evidence_id, "")


def unit_links(slug: str, ids: Collection[str]) -> Mapping[str, UnitLink]:
    """Give the links of these units of a workspace's head, with one query."""
    rows = UnitRecord.objects.filter(workspace__slug=slug, evidence_id__in=set(ids))
    return UnitLinks(
        (each.evidence_id, UnitLink(each.evidence_id, each.title, _page(each))) for each in rows
    )


def _page(row: UnitRecord) -> str:
    return address("evidence_unitrecord_change", row.pk)
