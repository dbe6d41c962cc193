"""Fixtures that every test may use."""

from __future__ import annotations

from pathlib import Path

import pytest
from pytest_django import Settings


@pytest.fixture
def portal_home(tmp_path: Path, settings: Settings) -> Path:
    """Give each test a home of its own: repositories, vectors and run files live there."""
    home = tmp_path / "home"
    home.mkdir()
    settings.EVIDENCE = settings.EVIDENCE | {"home": home}
    settings.PUBLISHING = settings.PUBLISHING | {"home": home}
    return home
