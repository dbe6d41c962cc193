"""The double's HTTP side: routes, the judge at the door, and failures on demand."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl, unquote, urlsplit

from tests.qdrant_stand_in import schema
from tests.qdrant_stand_in.engine import Collection, NotThere, Refused


@dataclass(frozen=True)
class Asked:
    """One request as it came in."""

    method: str
    path: str
    params: dict[str, str]
    body: Any
    api_key: str | None


@dataclass(frozen=True)
class Scripted:
    """What is sent instead of an answer; `drops` cuts the connection, `drips` sends it slowly."""

    status: int = 200
    body: bytes = b""
    wait_s: float = 0.0
    drops: bool = False
    drips: bool = False


Script = Callable[[Asked], Scripted | None]


class QdrantStandIn:
    """A server on a free loopback port; `script` may answer in its place, `asked` is the log."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.collections: dict[str, Collection] = {}
        self.asked: list[Asked] = []
        self.violations: list[str] = []
        self.script: Script = lambda _: None
        self.version = schema.VERSION
        self.api_key: str | None = None
        self.lock = threading.Lock()
        self._http: ThreadingHTTPServer | None = None
        self.port = 0

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def start(self) -> None:
        """Listen; after `stop`, on the same port again."""
        handler = type("Handler", (_Handler,), {"stand_in": self})
        self._http = ThreadingHTTPServer(("127.0.0.1", self.port), handler)
        self._http.daemon_threads = True
        self._http.block_on_close = False
        self.port = self._http.server_address[1]
        threading.Thread(target=self._http.serve_forever, args=(0.02,), daemon=True).start()

    def stop(self) -> None:
        """Stop listening and keep what is stored, as a server that is restarted does."""
        assert self._http is not None
        self._http.shutdown()
        self._http.server_close()

    @classmethod
    @contextmanager
    def running(cls, folder: Path) -> Iterator[QdrantStandIn]:
        """Give a running double; at the end, no request may have broken the document."""
        double = cls(folder)
        double.start()
        try:
            yield double
        finally:
            double.stop()
            for collection in double.collections.values():
                collection.shard.close()
        assert double.violations == []

    def asks(self, path: str) -> list[Any]:
        """The bodies that were sent to paths with this ending, in order."""
        return [one.body for one in self.asked if one.path.endswith(path)]

    def answer(self, asked: Asked) -> Any:
        """The result of a request that the document allows."""
        method, path = asked.method, asked.path
        if (method, path) == ("GET", "/"):
            return None
        _, _, quoted, *rest = path.split("/")
        name, rest_path = unquote(quoted), "/".join(rest)
        if (method, rest_path) == ("PUT", ""):
            if name in self.collections:
                raise Refused(f"Wrong input: Collection `{name}` already exists!")
            folder = self.folder / f"collection-{len(self.asked)}"
            self.collections[name] = Collection(folder, asked.body)
            return True
        if name not in self.collections:
            raise NotThere(f"Not found: Collection `{name}` doesn't exist!")
        if (method, rest_path) == ("DELETE", ""):
            self.collections.pop(name).shard.close()
            return True
        return self._of_collection(self.collections[name], asked, rest_path)

    def _of_collection(self, collection: Collection, asked: Asked, rest: str) -> Any:
        reads: dict[tuple[str, str], Callable[[Any], Any]] = {
            ("GET", ""): lambda _: collection.info(),
            ("POST", "points/scroll"): collection.scroll,
            ("POST", "points/count"): collection.count,
            ("POST", "points/query/batch"): lambda body: collection.query(body["searches"]),
        }
        writes: dict[tuple[str, str], Callable[[Any], None]] = {
            ("PUT", "index"): collection.add_index,
            ("PUT", "points"): collection.upsert,
            ("POST", "points/delete"): collection.delete,
        }
        key = (asked.method, rest)
        if key in reads:
            return reads[key](asked.body)
        if key in writes:
            writes[key](asked.body)
        elif asked.method == "PUT" and rest.startswith("vectors/"):
            collection.add_vector(unquote(rest.removeprefix("vectors/")), asked.body)
        else:
            raise Refused(f"the stand-in does not speak {key}")
        done = asked.params.get("wait") == "true"
        return {"operation_id": 1, "status": "completed" if done else "acknowledged"}


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    wbufsize = -1  # head and body in one piece: two would wait for each other's acknowledgement
    disable_nagle_algorithm = True
    stand_in: QdrantStandIn

    def do_GET(self) -> None:
        self._handle()

    do_PUT = do_POST = do_DELETE = do_GET  # noqa: N815

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002
        pass

    def _handle(self) -> None:
        address = urlsplit(self.path)
        raw = self.rfile.read(int(self.headers.get("content-length") or 0))
        asked = Asked(
            method=self.command,
            path=address.path,
            params=dict(parse_qsl(address.query)),
            body=json.loads(raw) if raw else None,
            api_key=self.headers.get("api-key"),
        )
        self.stand_in.asked.append(asked)
        scripted = self.stand_in.script(asked)
        if scripted is not None:
            self._play(scripted)
            return
        status, body = self._judged(asked)
        self._send(status, json.dumps(body).encode())

    def _judged(self, asked: Asked) -> tuple[int, Any]:
        double = self.stand_in
        if double.api_key is not None and asked.api_key != double.api_key:
            return 401, _error("Must provide an API key")
        found = schema.operation_of(asked.method, asked.path)
        if found is None:
            double.violations.append(f"no operation {asked.method} {asked.path}")
            return 404, _error("Not found")
        template, operation = found
        problems = schema.problems_of_request(operation, asked.params, asked.body)
        if problems:
            double.violations += [f"{asked.method} {template}: {one}" for one in problems]
            return 400, _error(f"Format error in JSON body: {problems[0]}")
        status, body = self._answered(asked)
        if status == 200:
            wrong = schema.problems_of_answer(operation, body)
            double.violations += [f"answer to {template}: {one}" for one in wrong]
        return status, body

    def _answered(self, asked: Asked) -> tuple[int, Any]:
        double = self.stand_in
        try:
            with double.lock:
                result = double.answer(asked)
        except NotThere as error:
            return 404, _error(str(error))
        except Exception as error:  # noqa: BLE001  (the engine raises bare exceptions)
            return 400, _error(str(error))
        if asked.path == "/":
            return 200, {"title": "qdrant - vector search engine", "version": double.version}
        return 200, {"result": result, "status": "ok", "time": 0.001}

    def _play(self, scripted: Scripted) -> None:
        time.sleep(scripted.wait_s)
        if scripted.drops:
            self.close_connection = True
            self.connection.close()
            return
        try:
            self._send(scripted.status, scripted.body, drips=scripted.drips)
        except OSError:  # the client did not wait
            self.close_connection = True

    def _send(self, status: int, body: bytes, *, drips: bool = False) -> None:
        self.send_response(status)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        pieces = [body[at : at + 1] for at in range(len(body))] if drips else [body]
        for piece in pieces:
            self.wfile.write(piece)
            self.wfile.flush()
            time.sleep(0.1 if drips else 0)


def _error(text: str) -> dict[str, Any]:
    return {"status": {"error": text}, "time": 0.0}
