"""What republishing one changed unit of 1,000 costs with the bundled model (see `republish`)."""

from __future__ import annotations

from bench import republish
from bench.measured import Measured


def measure() -> Measured:
    """Publish 1,000 units, change one, and publish again."""
    return republish.measure_with_model()
