"""What it costs to read a unit's file as it grows: twice the text, about twice the time.

A naive front-matter reader is quadratic (spec 90, Facts, YAML): four times the time.
"""

from __future__ import annotations

from functools import partial
from typing import Final

from bench.measured import Measured, seconds, side_by_side
from evidence.domain.codec import dump_curated_markdown, parse_curated_markdown
from tests.makers import a_unit

LINES: Final = (200, 400)
ROUNDS: Final = 30


def measure() -> Measured:
    """Read a unit whose definition and body have 200 and 400 lines, in turns."""
    works = {f"{lines} lines": partial(_read, _text(lines)) for lines in LINES}
    return side_by_side("read one unit's file", works, rounds=ROUNDS, target=3)


def _text(lines: int) -> str:
    prose = "".join(f"Riga {number}: --- non finisce qui.\n" for number in range(lines))
    payload = {"term": "regola", "definition": prose}
    return dump_curated_markdown(a_unit(payload=payload, body=prose))


def _read(text: str, _turn: int) -> float:
    return seconds(lambda: parse_curated_markdown(text))
