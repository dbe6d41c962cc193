"""A whole portal in processes of its own, as `make run` starts it, and a browser to look at it."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, expect, sync_playwright

from tests import live
from tests.live import LivePortal

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


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Skip these tests, by name, where there is no Chromium."""
    if CHROMIUM is None:
        here = Path(__file__).parent
        for item in items:
            if here in item.path.parents:
                item.add_marker(pytest.mark.skip(reason="chromium is not installed"))


@pytest.fixture(scope="module")
def portal(demo_home: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[LivePortal]:
    """Serve a copy of the demo with worker and broker, and stop it all."""
    home = live.copy_home(demo_home, tmp_path_factory.mktemp("browser") / "home")
    with live.serving(home) as served:
        yield served


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    """Give one headless Chromium for the tests of a module.

    Playwright keeps an event loop running in this thread, in which Django refuses its database: so
    it ends with the module, before other tests come to this worker.
    """
    with sync_playwright() as playwright:
        opened = playwright.chromium.launch(executable_path=CHROMIUM, args=list(QUIET))
        yield opened
        opened.close()


SignIn = Callable[..., Page]


@pytest.fixture
def sign_in(browser: Browser, portal: LivePortal) -> Iterator[SignIn]:
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


def _stays_home(url: str, portal: LivePortal, complaints: list[str]) -> None:
    """Note a request that leaves the portal: no page may need the network."""
    if not url.startswith((portal.address, "data:", "blob:")):
        complaints.append(f"left the portal: {url}")
