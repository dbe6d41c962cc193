"""Notes and units that want to live on a page, in front of a real browser (spec 90, Figures)."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator
from dataclasses import dataclass

import pytest
from markdown_it import MarkdownIt
from playwright.sync_api import Browser, Dialog, Page, Request, Route, sync_playwright

from evidence.admin.notes import note_html
from evidence.admin.passages import Passage
from tests.browser.conftest import QUIET
from tests.robustness.figures import Figures
from tests.robustness.payloads import PAYLOADS

CHROMIUM = shutil.which("chromium")
pytestmark = pytest.mark.skipif(CHROMIUM is None, reason="chromium is not installed")

PLACE = "http://portal.example/admin/"
STRANGERS = """() => {
  const tags = new Set(("P BR HR H1 H2 H3 H4 H5 H6 BLOCKQUOTE PRE CODE UL OL LI EM STRONG S A " +
    "TABLE THEAD TBODY TR TH TD MARK SPAN").split(" "));
  const names = new Set(["href", "title", "rel", "start", "class", "id"]);
  const ours = new Set(["ep-mark", "here", null]);
  const found = [];
  for (const each of document.querySelectorAll("main *")) {
    if (!tags.has(each.tagName)) found.push(each.tagName);
    for (const {name, value} of each.attributes) {
      if (!names.has(name)) found.push(each.tagName + " " + name);
      if (name == "href" && !/^(https?|mailto):$/.test(each.protocol)) found.push(value);
      if ((name == "class" || name == "id") && !ours.has(value)) found.push(name + " " + value);
    }
    for (const kind of ["mouseover", "focus", "toggle"]) each.dispatchEvent(new Event(kind));
  }
  return found;
}"""
"""What a page of notes has no use for, looked for by the browser in what it made of the text."""

Rendering = Callable[[str], str]


@dataclass(frozen=True, slots=True)
class Seen:
    """What one payload did in the browser."""

    dialogs: int
    requests: int
    strangers: tuple[str, ...]

    @property
    def lives(self) -> bool:
        return bool(self.dialogs or self.requests or self.strangers)


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    """One Chromium for the module, which reaches nothing."""
    with sync_playwright() as playwright:
        opened = playwright.chromium.launch(executable_path=CHROMIUM, args=list(QUIET))
        yield opened
        opened.close()


@pytest.fixture(scope="module")
def page(browser: Browser) -> Iterator[Page]:
    """One page without any policy of its own: what keeps a payload dead is the text alone."""
    context = browser.new_context()
    yield context.new_page()
    context.close()


def as_the_portal_does(text: str) -> str:
    """Render a note with its first word marked, as the page of a source shows it."""
    note = f"Prima.\n\n{text}\n\nDopo."
    return note_html("source/x.md", note.encode(), [Passage("Prima.", "here", "Unità")])


def seen(page: Page, render: Rendering, text: str) -> Seen:
    """Show one rendered payload and count what it did of its own accord."""
    dialogs: list[str] = []
    requests: list[str] = []

    def told(dialog: Dialog) -> None:
        dialogs.append(dialog.message)
        dialog.dismiss()

    def asked(route: Route, request: Request) -> None:
        if request.url == PLACE and not requests:
            html = f"<!doctype html><meta charset=utf-8><main>{render(text)}</main>"
            route.fulfill(body=html, content_type="text/html")
        else:
            route.abort()
        requests.append(request.url)

    page.on("dialog", told)
    page.route("**/*", asked)
    page.goto(PLACE, wait_until="load")
    page.wait_for_timeout(20)
    strangers = page.evaluate(STRANGERS)
    page.remove_listener("dialog", told)
    page.unroute("**/*", asked)
    return Seen(len(dialogs), len(requests) - 1, tuple(strangers))


def test_no_payload_lives_on_a_page(page: Page, figures: Figures) -> None:
    alive = {text for text in PAYLOADS if seen(page, as_the_portal_does, text).lives}
    words = f"{len(PAYLOADS)} payloads in Chromium: {len(alive)} live"
    figures.measured("rendering", words, holds=len(PAYLOADS) >= 80 and not alive)


def test_what_surrounds_a_payload_is_shown(page: Page) -> None:
    for text in PAYLOADS:
        html = as_the_portal_does(text)
        assert ">Prima<" in html
        assert "Dopo." in html
    page.set_content(f"<main>{as_the_portal_does('**a** [b](https://x.example)')}</main>")
    assert page.inner_text("main").split() == ["Prima.", "a", "b", "Dopo."]
    assert page.evaluate(STRANGERS) == []


def test_markdown_with_html_let_through_would_be_noticed(page: Page, figures: Figures) -> None:
    render = MarkdownIt("commonmark", {"html": True}).render
    alive = [text for text in PAYLOADS[::4] if seen(page, render, text).lives]
    words = f"HTML let through: {len(alive)} of {len(PAYLOADS[::4])} live"
    figures.caught("rendering", words, noticed=len(alive) > 5)
