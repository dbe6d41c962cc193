"""HTTP calls that end in time and in bounded memory, whatever the other side does."""

from __future__ import annotations

import ipaddress
import json
import os
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final, NoReturn

import httpx

MAX_ANSWER: Final = 64 * 2**20
"""Bytes of one answer; a page of 256 fragments of 4,000 characters is a few megabytes."""
_DROPPED: Final = (httpx.RemoteProtocolError, httpx.ReadError, httpx.WriteError)
"""What a kept connection gives when the server has closed it meanwhile, a restart for example."""


class CallFailed(Exception):
    """No usable answer came; adapters turn it into the fault of their port."""


@dataclass(frozen=True, slots=True)
class Call:
    """One request; the body is JSON. Every call is safe to repeat."""

    method: str
    path: str
    body: Mapping[str, object] | None = None
    params: Mapping[str, str | int] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Reply:
    """What came back: the status, the body, and `Retry-After` as it stood there."""

    status: int
    body: bytes
    retry_after: str

    def as_json(self) -> object:
        """Read the body strictly: NaN and Infinity are no JSON. Raises `CallFailed`."""
        try:
            return json.loads(self.body, parse_constant=_no_number)
        except (ValueError, RecursionError) as error:
            raise CallFailed("the answer is not JSON") from error


class BoundedClient:
    """Calls one server; connections are kept, and never shared with a forked child."""

    def __init__(self, url: str, *, headers: Mapping[str, str]) -> None:
        """Take the server's address; nothing is opened before the first call."""
        self._url = url.rstrip("/")
        self._headers = dict(headers)
        self._client: httpx.Client | None = None
        self._process = 0

    def send(self, call: Call, *, until: float) -> Reply:
        """Give the reply, whatever its status. `until` is an instant of `time.monotonic`.

        A connection that was dropped is opened once more. Raises `CallFailed`.
        """
        content = None if call.body is None else json.dumps(call.body, allow_nan=False).encode()
        try:
            return self._once(call, content, until=until)
        except _DROPPED:
            return self._again(call, content, until=until)
        except _FOREIGN as error:
            raise CallFailed(type(error).__name__) from error

    def close(self) -> None:
        """Close the connections of this process; the next call opens new ones."""
        if self._client is not None and self._process == os.getpid():
            self._client.close()
        self._client = None

    def _again(self, call: Call, content: bytes | None, *, until: float) -> Reply:
        try:
            return self._once(call, content, until=until)
        except _FOREIGN as error:
            raise CallFailed(type(error).__name__) from error

    def _once(self, call: Call, content: bytes | None, *, until: float) -> Reply:
        left = _left(until)
        with self._opened().stream(
            call.method,
            self._url + call.path,
            content=content,
            params=dict(call.params) or None,
            # Connecting may not use up the time that the answer needs.
            timeout=httpx.Timeout(left, connect=left / 2),
        ) as response:
            body = _read(response, until=until)
        return Reply(response.status_code, body, response.headers.get("retry-after", ""))

    def _opened(self) -> httpx.Client:
        if self._client is None or self._process != os.getpid():
            self._process = os.getpid()
            self._client = httpx.Client(
                headers={"content-type": "application/json", **self._headers},
                trust_env=not _is_loopback(self._url),  # no proxy stands before this machine
            )
        return self._client


_FOREIGN: Final = (httpx.HTTPError, httpx.StreamError, httpx.InvalidURL, OSError)


def _left(until: float) -> float:
    left = until - time.monotonic()
    if left <= 0:
        raise CallFailed("no time is left")
    return left


def _read(response: httpx.Response, *, until: float) -> bytes:
    """Read a body piece by piece, since a timeout of the library starts anew with each piece."""
    body = bytearray()
    for piece in response.iter_bytes():
        body += piece
        if len(body) > MAX_ANSWER:
            raise CallFailed("the answer is too long")
        _left(until)
    return bytes(body)


def _is_loopback(url: str) -> bool:
    host = httpx.URL(url).host
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


def _no_number(name: str) -> NoReturn:
    raise ValueError(name)
