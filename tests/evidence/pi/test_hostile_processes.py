"""Whatever a program does, it is gone in time and nothing of it is left (spec 90, Subprocess)."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

from evidence.adapters import guarded_process
from evidence.faults import Fault
from tests.evidence.pi.stand_ins import (
    CODES,
    HOSTILE,
    REQUEST,
    a_program,
    a_restructurer,
    end,
    survivors,
    survivors_soon,
)
from tests.evidence.trees import NOTE, a_work_tree

TIMEOUT_S = 1.0
PROJECT = Path(__file__).parents[3]


@pytest.mark.parametrize("behaviour", HOSTILE)
def test_a_hostile_program_costs_one_source_and_little_time(behaviour: str, tmp_path: Path) -> None:
    program = a_program(tmp_path, HOSTILE[behaviour])
    restructurer = a_restructurer(program, timeout_s=TIMEOUT_S)
    began = time.monotonic()
    with pytest.raises(Fault) as refused:
        restructurer.restructure(REQUEST)
    assert refused.value.code == CODES[behaviour]
    assert time.monotonic() - began < TIMEOUT_S + 5
    assert survivors_soon(program) == []


def test_the_oracle_sees_what_a_plain_timeout_leaves_behind(tmp_path: Path) -> None:
    program = a_program(tmp_path, HOSTILE["leaves a grandchild in a session of its own"])
    with subprocess.Popen([program], stdout=subprocess.DEVNULL, start_new_session=True) as naive:
        naive.wait(5)
    left = survivors(program)
    end(left)
    assert left


def test_a_hostile_version_is_stopped_too(tmp_path: Path) -> None:
    program = tmp_path / "pi"
    program.write_text("#!/bin/sh\nsleep 60\n")
    program.chmod(0o755)
    with pytest.raises(Fault) as refused:
        a_restructurer(program, timeout_s=TIMEOUT_S).restructure(REQUEST)
    assert refused.value.code == "pi_timeout"
    assert survivors_soon(program) == []


def test_other_children_of_the_portal_are_left_alone(tmp_path: Path) -> None:
    program = a_program(tmp_path, HOSTILE["forks many"])
    with subprocess.Popen(["sleep", "60"]) as bystander:
        with pytest.raises(Fault):
            a_restructurer(program, timeout_s=TIMEOUT_S).restructure(REQUEST)
        assert bystander.poll() is None
        bystander.kill()


@pytest.mark.parametrize("last_word", [signal.SIGINT, signal.SIGTERM, signal.SIGKILL])
def test_the_program_goes_when_the_portal_does(tmp_path: Path, last_word: signal.Signals) -> None:
    program = a_program(tmp_path, HOSTILE["forks many"])
    root = a_work_tree(tmp_path / "top", {"source/eta.md": NOTE})
    code = "import sys; from evidence.commands import evidence_app as app; app(sys.argv[1:])"
    environment = {
        "PORTAL_HOME": str(tmp_path),
        "PORTAL_PI_EXECUTABLE": str(program),
        "TMPDIR": str(tmp_path),
    }
    portal = subprocess.Popen(
        [sys.executable, "-c", code, "prepare", str(root), "--restructurer", "pi"],
        env=dict(os.environ) | environment | {"PYTHONPATH": str(PROJECT)},
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )
    began = time.monotonic()
    while len(survivors(program)) < 100 and time.monotonic() - began < 30:
        time.sleep(0.05)
    if last_word is signal.SIGINT:  # as a terminal sends Ctrl-C
        os.killpg(portal.pid, last_word)
    else:
        portal.send_signal(last_word)
    assert portal.wait(10) != 0
    left = survivors_soon(program, within_s=5)
    end(left)
    assert left == []


def test_several_at_once_do_not_end_each_other(tmp_path: Path) -> None:
    ended: list[guarded_process.Ended] = []
    patient = a_program(tmp_path, "time.sleep(1); print('done')")

    def run_patient() -> None:
        ended.append(
            guarded_process.run(
                [str(patient)],
                stdin=b"",
                environment={"HOME": str(tmp_path / "home")},
                folder=tmp_path,
                timeout_s=20,
            )
        )

    waiting = threading.Thread(target=run_patient)
    waiting.start()
    hostile = tmp_path / "hostile"
    hostile.mkdir()
    with pytest.raises(Fault):
        a_restructurer(a_program(hostile, HOSTILE["floods stdout"])).restructure(REQUEST)
    waiting.join()
    assert [(each.code, each.out) for each in ended] == [(0, b"done\n")]


def test_a_program_that_ends_well_is_not_waited_for_longer(tmp_path: Path) -> None:
    program = a_program(tmp_path, "print('done')")
    began = time.monotonic()
    ended = guarded_process.run(
        [str(program)],
        stdin=b"x" * 3_000_000,
        environment={"HOME": str(tmp_path)},
        folder=tmp_path,
        timeout_s=60,
    )
    assert (ended.code, ended.out, ended.too_slow) == (0, b"done\n", False)
    assert time.monotonic() - began < 20
