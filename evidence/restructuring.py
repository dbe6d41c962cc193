"""Ask about several sources side by side, and give the answers in their order."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, as_completed
from dataclasses import dataclass

from evidence.domain.readings import Reading, ReadingOutcome, Witness, nobody
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
    witness: Witness = nobody,
) -> tuple[Answer, ...]:
    """Give one answer per request, in the order of the requests.

    `progress(done, total, source path)` and `witness(reading)` are called in this thread. After a
    failure nothing new is started, what runs is waited for and told the witness; the failure of the
    first source in order is raised, and names that source.
    """
    with ThreadPoolExecutor(max_workers=max(1, concurrency)) as pool:
        calls = [_Call(ask, each) for each in requests]
        futures = {pool.submit(call): call for call in calls}
        untold = dict(futures)
        for done, future in enumerate(as_completed(futures), start=1):
            witness(untold.pop(future).reading(future))
            if future.exception() is not None:
                pool.shutdown(cancel_futures=True)
                break
            progress(done, len(requests), futures[future].request.source_file)
    for future in (each for each in untold if not each.cancelled()):
        witness(untold[future].reading(future))
    return tuple(_answer(future, futures[future].request) for future in _failures_first(futures))


@dataclass(slots=True)
class _Call:
    """One question about one source, and how long the answer took, in seconds."""

    ask: Ask
    request: RestructureRequest
    seconds: float = 0.0

    def __call__(self) -> Answer:
        """Ask, in a thread of the pool."""
        begun = time.monotonic()
        try:
            return self.ask(self.request)
        finally:
            self.seconds = time.monotonic() - begun

    def reading(self, ended: Future[Answer]) -> Reading:
        """Say how it went."""
        source, error = self.request.source_file, ended.exception()
        if error is None:
            units = len(ended.result())
            return Reading(source, ReadingOutcome.ASKED, self.seconds, units)
        code = error.code if isinstance(error, Fault) else "unexpected"
        return Reading(source, ReadingOutcome.FAILED, self.seconds, code=code)


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
