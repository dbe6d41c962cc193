"""The table of figures that a run of the robustness suite ends with."""

from __future__ import annotations

import pytest

from tests.robustness.counts import SHARE
from tests.robustness.figures import Figures, figures_in, table_of

WIDTH = 140


@pytest.fixture
def figures(request: pytest.FixtureRequest) -> Figures:
    """Give where a test writes what it measured: one line of the table, which it also asserts."""
    return Figures(request.node)


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Print target, measure and verdict of every figure of this run."""
    reports = (report for kept in terminalreporter.stats.values() for report in kept)
    found = figures_in(reports)
    if found:
        terminalreporter.section(f"figures of spec 90, {SHARE:.0%} of the counts")
        terminalreporter.write(table_of(found, width=WIDTH))
