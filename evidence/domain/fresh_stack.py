"""Work whose depth Python limits, given a stack of its own."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

Result = TypeVar("Result")


def on_fresh_stack(work: Callable[[], Result]) -> Result:
    """Do some work in a thread, so that its answer does not depend on how deep the caller is.

    No pool is kept: it would not survive a fork.
    """
    with ThreadPoolExecutor(max_workers=1) as pool:
        return pool.submit(work).result()
