"""So many calendar months ago, whatever the months are like."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from evidence.domain.staleness import stale_before


@pytest.mark.parametrize(
    ("now", "months", "before"),
    [
        ((2026, 12, 1), 1, (2026, 11, 1)),
        ((2026, 1, 15), 1, (2025, 12, 15)),
        ((2026, 1, 15), 18, (2024, 7, 15)),
        ((2026, 3, 31), 1, (2026, 2, 28)),
        ((2024, 3, 31), 1, (2024, 2, 29)),
        ((2024, 2, 29), 12, (2023, 2, 28)),
        ((2026, 12, 31), 12, (2025, 12, 31)),
        ((2026, 6, 1), 1_200, (1926, 6, 1)),
    ],
)
def test_a_day_so_many_months_ago(now: tuple[int, ...], months: int, before: tuple[int, ...]):
    year, month, day = now
    wanted_year, wanted_month, wanted_day = before
    instant = datetime(year, month, day, 9, 30, tzinfo=UTC)
    assert stale_before(instant, months) == datetime(
        wanted_year, wanted_month, wanted_day, 9, 30, tzinfo=UTC
    )


def test_before_the_first_year_nothing_is_stale():
    assert stale_before(datetime(20, 1, 1, tzinfo=UTC), 1_200) == datetime.min.replace(tzinfo=UTC)
