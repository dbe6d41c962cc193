"""The figures of spec 90: what each guarantees, what was measured, and the table of both."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass
from typing import Final

import pytest
from rich.console import Console
from rich.table import Table

TARGETS: Final[Mapping[str, str]] = {
    "no lost update": "8 editors x 200 saves: 0 lost, 0 lock errors, 0 mixed, p99 ≤ 500 ms",
    "kill inside a save": "150 kills: 0 torn, fsck clean, the next save works",
    "repository states and names": "every listed one decided with a code, 0 bytes changed",
    "front matter": "10,000 mutated: 0 crashes, code, path, line; 1,000 unedited saves: 0 bytes",
    "preparation": "each step failed in turn and 50 kills: the old or the new set",
    "subprocess": "10 hostile behaviours: timeout + 5 s, 0 survivors, ≤ 20 MB more",
    "model output": "60 hostile answers: refused or open items; 0 server-owned fields",
    "publication": "50 kills: answers go on; resumed or compensated; 0 lost or doubled",
    "one pointer": "200 interleavings: at most one active; one generation per answer",
    "approvals": "4 x 40 simultaneous: 40 winners, 120 refusals",
    "never stale": "7 faults: 100 % unavailable, within 2 s",
    "hard filters": "5,000 searches: 0 leaks, 0 misses",
    "damaged store": "every file x truncate, flip, zero, delete: 0 silently wrong",
    "SQLite": "4 writers x 200, a publisher, 8 readers: 0 locked",
    "parity": "30 odd values: same status on both databases, 0 x 5xx",
    "API": "≥ 2,000 requests: 0 x 5xx but documented 503, nothing written by readers",
    "SQL bombs": "40: refused within 100 ms, process alive",
    "rendering": "80 payloads: 0 live",
    "secrets": "a canary key and secret through every route: 0 hits",
    "soak": "4 min at 50 requests/s with activations: ≤ 1 MB/min, 0 wrong",
}
"""What each guarantee must reach, in the order of the table of spec 90."""
_PROPERTY: Final = "figure"


@dataclass(frozen=True, slots=True)
class Figure:
    """One line of the table; a `seeded` one tells of a bug that the measure had to notice."""

    guarantee: str
    measured: str
    holds: bool
    seeded: bool = False


class Figures:
    """What one test measured; it travels with the test's report, also between processes."""

    def __init__(self, node: pytest.Item) -> None:
        self._node = node

    def measured(self, guarantee: str, words: str, *, holds: bool) -> None:
        """Put what was measured in the table, and fail unless it reaches the target."""
        self._keep(Figure(guarantee, words, holds))

    def caught(self, guarantee: str, bug: str, *, noticed: bool) -> None:
        """Put in the table that the same measure notices this seeded bug, and fail unless so."""
        self._keep(Figure(guarantee, bug, noticed, seeded=True))

    def _keep(self, figure: Figure) -> None:
        assert figure.guarantee in TARGETS
        self._node.user_properties.append((_PROPERTY, asdict(figure)))
        assert figure.holds, f"{figure.guarantee}: {figure.measured}"


def figures_in(reports: Iterable[object]) -> list[Figure]:
    """Give the figures of all tests, once each, in the order of the targets."""
    found = [
        Figure(**told)
        for report in reports
        if isinstance(report, pytest.TestReport) and report.when == "teardown"
        for name, told in report.user_properties
        if name == _PROPERTY and isinstance(told, dict)
    ]
    order = list(TARGETS)
    return sorted(found, key=lambda each: (order.index(each.guarantee), each.seeded))


def table_of(figures: Iterable[Figure], *, width: int) -> str:
    """Give the table as text; a target stands beside the first line of its guarantee."""
    table = Table("guarantee", "target", "measured", "verdict", box=None, pad_edge=False)
    told = ""
    for figure in figures:
        begins = figure.guarantee != told
        told = figure.guarantee
        name, target = (told, TARGETS[told]) if begins else ("", "")
        table.add_row(name, target, figure.measured, _verdict(figure))
    console = Console(width=width, color_system=None)
    with console.capture() as written:
        console.print(table)
    return "".join(f"{line.rstrip()}\n" for line in written.get().splitlines())


def _verdict(figure: Figure) -> str:
    if figure.seeded:
        return "bug caught" if figure.holds else "BUG MISSED"
    return "reached" if figure.holds else "MISSED"
