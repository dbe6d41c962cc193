"""How one source was read by a preparation (spec 20, Accountability)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from evidence.messages import gettext_noop


class ReadingOutcome(StrEnum):
    """How it went: an answer was asked for, or kept, or none was fit to use, or none asked for."""

    ASKED = "asked"
    CACHED = "cached"
    FAILED = "failed"
    REFUSED = "refused"

    @property
    def label(self) -> str:
        """Give the outcome in English words, to be translated."""
        return _LABELS[self]


_LABELS: Final[dict[ReadingOutcome, str]] = {
    ReadingOutcome.ASKED: gettext_noop("read"),
    ReadingOutcome.CACHED: gettext_noop("known from before"),
    ReadingOutcome.FAILED: gettext_noop("failed"),
    ReadingOutcome.REFUSED: gettext_noop("not given out"),
}


@dataclass(frozen=True, slots=True)
class Reading:
    """One source as it was just read; `seconds` is None where nobody was asked."""

    source_file: str
    outcome: ReadingOutcome
    seconds: float | None = None
    units: int = 0
    code: str = ""


Witness = Callable[[Reading], None]
"""Is told of each reading as soon as it has ended, in the thread that asked for all of them."""


def nobody(_reading: Reading) -> None:
    """Keep no record."""
