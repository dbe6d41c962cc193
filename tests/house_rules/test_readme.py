"""The README tells the truth about what can be set."""

from __future__ import annotations

from pathlib import Path

from evidence.environment import PREFIX
from portal.env import Env

README = (Path(__file__).resolve().parents[2] / "README.md").read_text(encoding="utf-8")


def test_every_setting_stands_in_the_readme_with_what_it_is_for() -> None:
    for name, field in Env.model_fields.items():
        row = next(line for line in README.splitlines() if f"`{PREFIX}{name.upper()}`" in line)
        assert str(field.description) in row
