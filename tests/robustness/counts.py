"""How often to repeat: the figures of spec 90, or a share of them."""

from __future__ import annotations

import os


def times(figure: int) -> int:
    """Give the figure times `ROBUSTNESS_SHARE` (default 1; `.ci/run` takes 0.1), at least 1."""
    return max(1, int(figure * float(os.environ.get("ROBUSTNESS_SHARE", "1"))))
