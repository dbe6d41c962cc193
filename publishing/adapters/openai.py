"""Embeddings from any server that speaks `POST /v1/embeddings`: Ollama, vLLM, TEI, OpenAI."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from http import HTTPStatus
from typing import Final
from urllib.parse import quote, urlsplit

import structlog
from pydantic import BaseModel, ConfigDict, FiniteFloat, ValidationError

from evidence.messages import Message, gettext_noop
from publishing.adapters.bounded_http import BoundedClient, Call, CallFailed, Reply
from publishing.domain.vectors import checked_vector
from publishing.ports import QUESTION_S, EmbedderRefused, EmbedderUnavailable

log = structlog.get_logger(__name__)

BATCH: Final = 16
"""Texts a request: between two of them the caller renews its lease."""
DOCUMENTS_S: Final = 60.0
"""How long one batch may take, its repetitions included; below the lease of a publication."""
FIRST_PAUSE_S: Final = 0.5
_MAY_PASS: Final = frozenset({HTTPStatus.REQUEST_TIMEOUT, HTTPStatus.TOO_MANY_REQUESTS})
_SILENT: Final = gettext_noop("The embedder does not answer now.")
_RUBBISH: Final = gettext_noop("The embedder's answer is not one vector for each text.")
_REFUSED: Final = gettext_noop("The embedder refuses a request (HTTP %(status)s).")


class _Embedding(BaseModel):
    model_config = ConfigDict(extra="ignore")

    embedding: list[FiniteFloat]
    index: int | None = None


class _Answer(BaseModel):
    model_config = ConfigDict(extra="ignore")

    data: list[_Embedding]


class OpenAIEmbedder:
    """Embeds on a server; the size of its vectors is asked for once, with the first use."""

    default_threshold = 0.5
    """A guess for a model that nobody measured; off-topic questions in the exam replace it."""

    def __init__(
        self,
        url: str,
        model: str,
        *,
        api_key: str = "",
        question_s: float = QUESTION_S,
        pause: Callable[[float], None] = time.sleep,
    ) -> None:
        """Take the server's address, with or without `/v1/embeddings`; nothing is asked yet."""
        headers = {"authorization": f"Bearer {api_key}"} if api_key else {}
        self._client = BoundedClient(_endpoint(url), headers=headers)
        self._model = model
        self._question_s = question_s
        self._pause = pause
        self._dimension = 0

    @property
    def id(self) -> str:
        """Give `openai/<model>/<size>`; a model that changes its size is another embedder."""
        return f"openai/{quote(self._model, safe=':@')}/{self.dimension}"

    @property
    def dimension(self) -> int:
        """Give the size of the vectors. Raises what `embed_query` raises."""
        if not self._dimension:
            self._dimension = len(self._embedded(["dimension"], budget_s=self._question_s)[0])
        return self._dimension

    def embed_documents(self, texts: Sequence[str]) -> list[list[float]]:
        """Give one vector of length 1 a text."""
        vectors: list[list[float]] = []
        for start in range(0, len(texts), BATCH):
            batch = list(texts[start : start + BATCH])
            vectors += self._checked(self._embedded(batch, budget_s=DOCUMENTS_S))
        return vectors

    def embed_query(self, text: str) -> list[float]:
        """Give the vector of a question, of length 1."""
        return self._checked(self._embedded([text], budget_s=self._question_s))[0]

    def close(self) -> None:
        """Close the connections of this process."""
        self._client.close()

    def _checked(self, vectors: list[list[float]]) -> list[list[float]]:
        dimension = self.dimension
        return [_normalized(checked_vector(one, dimension=dimension)) for one in vectors]

    def _embedded(self, texts: list[str], *, budget_s: float) -> list[list[float]]:
        body = {"model": self._model, "input": texts, "encoding_format": "float"}
        reply = self._patiently(Call("POST", "", body), until=time.monotonic() + budget_s)
        return _vectors(reply, count=len(texts))

    def _patiently(self, call: Call, *, until: float) -> Reply:
        """Repeat what may pass, each time after a longer pause or the one the server asks for."""
        pause = FIRST_PAUSE_S
        while True:
            reply = self._sent(call, until=until)
            if reply is not None and reply.status == HTTPStatus.OK:
                return reply
            wait = max(pause, _asked_pause(reply))
            if time.monotonic() + wait >= until:
                raise EmbedderUnavailable(Message(_SILENT))
            self._pause(wait)
            pause *= 2

    def _sent(self, call: Call, *, until: float) -> Reply | None:
        """Give the reply when it is good or may pass, None when none came."""
        try:
            reply = self._client.send(call, until=until)
        except CallFailed as error:
            log.warning("embedder_failed", why=str(error))
            return None
        if reply.status == HTTPStatus.OK:
            return reply
        log.warning("embedder_failed", why=f"HTTP {reply.status}")
        if reply.status < HTTPStatus.INTERNAL_SERVER_ERROR and reply.status not in _MAY_PASS:
            raise EmbedderRefused(Message(_REFUSED, status=reply.status))
        return reply


def _endpoint(url: str) -> str:
    """Give the whole address: bases are written with and without `/v1` and `/embeddings`."""
    path = urlsplit(url).path.rstrip("/")
    if path.endswith("/embeddings"):
        return url
    return url.rstrip("/") + ("/embeddings" if path else "/v1/embeddings")


def _vectors(reply: Reply, *, count: int) -> list[list[float]]:
    """Read one vector a text, in the order of the texts; `index` decides where it is given."""
    try:
        data = _Answer.model_validate(reply.as_json()).data
    except (ValidationError, CallFailed):
        # Neither is chained: they would carry a piece of the answer into the log.
        raise EmbedderUnavailable(Message(_RUBBISH)) from None
    placed = {place if one.index is None else one.index: one for place, one in enumerate(data)}
    if len(data) != count or sorted(placed) != list(range(count)):
        raise EmbedderUnavailable(Message(_RUBBISH))
    if not all(one.embedding for one in data):
        raise EmbedderUnavailable(Message(_RUBBISH))
    return [placed[place].embedding for place in range(count)]


def _normalized(vector: Sequence[float]) -> list[float]:
    """Give the direction alone: the store compares by cosine, and 32 bits always hold it."""
    length = math.hypot(*vector)
    return [number / length for number in vector]


def _asked_pause(reply: Reply | None) -> float:
    """Give the seconds of `Retry-After`, which is a number or a date (RFC 9110, 10.2.3)."""
    text = reply.retry_after.strip() if reply else ""
    if text.isdecimal():
        return float(text)
    try:
        at = parsedate_to_datetime(text)
    except ValueError:
        return 0.0
    if at.tzinfo is None:
        return 0.0
    return max(0.0, (at - datetime.now(UTC)).total_seconds())
