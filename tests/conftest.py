"""Fixtures that every test may use."""

from __future__ import annotations

import fcntl
from collections.abc import Generator, Iterator
from importlib import import_module
from pathlib import Path

import pytest
from django.apps import apps
from hypothesis import settings as property_settings
from pytest_django import Settings
from pytest_django.plugin import blocking_manager_key

from tests import live
from tests.live import LivePortal

# A loaded machine is slow, not wrong: properties have no time limit for each example.
property_settings.register_profile("portal", deadline=None)
property_settings.load_profile("portal")


@pytest.hookimpl(wrapper=True)
def pytest_runtest_teardown(item: pytest.Item, nextitem: pytest.Item | None) -> Generator[None]:
    """Fill the groups again after a test that empties every table, for those that follow it."""
    yield
    marker = item.get_closest_marker("django_db")
    if nextitem and marker and marker.kwargs.get("transaction"):
        with item.config.stash[blocking_manager_key].unblock():
            import_module("portal.migrations.0001_groups").fill_groups(apps)
            import_module("portal.migrations.0002_gaps").add_to_groups(apps)


@pytest.fixture
def portal_home(tmp_path: Path, settings: Settings) -> Path:
    """Give each test a home of its own: repositories, vectors and run files live there."""
    home = tmp_path / "home"
    home.mkdir()
    settings.EVIDENCE = settings.EVIDENCE | {"home": home}
    settings.PUBLISHING = settings.PUBLISHING | {"home": home}
    return home


@pytest.fixture(scope="session")
def demo_home(tmp_path_factory: pytest.TempPathFactory, worker_id: str) -> Path:
    """Give a home in which `tht demo` has run; copy it (`live.copy_home`), never change it."""
    mine = tmp_path_factory.getbasetemp()
    shared = mine if worker_id == "master" else mine.parent
    home = shared / "demo-home"
    with (shared / "demo-home.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)  # parallel workers share one
        if not home.exists():
            live.make_demo(shared / "demo-home.new")
            (shared / "demo-home.new").rename(home)
    return home


@pytest.fixture(scope="module")
def live_portal(demo_home: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[LivePortal]:
    """Serve a copy of the demo for the tests of one module."""
    home = live.copy_home(demo_home, tmp_path_factory.mktemp("live") / "home")
    with live.serving(home) as portal:
        yield portal
