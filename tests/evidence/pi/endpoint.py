"""A scripted OpenAI-compatible endpoint on loopback: it keeps what a real Pi sends to it."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

from evidence.adapters.pi import AGENT_SETTINGS

Answer = Callable[[dict[str, Any]], str | int]
"""What a model answers to the request about a source (as Pi was handed it): text, or a status."""


class Endpoint(ThreadingHTTPServer):
    """Answers chat completions and keeps their bodies and keys, in order of arrival."""

    def __init__(self, answer: Answer) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.answer = answer
        self.bodies: list[dict[str, Any]] = []
        self.keys: list[str | None] = []

    @property
    def asked_about(self) -> list[str]:
        """The source files that were asked about, sorted."""
        return sorted(request_in(body)["source_file"] for body in self.bodies)

    def agent_folder(self, folder: Path) -> Path:
        """Write the configuration of a Pi that knows this endpoint as provider `scripted`."""
        provider = {
            "baseUrl": f"http://127.0.0.1:{self.server_port}/v1",
            "api": "openai-completions",
            "apiKey": "$SCRIPTED_API_KEY",
            "models": [{"id": "scripted-35b"}],
        }
        folder.mkdir()
        (folder / "models.json").write_text(json.dumps({"providers": {"scripted": provider}}))
        (folder / "settings.json").write_text(json.dumps(AGENT_SETTINGS))
        return folder


def system_of(body: dict[str, Any]) -> str:
    """Give the system prompt that reached the endpoint."""
    (text,) = (_text(each) for each in body["messages"] if each["role"] in {"system", "developer"})
    return text


def request_in(body: dict[str, Any]) -> dict[str, Any]:
    """Give the one user message that reached the endpoint, as the JSON that it is."""
    (text,) = (_text(each) for each in body["messages"] if each["role"] == "user")
    data = json.loads(text)
    assert isinstance(data, dict)
    return data


@contextmanager
def an_endpoint(answer: Answer) -> Iterator[Endpoint]:
    """Serve on a free port until the end of the block."""
    with Endpoint(answer) as endpoint:
        thread = threading.Thread(target=endpoint.serve_forever, kwargs={"poll_interval": 0.02})
        thread.start()
        try:
            yield endpoint
        finally:
            endpoint.shutdown()
            thread.join()


def _text(message: dict[str, Any]) -> str:
    content = message["content"]
    return content if isinstance(content, str) else "".join(part["text"] for part in content)


class _Handler(BaseHTTPRequestHandler):
    """Streams one completion."""

    server: Endpoint

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["content-length"])))
        self.server.bodies.append(body)
        self.server.keys.append(self.headers["authorization"])
        answer = self.server.answer(request_in(body))
        if isinstance(answer, int):
            self.send_error(answer)
            return
        self.send_response(200)
        self.send_header("content-type", "text/event-stream")
        self.end_headers()
        self._say({"role": "assistant", "content": answer[: len(answer) // 2]})
        self._say({"content": answer[len(answer) // 2 :]})
        self._say({}, finish_reason="stop")
        self.wfile.write(b"data: [DONE]\n\n")

    def _say(self, delta: dict[str, str], finish_reason: str | None = None) -> None:
        choice = {"index": 0, "delta": delta, "finish_reason": finish_reason}
        chunk = {"id": "1", "object": "chat.completion.chunk", "created": 1, "choices": [choice]}
        self.wfile.write(b"data: " + json.dumps(chunk).encode() + b"\n\n")

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002
        """Stay silent."""
