"""What is started for `tht serve`, and what stands in its way."""

from __future__ import annotations

import json
import socket
from collections.abc import Iterator

import pytest

from portal import serving
from portal.env import Env
from tests import live


@pytest.fixture
def taken() -> Iterator[int]:
    """A port on which somebody listens."""
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        listener.listen()
        yield listener.getsockname()[1]


def test_a_free_port_is_no_obstacle():
    serving.check_port(Env(bind=f"127.0.0.1:{live.free_port()}"))


def test_a_taken_port_is_told_with_its_address_and_a_way_out(taken):
    with pytest.raises(serving.PortTaken) as refused:
        serving.check_port(Env(bind=f"127.0.0.1:{taken}"))
    assert f"127.0.0.1:{taken}" in str(refused.value.message)
    assert "PORTAL_BIND" in refused.value.hint


@pytest.mark.parametrize("address", ["nowhere.invalid:8000", "203.0.113.7:8000"])
def test_an_address_that_is_not_ours_is_told_in_the_same_way(address):
    with pytest.raises(serving.PortTaken, match="cannot listen on"):
        serving.check_port(Env(bind=address))


def test_serving_where_somebody_listens_ends_at_once_and_starts_nothing(taken, tmp_path):
    home = tmp_path / "home"
    done = live.tht(home, "serve", PORTAL_BIND=f"127.0.0.1:{taken}")
    assert done.returncode == 1
    assert "Error (port_taken)" in done.stderr
    assert not (home / "run").exists()


def test_a_home_is_served_by_one_portal_at_a_time(tmp_path):
    with serving.alone(tmp_path):
        other = live.tht(tmp_path, "serve", PORTAL_BIND=f"127.0.0.1:{live.free_port()}")
        assert other.returncode == 1
        assert "Error (already_serving)" in other.stderr
        assert str(tmp_path) in other.stderr
    with serving.alone(tmp_path):
        assert (tmp_path / "run" / "serve.lock").exists()


def test_a_second_make_run_says_so_before_it_loads_anything(taken, tmp_path):
    done = live.tht(tmp_path / "home", "serve", "--demo", PORTAL_BIND=f"127.0.0.1:{taken}")
    assert (done.returncode, done.stdout) == (1, "")
    assert "port_taken" in done.stderr


def test_a_portal_that_is_told_to_stop_leaves_no_process_and_no_address_behind(demo_home, tmp_path):
    portal = live.LivePortal(live.copy_home(demo_home, tmp_path / "home"))
    portal.start()
    address = json.loads((portal.home / "run" / "broker.json").read_text())["url"]
    assert address.startswith("redis://127.0.0.1:")
    assert portal.processes("celery")
    assert portal.processes("granian")
    assert portal.processes("valkey")
    assert portal.ask_to_stop() == 143
    assert portal.processes() == []
    assert not (portal.home / "run" / "broker.json").exists()
