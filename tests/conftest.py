"""Fixtures that every test may use."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import settings as property_settings
from pytest_django import Settings

# A loaded machine is slow, not wrong: properties have no time limit for each example.
property_settings.register_profile("portal", deadline=None)
property_settings.load_profile("portal")


@pytest.fixture
def portal_home(tmp_path: Path, settings: Settings) -> Path:
    """Give each test a home of its own: repositories, vectors and run files live there."""
    home = tmp_path / "home"
    home.mkdir()
    settings.EVIDENCE = settings.EVIDENCE | {"home": home}
    settings.PUBLISHING = settings.PUBLISHING | {"home": home}
    return home
