"""What a preparation does to a unit, and what a curator makes of it (spec 20, Accountability)."""

from __future__ import annotations

from enum import StrEnum
from typing import Final

from evidence.domain.codec import dump_curated_markdown
from evidence.domain.normalization import source_hash
from evidence.domain.units import CuratedEvidence
from evidence.messages import gettext_noop

RETAINED: Final = frozenset({"source_no_longer_supports_unit", "retirement_candidate"})
"""Doubts of a unit that the answer no longer mentioned (spec 20, Preparation, step 4)."""


class UnitChange(StrEnum):
    """What a proposal does to a unit; a confirmed one only learns that its note has changed."""

    NEW = "new"
    CHANGED = "changed"
    KEPT = "kept"
    CONFIRMED = "confirmed"

    @property
    def label(self) -> str:
        """Give the change in English words, to be translated."""
        return _CHANGES[self]


class UnitOutcome(StrEnum):
    """What the curator made of it.

    *Edited* means before it was accepted, and more than settling its doubts; what is changed later
    is an edit of the unit. *Dropped* is taken out alone or discarded with the whole proposal.
    """

    OPEN = "open"
    ACCEPTED = "accepted"
    EDITED = "edited"
    DROPPED = "dropped"
    LEFT_OUT = "left_out"

    @property
    def label(self) -> str:
        """Give the outcome in English words, to be translated."""
        return _OUTCOMES[self]


_CHANGES: Final[dict[UnitChange, str]] = {
    UnitChange.NEW: gettext_noop("new"),
    UnitChange.CHANGED: gettext_noop("changed"),
    UnitChange.KEPT: gettext_noop("kept, in doubt"),
    UnitChange.CONFIRMED: gettext_noop("as before"),
}
_OUTCOMES: Final[dict[UnitOutcome, str]] = {
    UnitOutcome.OPEN: gettext_noop("not decided"),
    UnitOutcome.ACCEPTED: gettext_noop("accepted"),
    UnitOutcome.EDITED: gettext_noop("edited, then accepted"),
    UnitOutcome.DROPPED: gettext_noop("dropped"),
    UnitOutcome.LEFT_OUT: gettext_noop("left out"),
}


def change_of(before: CuratedEvidence | None, after: CuratedEvidence) -> UnitChange:
    """Tell what a proposal does to a unit."""
    if before is None:
        return UnitChange.NEW
    if any(item.code in RETAINED for item in after.review_items):
        return UnitChange.KEPT
    same = before.review_items == after.review_items and said(before) == said(after)
    return UnitChange.CONFIRMED if same else UnitChange.CHANGED


def said(unit: CuratedEvidence) -> str:
    """Give the digest of what a unit says; its doubts, and name and hash of its source, aside."""
    nowhere = {"source_file": "source/x.md", "source_sha256": f"sha256:{'0' * 64}"}
    provenance = unit.provenance.model_copy(update=nowhere)
    plain = unit.model_copy(update={"provenance": provenance, "review_items": ()})
    return source_hash(dump_curated_markdown(plain))
