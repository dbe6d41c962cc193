"""How often to repeat: the figures of spec 90, or a share of them."""

from __future__ import annotations

import os
from typing import Final

SHARE: Final = float(os.environ.get("ROBUSTNESS_SHARE", "1"))
"""The share of the counts that this run takes (default 1; `.ci/run` takes 0.1)."""


def times(figure: int) -> int:
    """Give the figure times `SHARE`, at least 1."""
    return max(1, int(figure * SHARE))
