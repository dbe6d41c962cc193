"""What a process looked up less than a second ago, so that a hot path asks no database."""

from __future__ import annotations

import time
from collections.abc import Callable, Hashable
from typing import Final, Generic, TypeVar

REMEMBER_S: Final = 0.9
"""Spec 60 allows an answer from what was true at most one second before; the rest is the work."""
MOST: Final = 1_000

Key = TypeVar("Key", bound=Hashable)
Value = TypeVar("Value")


class Recent(Generic[Key, Value]):
    """Values by key, each forgotten a moment after it was asked for; bounded, safe in threads.

    Every process has its own and nobody sends messages: a change is seen everywhere as soon as
    what was looked up before it is too old.
    """

    def __init__(self, *, most: int = MOST) -> None:
        """Keep at most so many values; when they are more, start again."""
        self._kept: dict[Key, tuple[float, Value]] = {}
        self._most = most

    def get(self, key: Key, read: Callable[[], Value], *, for_s: float) -> Value:
        """Give the value read less than `for_s` seconds ago, or read it; 0 always reads.

        The age counts from before the read, so that a slow database does not lengthen it.
        """
        if for_s <= 0:
            return read()
        now = time.monotonic()
        kept = self._kept.get(key)
        if kept is not None and now - kept[0] < for_s:
            return kept[1]
        value = read()
        if len(self._kept) >= self._most:
            self._kept.clear()
        self._kept[key] = (now, value)
        return value

    def forget(self, key: Key) -> None:
        """Read this key again the next time."""
        self._kept.pop(key, None)
