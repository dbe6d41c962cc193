"""What it costs to mirror the edit of one unit, in a small workspace and in a large one.

It must not take more than 3 times as long, because the mirror's cost follows the change and not the
corpus.
"""

from __future__ import annotations

from functools import partial
from typing import Final

from bench.measured import Measured, seconds, side_by_side
from evidence import conf, mirror
from tests.makers import a_corpus, a_numbered_unit, a_workspace, put, sentence, unit_file

UNITS: Final = {"small": 100, "large": 10_000}
UNITS_A_SOURCE: Final = 10
ROUNDS: Final = 15


def measure() -> Measured:
    """Edit one unit in 100 and in 10,000 units, in turns, and compare the syncs."""
    for slug, units in UNITS.items():
        a_workspace(a_corpus(units, slug=slug, units_a_source=UNITS_A_SOURCE), slug=slug)
        mirror.sync_workspace(slug)
    works = {f"{units:,} units": partial(_edit_and_sync, slug) for slug, units in UNITS.items()}
    return side_by_side("sync the edit of one unit", works, rounds=ROUNDS, target=3)


def _edit_and_sync(slug: str, turn: int) -> float:
    text = "".join(map(sentence, range(UNITS_A_SOURCE)))
    unit = a_numbered_unit(3, source="source/nota-0.md", text=text, title=f"Titolo {turn}")
    path, data = unit_file(unit)
    put(conf.current().repository_path(slug), {f"evidence/{path}": data})
    return seconds(lambda: _sync(slug))


def _sync(slug: str) -> None:
    report = mirror.sync_workspace(slug)
    if report.files != 1:
        raise AssertionError(report)
