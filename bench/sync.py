"""What it costs to mirror the edit of one unit, in a small workspace and in a large one.

One unit is edited in 100 and in 10,000 units, in turns, in one run. What counts is the ratio of the
medians: it must not exceed 3, because the mirror's cost follows the change and not the corpus.
"""

from __future__ import annotations

import statistics
import time
from collections.abc import Mapping
from typing import Final

from rich.console import Console
from rich.table import Table

from evidence import conf, mirror
from tests.makers import a_corpus, a_numbered_unit, a_workspace, put, sentence, unit_file

UNITS: Final = {"small": 100, "large": 10_000}
UNITS_A_SOURCE: Final = 10
ROUNDS: Final = 15
ALLOWED: Final = 3.0


def run() -> float:
    """Measure, print a table, and give the ratio of the large to the small workspace.

    Wants Django set up over an empty, migrated database and a home of its own.
    """
    first = {slug: _register(slug, units) for slug, units in UNITS.items()}
    times: Mapping[str, list[float]] = {slug: [] for slug in UNITS}
    for turn in range(ROUNDS):
        for slug in UNITS:
            times[slug].append(_edit_and_sync(slug, turn))
    medians = {slug: statistics.median(taken) for slug, taken in times.items()}
    ratio = medians["large"] / medians["small"]
    table = Table(title="Mirror the edit of one unit", title_justify="left")
    for heading in ("units", "first sync (s)", "median (ms)", "slowest (ms)"):
        table.add_column(heading, justify="right")
    for slug, units in UNITS.items():
        slowest = 1000 * max(times[slug])
        table.add_row(
            f"{units:,}", f"{first[slug]:.2f}", f"{1000 * medians[slug]:.1f}", f"{slowest:.1f}"
        )
    Console().print(table)
    Console().print(f"{ratio:.2f} times slower; allowed are {ALLOWED:.0f}.")
    return ratio


def _register(slug: str, units: int) -> float:
    a_workspace(a_corpus(units, slug=slug, units_a_source=UNITS_A_SOURCE), slug=slug)
    began = time.perf_counter()
    mirror.sync_workspace(slug)
    return time.perf_counter() - began


def _edit_and_sync(slug: str, turn: int) -> float:
    text = "".join(map(sentence, range(UNITS_A_SOURCE)))
    unit = a_numbered_unit(3, source="source/nota-0.md", text=text, title=f"Titolo {turn}")
    path, data = unit_file(unit)
    put(conf.current().repository_path(slug), {f"evidence/{path}": data})
    began = time.perf_counter()
    report = mirror.sync_workspace(slug)
    if report.files != 1:
        raise AssertionError(report)
    return time.perf_counter() - began
