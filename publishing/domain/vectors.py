"""What a vector must be before a store may see it (spec 50, Before the store)."""

from __future__ import annotations

import math
from collections.abc import Sequence

from evidence.faults import OperatorFault
from evidence.messages import Message, gettext_noop


class VectorRefused(OperatorFault):
    """A vector of the wrong size, or one that is NaN, infinite, zero or missing."""

    code = "vector_refused"


def checked_vector(vector: Sequence[float] | None, *, dimension: int) -> tuple[float, ...]:
    """Give the vector as floats, `dimension` of them.

    Raises `VectorRefused`: the engine itself takes NaN, infinite, zero and missing vectors.
    """
    if vector is None or len(vector) == 0:
        raise VectorRefused(Message(gettext_noop("A text has no vector.")))
    if len(vector) != dimension:
        raise VectorRefused(
            Message(
                gettext_noop("A vector has %(size)s numbers instead of %(dimension)s."),
                size=len(vector),
                dimension=dimension,
            )
        )
    checked = tuple(map(float, vector))
    length = math.hypot(*checked)
    square = length * length
    if not math.isfinite(square):
        raise VectorRefused(Message(gettext_noop("A vector holds a number that is not finite.")))
    if square == 0.0:
        raise VectorRefused(Message(gettext_noop("A vector is zero.")))
    return checked
