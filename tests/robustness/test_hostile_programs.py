"""Hostile stand-ins for Pi: back in time, nothing left, little memory (spec 90, Figures)."""

from __future__ import annotations

import subprocess
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest

from evidence.faults import Fault
from tests.evidence.pi.stand_ins import (
    CODES,
    HOSTILE,
    REQUEST,
    a_program,
    a_restructurer,
    end,
    survivors_soon,
)
from tests.robustness.counts import times
from tests.robustness.figures import Figures

TIMEOUT_S = 2.0
LATE_S = TIMEOUT_S + 5
ROUNDS = 5
MEMORY_KB = 20 * 1024


@dataclass(frozen=True, slots=True)
class Cost:
    """What the runs of one program cost at most, and how many processes they left alive."""

    seconds: float
    survivors: int
    more_kb: int

    @property
    def is_small(self) -> bool:
        return self.seconds < LATE_S and not self.survivors and self.more_kb <= MEMORY_KB


def memory_kb(name: str) -> int:
    """Give a figure of this process from `/proc/self/status`, in kB."""
    for line in Path("/proc/self/status").read_text().splitlines():
        if line.startswith(f"{name}:"):
            return int(line.split()[1])
    raise LookupError(name)


def start_measuring() -> int:
    """Forget the highest memory so far and give what is in use now, in kB."""
    Path("/proc/self/clear_refs").write_text("5")
    return memory_kb("VmRSS")


def cost_of(run: Callable[[], object], program: Path, rounds: int) -> Cost:
    """Run so often; measured with the clock, `/proc` and nothing of ours."""
    slowest, survivors, before = 0.0, 0, start_measuring()
    for _ in range(rounds):
        began = time.monotonic()
        run()
        slowest = max(slowest, time.monotonic() - began)
        left = survivors_soon(program)
        survivors += len(left)
        end(left)
    return Cost(slowest, survivors, memory_kb("VmHWM") - before)


def test_a_hostile_program_is_back_in_time_and_leaves_nothing(
    tmp_path: Path, figures: Figures
) -> None:
    costs = {}
    for number, (behaviour, code) in enumerate(HOSTILE.items()):
        folder = tmp_path / str(number)
        folder.mkdir()
        program = a_program(folder, code)
        restructurer = a_restructurer(program, timeout_s=TIMEOUT_S)

        def run(asked: Callable[[object], object] = restructurer.restructure) -> None:  # type: ignore[assignment]
            with pytest.raises(Fault) as refused:
                asked(REQUEST)
            assert refused.value.code == CODES[behaviour]  # noqa: B023 - run at once

        costs[behaviour] = cost_of(run, program, times(ROUNDS))
    slowest = max(cost.seconds for cost in costs.values())
    more = max(cost.more_kb for cost in costs.values()) / 1024
    left = sum(cost.survivors for cost in costs.values())
    words = (
        f"{len(costs)} behaviours x {times(ROUNDS)}: {slowest:.1f} s at a timeout of"
        f" {TIMEOUT_S:.0f} s, {left} survivors, {more:.1f} MB more"
    )
    holds = len(costs) >= 10 and all(cost.is_small for cost in costs.values())
    figures.measured("subprocess", words, holds=holds)


def naive(program: Path, timeout_s: float) -> None:
    """Run a program as one would at first: a timeout, a kill, and all of its output."""
    with subprocess.Popen([program], stdout=subprocess.PIPE) as process:
        try:
            process.communicate(timeout=timeout_s)
        except subprocess.TimeoutExpired:
            process.kill()
            process.communicate()


def test_a_plain_timeout_and_kill_would_be_noticed(tmp_path: Path, figures: Figures) -> None:
    holder = "os.fork() or time.sleep(9)"
    program = a_program(tmp_path, holder)
    late = cost_of(lambda: naive(program, TIMEOUT_S), program, 1)
    escaped = HOSTILE["leaves a grandchild in a session of its own"].replace("60", "9")
    program = a_program(tmp_path, f"{escaped}\nos.closerange(0, 3)")
    left = subprocess.run([program], stdout=subprocess.DEVNULL, check=False)
    survived = cost_of(lambda: left, program, 1)
    words = f"plain kill: {late.seconds:.0f} s, {survived.survivors} survivor"
    figures.caught("subprocess", words, noticed=not late.is_small and not survived.is_small)


def test_output_that_is_read_whole_would_be_noticed(tmp_path: Path, figures: Figures) -> None:
    program = a_program(tmp_path, "os.write(1, b'x' * 40_000_000)\nfor _ in range(40): pass")

    def whole() -> None:
        subprocess.run([program], capture_output=True, check=False)

    cost = cost_of(whole, program, 1)
    figures.caught(
        "subprocess", f"output read whole: {cost.more_kb / 1024:.0f} MB", noticed=not cost.is_small
    )
