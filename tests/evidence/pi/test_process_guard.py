"""The guard's own parts, looked at from inside; what it does is tested from outside."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

from evidence.adapters import process_guard


def test_descendants_are_found_by_their_groups_and_ours_is_not_among_them() -> None:
    code = "import subprocess; subprocess.run(['sleep', '60'], start_new_session=True)"
    before = process_guard.groups_below(os.getpid())  # what other tests have running here
    with subprocess.Popen([sys.executable, "-c", code], start_new_session=True) as child:
        try:
            while len(groups := process_guard.groups_below(os.getpid()) - before) < 2:
                pass
            assert child.pid in groups
            assert os.getpgid(0) not in groups
        finally:
            for group in groups:
                os.killpg(group, 9)


@pytest.mark.parametrize(
    ("code", "outcome"),
    [("raise SystemExit(7)", {"code": 7}), ("import os; os.kill(os.getpid(), 9)", {"signal": 9})],
)
def test_an_exit_is_told_from_a_signal(code: str, outcome: dict[str, int]) -> None:
    pid = os.posix_spawn(sys.executable, [sys.executable, "-c", code], {})
    assert process_guard.outcome_of(os.waitpid(pid, 0)[1]) == outcome


def test_a_guard_whose_portal_is_gone_already_starts_nothing(tmp_path) -> None:
    reading, writing = os.pipe()
    guard = [sys.executable, "-I", "-S", process_guard.__file__, str(writing), "1"]
    done = subprocess.run(
        [*guard, "/bin/touch", str(tmp_path / "ran")], pass_fds=(writing,), check=True
    )
    os.close(writing)
    assert done.returncode == 0
    assert os.read(reading, 10) == b""
    os.close(reading)
    assert not (tmp_path / "ran").exists()
