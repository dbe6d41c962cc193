"""What changed between two texts, word by word."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from typing import Literal

_WORDS = re.compile(r"\s+|\w+|[^\w\s]")
_LARGEST = 4_000
"""Above this many words a text is compared line by line: the matcher is quadratic."""

_CONTEXT = 3
"""Lines that are shown before and after a change."""


@dataclass(frozen=True, slots=True)
class Word:
    """A run of text that stayed, was put in, or was taken out."""

    change: Literal["same", "in", "out"]
    text: str


def words_changed(before: str, after: str) -> tuple[Word, ...]:
    """Give both texts as one sequence of runs, in reading order; long same runs are cut short."""
    old, new = _cut(before), _cut(after)
    if max(len(old), len(new)) > _LARGEST:
        old, new = before.splitlines(keepends=True), after.splitlines(keepends=True)
    return tuple(_runs(old, new))


def _shortened(text: str) -> str:
    lines = text.splitlines(keepends=True)
    if len(lines) <= 2 * _CONTEXT + 1:
        return text
    return "".join([*lines[:_CONTEXT], "⋯\n", *lines[-_CONTEXT:]])


def _cut(text: str) -> Sequence[str]:
    return _WORDS.findall(text)


def _runs(old: Sequence[str], new: Sequence[str]) -> Iterator[Word]:
    matcher = SequenceMatcher(a=old, b=new, autojunk=False)
    for tag, old_from, old_to, new_from, new_to in matcher.get_opcodes():
        if tag == "equal":
            yield Word("same", _shortened("".join(old[old_from:old_to])))
            continue
        if old_to > old_from:
            yield Word("out", "".join(old[old_from:old_to]))
        if new_to > new_from:
            yield Word("in", "".join(new[new_from:new_to]))
