"""A loopback HTTP server for doubles: it logs what it is asked, answers, and fails on demand."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Self
from urllib.parse import parse_qsl, urlsplit


@dataclass(frozen=True)
class Asked:
    """One request as it came in; header names are in lower case."""

    method: str
    path: str
    params: dict[str, str]
    headers: dict[str, str]
    body: Any


@dataclass(frozen=True)
class Scripted:
    """What is sent instead of an answer; `drops` cuts the connection, `drips` sends it slowly."""

    status: int = 200
    body: bytes = b""
    wait_s: float = 0.0
    drops: bool = False
    drips: bool = False
    headers: dict[str, str] = field(default_factory=dict)


class ScriptedServer:
    """A server on a free port; `script` may answer in its place, `asked` is the log."""

    def __init__(self) -> None:
        self.asked: list[Asked] = []
        self.script: Callable[[Asked], Scripted | None] = lambda _: None
        self.port = 0
        self._http: ThreadingHTTPServer | None = None

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def answer(self, asked: Asked) -> tuple[int, Any]:
        """Give status and JSON of what the double answers by itself."""
        raise NotImplementedError

    def start(self) -> None:
        """Listen; after `stop`, on the same port again."""
        handler = type("Handler", (_Handler,), {"double": self})
        self._http = ThreadingHTTPServer(("127.0.0.1", self.port), handler)
        self._http.daemon_threads = True
        self._http.block_on_close = False
        self.port = self._http.server_address[1]
        threading.Thread(target=self._http.serve_forever, args=(0.02,), daemon=True).start()

    def stop(self) -> None:
        """Stop listening and forget nothing, as a server that is restarted does."""
        assert self._http is not None
        self._http.shutdown()
        self._http.server_close()

    @contextmanager
    def listening(self) -> Iterator[Self]:
        self.start()
        try:
            yield self
        finally:
            self.stop()


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    wbufsize = -1  # head and body in one piece: two would wait for each other's acknowledgement
    disable_nagle_algorithm = True
    double: ScriptedServer

    def do_GET(self) -> None:
        address = urlsplit(self.path)
        raw = self.rfile.read(int(self.headers.get("content-length") or 0))
        asked = Asked(
            method=self.command,
            path=address.path,
            params=dict(parse_qsl(address.query)),
            headers={name.lower(): value for name, value in self.headers.items()},
            body=json.loads(raw) if raw else None,
        )
        self.double.asked.append(asked)
        scripted = self.double.script(asked)
        if scripted is None:
            status, body = self.double.answer(asked)
            scripted = Scripted(status=status, body=json.dumps(body).encode())
        self._play(scripted)

    do_PUT = do_POST = do_DELETE = do_GET  # noqa: N815

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002
        pass

    def _play(self, scripted: Scripted) -> None:
        time.sleep(scripted.wait_s)
        if scripted.drops:
            self.close_connection = True
            self.connection.close()
            return
        try:
            self._send(scripted)
        except OSError:  # the client did not wait
            self.close_connection = True

    def _send(self, scripted: Scripted) -> None:
        self.send_response(scripted.status)
        for name, value in scripted.headers.items():
            self.send_header(name, value)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(scripted.body)))
        self.end_headers()
        body = scripted.body
        pieces = [body[at : at + 1] for at in range(len(body))] if scripted.drips else [body]
        for piece in pieces:
            self.wfile.write(piece)
            self.wfile.flush()
            time.sleep(0.1 if scripted.drips else 0)
