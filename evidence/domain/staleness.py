"""When a unit counts as stale: it is older in Git than its workspace allows (spec 20, Warnings)."""

from __future__ import annotations

import calendar
from datetime import UTC, datetime

from evidence.messages import Message, gettext_noop

STALE_UNIT = "stale_unit"
"""The code of the warning; only the portal finds it, from the clock and the history."""


def stale_before(now: datetime, months: int) -> datetime:
    """Give the instant before which a last change is too old, so many calendar months ago.

    A day that the month lacks becomes its last one.
    """
    year, month = divmod(now.year * 12 + now.month - 1 - months, 12)
    if year < 1:
        return datetime.min.replace(tzinfo=UTC)
    last_day = calendar.monthrange(year, month + 1)[1]
    return now.replace(year=year, month=month + 1, day=min(now.day, last_day))


def stale_message(months: int) -> Message:
    """Say that a unit is stale."""
    if months == 1:
        return Message(
            gettext_noop("Nobody has changed this unit for more than a month: is it still right?")
        )
    template = gettext_noop(
        "Nobody has changed this unit for more than %(months)s months: is it still right?"
    )
    return Message(template, months=months)
