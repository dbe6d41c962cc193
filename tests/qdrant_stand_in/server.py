"""The double's HTTP side: routes, and the judge at the door."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import unquote

from tests.qdrant_stand_in import schema
from tests.qdrant_stand_in.engine import Collection, NotThere, Refused
from tests.scripted_http import Asked, ScriptedServer


class QdrantStandIn(ScriptedServer):
    """A double on a free loopback port; `violations` is what broke Qdrant's document."""

    def __init__(self, folder: Path) -> None:
        super().__init__()
        self.folder = folder
        self.collections: dict[str, Collection] = {}
        self.violations: list[str] = []
        self.version = schema.VERSION
        self.api_key: str | None = None
        self.lock = threading.Lock()

    @classmethod
    @contextmanager
    def running(cls, folder: Path) -> Iterator[QdrantStandIn]:
        """Give a running double; at the end, no request may have broken the document."""
        double = cls(folder)
        with double.listening():
            yield double
        for collection in double.collections.values():
            collection.shard.close()
        assert double.violations == []

    def asks(self, path: str) -> list[Any]:
        """The bodies that were sent to paths with this ending, in order."""
        return [one.body for one in self.asked if one.path.endswith(path)]

    def answer(self, asked: Asked) -> tuple[int, Any]:
        if self.api_key is not None and asked.headers.get("api-key") != self.api_key:
            return 401, _error("Must provide an API key")
        found = schema.operation_of(asked.method, asked.path)
        if found is None:
            self.violations.append(f"no operation {asked.method} {asked.path}")
            return 404, _error("Not found")
        template, operation = found
        problems = schema.problems_of_request(operation, asked.params, asked.body)
        if problems:
            self.violations += [f"{asked.method} {template}: {one}" for one in problems]
            return 400, _error(f"Format error in JSON body: {problems[0]}")
        status, body = self._answered(asked)
        if status == 200:
            wrong = schema.problems_of_answer(operation, body)
            self.violations += [f"answer to {template}: {one}" for one in wrong]
        return status, body

    def _answered(self, asked: Asked) -> tuple[int, Any]:
        if asked.path == "/":
            return 200, {"title": "qdrant - vector search engine", "version": self.version}
        try:
            with self.lock:
                result = self._result(asked)
        except NotThere as error:
            return 404, _error(str(error))
        except Exception as error:  # noqa: BLE001  (the engine raises bare exceptions)
            return 400, _error(str(error))
        return 200, {"result": result, "status": "ok", "time": 0.001}

    def _result(self, asked: Asked) -> Any:
        _, _, quoted, *rest = asked.path.split("/")
        name, path = unquote(quoted), "/".join(rest)
        if (asked.method, path) == ("PUT", ""):
            if name in self.collections:
                raise Refused(f"Wrong input: Collection `{name}` already exists!")
            folder = self.folder / f"collection-{len(self.asked)}"
            self.collections[name] = Collection(folder, asked.body)
            return True
        if name not in self.collections:
            raise NotThere(f"Not found: Collection `{name}` doesn't exist!")
        if (asked.method, path) == ("DELETE", ""):
            self.collections.pop(name).shard.close()
            return True
        return _of_collection(self.collections[name], asked, path)


def _of_collection(collection: Collection, asked: Asked, path: str) -> Any:
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
    key = (asked.method, path)
    if key in reads:
        return reads[key](asked.body)
    if key in writes:
        writes[key](asked.body)
    elif asked.method == "PUT" and path.startswith("vectors/"):
        collection.add_vector(unquote(path.removeprefix("vectors/")), asked.body)
    else:
        raise Refused(f"the stand-in does not speak {key}")
    done = asked.params.get("wait") == "true"
    return {"operation_id": 1, "status": "completed" if done else "acknowledged"}


def _error(text: str) -> dict[str, Any]:
    return {"status": {"error": text}, "time": 0.0}
