"""What a benchmark finds: most often two medians measured in turns, and the ratio they may have."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from rich.console import Console
from rich.table import Table

Timed = Callable[[int], float]
"""Does the work of one turn and gives how many seconds of it count."""


class Finding(Protocol):
    """What `measure()` of a benchmark gives: a verdict, and the figures behind it."""

    @property
    def holds(self) -> bool:
        """Tell whether its target is reached."""

    def as_json(self) -> dict[str, object]:
        """Give what `bench/results.json` keeps."""


@dataclass(frozen=True, slots=True)
class Measured:
    """How much longer the second of two takes than the first, and how much longer it may take."""

    name: str
    compared: tuple[str, str]
    medians_s: tuple[float, float]
    target: float

    @property
    def ratio(self) -> float:
        """Give the second median divided by the first."""
        first, second = self.medians_s
        return second / first

    @property
    def holds(self) -> bool:
        """Tell whether the ratio is within its target."""
        return self.ratio <= self.target

    def as_json(self) -> dict[str, object]:
        """Give what `bench/results.json` keeps."""
        return {
            "name": self.name,
            "medians_ms": {
                what: round(1000 * median, 3)
                for what, median in zip(self.compared, self.medians_s, strict=True)
            },
            "ratio": round(self.ratio, 2),
            "target": self.target,
            "holds": self.holds,
        }


@dataclass(frozen=True, slots=True)
class Several:
    """Comparisons of one kind, each with its own target."""

    rows: tuple[Measured, ...]

    @property
    def holds(self) -> bool:
        """Tell whether every ratio is within its target."""
        return all(row.holds for row in self.rows)

    def as_json(self) -> dict[str, object]:
        """Give what `bench/results.json` keeps."""
        return {"rows": [row.as_json() for row in self.rows], "holds": self.holds}


def side_by_side(name: str, works: Mapping[str, Timed], *, rounds: int, target: float) -> Measured:
    """Time two works in turns, so that a machine that slows down slows both."""
    times: dict[str, list[float]] = {what: [] for what in works}
    for turn in range(rounds):
        for what, work in works.items():
            times[what].append(work(turn))
    first, second = works
    medians = statistics.median(times[first]), statistics.median(times[second])
    return Measured(name, (first, second), medians, target)


def seconds(work: Callable[[], object]) -> float:
    """Give how long one call takes."""
    began = time.perf_counter()
    work()
    return time.perf_counter() - began


def show(found: Sequence[Measured]) -> None:
    """Print one table of all ratios."""
    table = Table(title="Benchmarks", title_justify="left")
    for heading in ("what", "first (ms)", "second (ms)", "ratio", "at most", "verdict"):
        table.add_column(heading, overflow="fold")
    for one in found:
        cells = (
            f"{what}: {1000 * median:.2f}"
            for what, median in zip(one.compared, one.medians_s, strict=True)
        )
        verdict = "holds" if one.holds else "too slow"
        table.add_row(one.name, *cells, f"{one.ratio:.2f}", f"{one.target:g}", verdict)
    Console().print(table)
