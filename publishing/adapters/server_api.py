"""One Qdrant server: requests sent, refusals told from failures, answers read as typed values."""

from __future__ import annotations

import time
from dataclasses import dataclass
from http import HTTPStatus
from typing import Final, TypeVar

import structlog
from pydantic import TypeAdapter, ValidationError

from evidence.messages import Message, gettext_noop
from publishing.adapters import server_requests as ask
from publishing.adapters.bounded_http import BoundedClient, Call, CallFailed, Reply
from publishing.adapters.server_answers import Version, Written
from publishing.ports import Bm25Unsupported, VectorStoreRefused, VectorStoreUnavailable

log = structlog.get_logger(__name__)
T = TypeVar("T")

OLDEST: Final = (1, 18)
"""The first release that adds a vector to a collection that exists."""
WRITE_S: Final = 45.0
"""How long one write or read of a build may take; the server itself gives up after 30 s."""
_MAY_PASS: Final = frozenset({HTTPStatus.REQUEST_TIMEOUT, HTTPStatus.TOO_MANY_REQUESTS})
_SILENT: Final = gettext_noop("The vector store does not answer as it should.")
_REFUSED: Final = gettext_noop("The vector store refuses a request (HTTP %(status)s).")
_GONE: Final = gettext_noop("The collection is not on the vector store.")
_UNFINISHED: Final = gettext_noop("The vector store did not finish a write in time.")
_TOO_OLD: Final = gettext_noop("Qdrant %(version)s is too old: 1.18 or newer is needed.")


@dataclass(frozen=True, slots=True)
class Answer:
    """What the server said: a result, or the status with which it refused."""

    status: int
    result: object

    @property
    def is_refused(self) -> bool:
        """Tell whether the server understood and said no."""
        return self.status >= HTTPStatus.BAD_REQUEST

    def as_(self, kind: type[T]) -> T:
        """Read the result. Raises `VectorStoreUnavailable`, also when what was asked is gone.

        Raises `VectorStoreRefused` when the server says no for another reason.
        """
        if self.status == HTTPStatus.NOT_FOUND:
            raise VectorStoreUnavailable(Message(_GONE))
        if self.is_refused:
            raise VectorStoreRefused(Message(_REFUSED, status=self.status))
        try:
            return TypeAdapter(kind).validate_python(self.result)
        except ValidationError as error:
            log.warning("vector_store_malformed", problems=error.error_count())
            raise VectorStoreUnavailable(Message(_SILENT)) from None


class QdrantApi:
    """Sends requests to one server and raises nothing but the port's faults."""

    def __init__(self, url: str, api_key: str) -> None:
        """Take address and key; nothing is sent yet."""
        self._client = BoundedClient(url, headers={"api-key": api_key} if api_key else {})

    def send(self, call: Call, *, until: float | None = None) -> Answer:
        """Give the server's answer or refusal. Raises `VectorStoreUnavailable`."""
        try:
            reply = self._client.send(call, until=until or time.monotonic() + WRITE_S)
            return _answer(call, reply)
        except CallFailed as error:
            log.warning("vector_store_failed", path=call.path, why=str(error))
            raise VectorStoreUnavailable(Message(_SILENT)) from error

    def write(self, call: Call) -> None:
        """Send a write and make sure that it is done, not only noted down."""
        if self.send(call).as_(Written).status != "completed":
            raise VectorStoreUnavailable(Message(_UNFINISHED))

    def check_version(self) -> None:
        """Raise `Bm25Unsupported` when the server cannot add a vector or do BM25 by itself."""
        found = self.send(ask.version()).as_(Version)
        if found.release < OLDEST:
            raise Bm25Unsupported(Message(_TOO_OLD, version=found.version))

    def close(self) -> None:
        """Close the connections of this process."""
        self._client.close()


def _answer(call: Call, reply: Reply) -> Answer:
    status = reply.status
    if HTTPStatus.BAD_REQUEST <= status < HTTPStatus.INTERNAL_SERVER_ERROR:
        if status in _MAY_PASS:
            raise CallFailed(f"HTTP {status}")
        if status != HTTPStatus.NOT_FOUND:
            # The server's words name what is wrong, and no secret: ours is in a header.
            log.warning("vector_store_refused", path=call.path, status=status, why=_words(reply))
        return Answer(status, None)
    if status != HTTPStatus.OK:
        raise CallFailed(f"HTTP {status}")
    body = reply.as_json()
    if not isinstance(body, dict):
        raise CallFailed("the answer is no object")
    # The root says its version without an envelope.
    return Answer(status, body if call.path == "/" else body.get("result"))


def _words(reply: Reply) -> str:
    return reply.body[:300].decode(errors="replace")
