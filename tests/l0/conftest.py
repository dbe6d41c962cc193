"""A real server for the tests of this folder: the one of `QDRANT_URL`, or one from Docker."""

from __future__ import annotations

import os
import shutil
import subprocess
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import httpx
import pytest

from publishing.adapters.qdrant_server import QdrantServerStore
from tests.l0 import version
from tests.publishing import shared_collection as shared
from tests.publishing.points import COLLECTION
from tests.qdrant_stand_in import QdrantStandIn

API_KEY = os.environ.get("QDRANT_API_KEY", "")
NO_SERVER = "no real Qdrant server: set QDRANT_URL, or install Docker"


@pytest.fixture(scope="session")
def real_url() -> Iterator[str]:
    """Give the address of a real server; without one the test is skipped, and says so."""
    if url := os.environ.get("QDRANT_URL"):
        yield url.rstrip("/")
        return
    container = _started()
    if container is None:
        pytest.skip(NO_SERVER)
    try:
        yield _address(container)
    finally:
        subprocess.run(["docker", "stop", container], check=False, capture_output=True)


@pytest.fixture(params=["qdrant_stand_in", "qdrant_real"])
def url(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[str]:
    """Give the double, which keeps these tests themselves in order, and a real server."""
    if request.param == "qdrant_stand_in":
        with QdrantStandIn.running(tmp_path) as double:
            yield double.url
        return
    real: str = request.getfixturevalue("real_url")
    yield real
    shared.delete(real, COLLECTION)


@pytest.fixture
def store(real_url: str) -> Iterator[QdrantServerStore]:
    """Give a store on the real server, and take away whatever it made."""
    opened = QdrantServerStore(real_url, api_key=API_KEY)
    yield opened
    opened.close()
    shared.delete(real_url, COLLECTION)


def _started() -> str | None:
    if shutil.which("docker") is None:
        return None
    image = f"qdrant/qdrant:v{version.wanted()}"
    command = ["docker", "run", "--detach", "--rm", "--publish", "127.0.0.1::6333", image]
    made = subprocess.run(command, check=False, capture_output=True, text=True)
    return made.stdout.strip() if made.returncode == 0 else None


def _address(container: str) -> str:
    command = ["docker", "port", container, "6333/tcp"]
    found = subprocess.run(command, check=True, capture_output=True, text=True)
    url = f"http://{found.stdout.splitlines()[0].strip()}"
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline:
        with suppress(httpx.TransportError):
            if httpx.get(f"{url}/readyz", trust_env=False).status_code == 200:
                break
        time.sleep(0.2)
    return url
