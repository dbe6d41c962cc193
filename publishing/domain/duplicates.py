"""Units that look like duplicates of new or changed ones, as a rehearsal keeps them."""

from __future__ import annotations

from typing import Final, TypedDict

ALIKE: Final = 0.94
"""Cosine similarity of two fragments from which their units look like duplicates.

Measured with the bundled model on the demo: no two of its 24 units come above 0.939; of six
rewordings of its units five come above 0.944, and one at 0.934 is missed. Other models have other
scales, and what they find is as good as this number fits them.
"""


class Pair(TypedDict):
    """Two units and the highest similarity of two of their fragments."""

    unit: str
    neighbour: str
    similarity: float


class Comparison(TypedDict):
    """What was found, the most alike first, and how many of how many fragments were compared."""

    pairs: list[Pair]
    compared: int
    fragments: int
