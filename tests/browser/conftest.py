"""A whole portal in processes of its own, as `make run` starts it, and a browser to look at it."""

from __future__ import annotations

import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

import httpx
import pytest
from playwright.sync_api import Browser, Page, expect, sync_playwright

CHROMIUM = shutil.which("chromium")
QUIET = (
    "--no-sandbox",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-default-apps",
    "--disable-domain-reliability",
    "--disable-sync",
    "--no-first-run",
)
SLOW_MS = 60_000
"""A loaded machine is slow, not wrong."""


@dataclass(frozen=True, slots=True)
class Portal:
    """A running portal with the demo in it."""

    address: str
    passwords: Mapping[str, str]
    key: str


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Skip these tests, by name, where there is no Chromium."""
    if CHROMIUM is None:
        here = Path(__file__).parent
        for item in items:
            if here in item.path.parents:
                item.add_marker(pytest.mark.skip(reason="chromium is not installed"))


def tht(*arguments: str) -> list[str]:
    """Give the command line of one `tht` command in this interpreter."""
    return [sys.executable, "-c", "from portal.cli import main; main()", *arguments]


@pytest.fixture(scope="session")
def portal(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Portal]:
    """Load the demo into an empty home, serve it with worker and broker, and stop it all."""
    home = tmp_path_factory.mktemp("portal-home")
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        bind = f"127.0.0.1:{probe.getsockname()[1]}"
    environment = {
        name: value for name, value in os.environ.items() if not name.startswith("PORTAL_")
    }
    environment |= {"PORTAL_HOME": str(home), "PORTAL_BIND": bind}
    environment.pop("DJANGO_SETTINGS_MODULE", None)
    demo = subprocess.run(
        tht("demo", "--json"),
        env=environment,
        check=True,
        capture_output=True,
        timeout=300,
    )
    loaded = json.loads(demo.stdout)
    with (home / "serve.log").open("wb") as log:
        process = subprocess.Popen(
            tht("serve"),
            env=environment,
            stdout=log,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
    try:
        _wait_until_alive(f"http://{bind}/healthz", process)
        yield Portal(f"http://{bind}", loaded["users"], loaded["key"])
    finally:
        os.killpg(process.pid, signal.SIGTERM)
        process.wait(timeout=30)


def _wait_until_alive(address: str, process: subprocess.Popen[bytes]) -> None:
    limit = time.monotonic() + 60
    while time.monotonic() < limit:
        assert process.poll() is None, "the portal ended while it started"
        try:
            if httpx.get(address, timeout=2).status_code == 200:
                return
        except httpx.TransportError:
            time.sleep(0.3)
    pytest.fail("the portal did not start within a minute")


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    """Give one headless Chromium for all tests."""
    with sync_playwright() as playwright:
        opened = playwright.chromium.launch(executable_path=CHROMIUM, args=list(QUIET))
        yield opened
        opened.close()


SignIn = Callable[..., Page]


@pytest.fixture
def sign_in(browser: Browser, portal: Portal) -> Iterator[SignIn]:
    """Open a page as somebody, in a language and a width; a script error fails the test."""
    complaints: list[str] = []
    opened = []

    def as_somebody(username: str, *, locale: str = "en-GB", width: int = 1366) -> Page:
        context = browser.new_context(
            base_url=portal.address, locale=locale, viewport={"width": width, "height": 900}
        )
        context.set_default_timeout(SLOW_MS)
        opened.append(context)
        page = context.new_page()
        page.on("pageerror", lambda error: complaints.append(str(error)))
        page.on(
            "console",
            lambda message: (
                complaints.append(message.text)
                if message.type == "error" and "422" not in message.text
                else None
            ),
        )
        page.on("request", lambda request: _stays_home(request.url, portal, complaints))
        page.goto("/admin/")
        page.fill("#id_username", username)
        page.fill("#id_password", portal.passwords[username])
        page.press("#id_password", "Enter")
        page.wait_for_url("**/admin/")
        return page

    expect.set_options(timeout=SLOW_MS)
    yield as_somebody
    for context in opened:
        context.close()
    assert not complaints


def _stays_home(url: str, portal: Portal, complaints: list[str]) -> None:
    """Note a request that leaves the portal: no page may need the network."""
    if not url.startswith((portal.address, "data:", "blob:")):
        complaints.append(f"left the portal: {url}")
