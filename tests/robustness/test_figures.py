"""The table of figures tells what was missed as plainly as what was reached."""

from __future__ import annotations

import pytest

from tests.robustness.figures import TARGETS, Figure, Figures, table_of


def test_a_missed_figure_fails_its_test_and_stays_in_the_table(
    request: pytest.FixtureRequest,
) -> None:
    figures = Figures(request.node)
    with pytest.raises(AssertionError, match="one pointer: two were active"):
        figures.measured("one pointer", "two were active", holds=False)
    assert request.node.user_properties.pop()[1]["holds"] is False


def test_a_guarantee_that_the_specification_does_not_name_is_refused(
    request: pytest.FixtureRequest,
) -> None:
    with pytest.raises(AssertionError):
        Figures(request.node).measured("beauty", "very", holds=True)
    assert "figure" not in dict(request.node.user_properties)


def test_the_table_shows_each_target_once_and_every_verdict() -> None:
    written = table_of(
        [
            Figure("soak", "0 wrong answers", holds=True),
            Figure("soak", "2 MB/min", holds=False),
            Figure("soak", "a leak of 3 MB/min", holds=True, seeded=True),
        ],
        width=200,
    )
    assert written.count(TARGETS["soak"]) == 1
    verdicts = [line.rstrip().rpartition("  ")[2] for line in written.splitlines()[1:]]
    assert verdicts == ["reached", "MISSED", "bug caught"]
