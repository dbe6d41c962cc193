"""Hostile stand-ins for Pi: back in time, nothing left, little memory (spec 90, Figures)."""

from __future__ import annotations

import time
from pathlib import Path

import pytest

from evidence.faults import Fault
from tests.evidence.pi.stand_ins import (
    CODES,
    HOSTILE,
    REQUEST,
    a_program,
    a_restructurer,
    survivors_soon,
)
from tests.robustness.counts import times

TIMEOUT_S = 2.0
ROUNDS = 5
MEMORY_KB = 20 * 1024


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


def test_the_measure_sees_thirty_megabytes() -> None:
    before = start_measuring()
    assert len(b"x" * 30 * 1024 * 1024)
    assert memory_kb("VmHWM") - before > MEMORY_KB


@pytest.mark.parametrize("behaviour", HOSTILE)
def test_a_hostile_program_leaves_nothing(behaviour: str, tmp_path: Path) -> None:
    program = a_program(tmp_path, HOSTILE[behaviour])
    restructurer = a_restructurer(program, timeout_s=TIMEOUT_S)
    slowest, before = 0.0, start_measuring()
    for _ in range(times(ROUNDS)):
        began = time.monotonic()
        with pytest.raises(Fault) as refused:
            restructurer.restructure(REQUEST)
        slowest = max(slowest, time.monotonic() - began)
        assert refused.value.code == CODES[behaviour]
        assert survivors_soon(program) == []
    more = memory_kb("VmHWM") - before
    print(f"subprocess: {behaviour}: {slowest:.1f} s, 0 survivors, {more / 1024:.1f} MB more")
    assert slowest < TIMEOUT_S + 5
    assert more <= MEMORY_KB
