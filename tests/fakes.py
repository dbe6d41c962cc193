"""Fakes for what is slow or far away, each with a contract test: a model, an embedder."""

from __future__ import annotations

import hashlib
import math
import re
import threading
from collections.abc import Callable, Mapping, Sequence

from evidence.messages import Message
from evidence.ports import RestructureCandidate, RestructureRequest
from publishing.ports import EmbedderUnavailable

Answer = tuple[RestructureCandidate, ...]
_WORD = re.compile(r"\w+")


class ScriptedRestructurer:
    """Answers by source path with candidates, or by asking a function; keeps the requests."""

    name = "scripted"
    local = True
    model = ""
    skill_digest = ""

    def __init__(
        self, answers: Mapping[str, Answer] | Callable[[RestructureRequest], Answer]
    ) -> None:
        self._answers = answers
        self._lock = threading.Lock()
        self.requests: list[RestructureRequest] = []

    def restructure(self, request: RestructureRequest) -> Answer:
        with self._lock:
            self.requests.append(request)
        if callable(self._answers):
            return self._answers(request)
        return self._answers.get(request.source_file, ())

    @property
    def asked(self) -> list[str]:
        """The source paths that were asked about, sorted."""
        return sorted(request.source_file for request in self.requests)


class BagOfWordsEmbedder:
    """Deterministic vectors in microseconds: texts that share words are similar, others are not."""

    id = "fake/bag-of-words/1"
    dimension = 64
    default_threshold = 0.3

    def __init__(self) -> None:
        self.embedded: list[str] = []
        """Every text that was embedded, in order, for tests that count."""
        self.is_down = False

    def embed_documents(self, texts: Sequence[str]) -> list[list[float]]:
        return [self._vector(text) for text in texts]

    def embed_query(self, text: str) -> list[float]:
        return self._vector(text)

    def _vector(self, text: str) -> list[float]:
        if self.is_down:
            raise EmbedderUnavailable(Message("The embedder is down."))
        self.embedded.append(text)
        vector = [0.0] * self.dimension
        vector[0] = 0.1  # a text without words has a direction too
        for word in _WORD.findall(text.casefold()):
            digest = hashlib.sha256(word.encode()).digest()
            vector[digest[0] % self.dimension] += 1.0 if digest[1] % 2 else -1.0
        length = math.hypot(*vector) or 1.0
        return [number / length for number in vector]
