"""Ask about several sources side by side, and give the answers in their order."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, as_completed

from evidence.faults import Fault
from evidence.ports import RestructureCandidate, RestructureRequest

Answer = tuple[RestructureCandidate, ...]
Ask = Callable[[RestructureRequest], Answer]
Progress = Callable[[int, int, str], None]


def no_progress(_done: int, _total: int, _path: str) -> None:
    """Tell nobody."""


def ask_all(
    ask: Ask,
    requests: Sequence[RestructureRequest],
    *,
    concurrency: int,
    progress: Progress,
) -> tuple[Answer, ...]:
    """Give one answer per request, in the order of the requests.

    `progress(done, total, source path)` is called in this thread. After a failure nothing new is
    started; the failure of the first source in order is raised, and names that source.
    """
    with ThreadPoolExecutor(max_workers=max(1, concurrency)) as pool:
        futures = {pool.submit(ask, each): each for each in requests}
        for done, future in enumerate(as_completed(futures), start=1):
            if future.exception() is not None:
                pool.shutdown(cancel_futures=True)
                break
            progress(done, len(requests), futures[future].source_file)
    return tuple(_answer(future, futures[future]) for future in _failures_first(futures))


def _failures_first(futures: Iterable[Future[Answer]]) -> list[Future[Answer]]:
    """Give the futures in their order; when one failed, only those that did."""
    ended = [future for future in futures if not future.cancelled()]
    failed = [future for future in ended if future.exception() is not None]
    return failed or ended


def _answer(future: Future[Answer], request: RestructureRequest) -> Answer:
    try:
        return future.result()
    except Fault as fault:
        fault.path = fault.path or request.source_file
        raise
