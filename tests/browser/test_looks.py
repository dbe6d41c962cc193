"""What every page owes its reader: it fits a phone, it can be read aloud, it speaks Italian."""

from __future__ import annotations

import pytest
from axe_playwright_python.sync_playwright import Axe  # type: ignore[import-untyped]
from playwright.sync_api import Page, expect

from tests.browser.conftest import SignIn

PAGES = [
    "/admin/",
    "/admin/evidence/sourcerecord/",
    "/admin/evidence/unitrecord/",
    "/admin/evidence/findingrecord/",
    "/admin/evidence/findingrecord/dismissed/?workspace=clinica-demo",
    "/admin/evidence/revisionrecord/",
    "/admin/evidence/preparationrun/",
    "/admin/evidence/sourcereading/",
    "/admin/evidence/sourcereading/rates/",
    "/admin/evidence/proposedunit/",
    "/admin/publishing/generation/",
    "/admin/publishing/approval/release/clinica-demo/",
    "/admin/publishing/evaluation/",
    "/admin/publishing/evaluation/console/",
    "/admin/publishing/evaluation/questions/",
    "/admin/search_api/gap/",
    "/admin/search_api/formulaproposal/",
    "/admin/search_api/receiptrecord/",
]
READABLE = [
    "/admin/",
    "/admin/evidence/findingrecord/dismissed/?workspace=clinica-demo",
    "/admin/evidence/sourcereading/rates/",
    "/admin/publishing/approval/release/clinica-demo/",
    "/admin/publishing/evaluation/",
    "/admin/publishing/evaluation/console/",
    "/admin/publishing/evaluation/questions/",
]
LISTS_WITH_PAGES = [
    "/admin/evidence/sourcerecord/",
    "/admin/evidence/unitrecord/",
    "/admin/evidence/revisionrecord/",
    "/admin/evidence/workspace/",
    "/admin/publishing/generation/",
    "/admin/publishing/evaluation/",
    "/admin/publishing/approval/",
]


def open_first(page: Page, place: str) -> None:
    page.goto(place)
    page.locator("#result_list tbody a").first.click()
    expect(page.locator(".ep-page")).to_be_visible()


def overflow(page: Page) -> int:
    return int(page.evaluate("document.documentElement.scrollWidth - innerWidth"))


def broken_rules(page: Page) -> dict[str, list[tuple[str, str]]]:
    """Give what axe finds in our part of a page, by its address."""
    report = Axe().run(page, context=".ep-page")
    rules = [(each["id"], each["nodes"][0]["html"]) for each in report.response["violations"]]
    return {page.url: rules} if rules else {}


@pytest.mark.parametrize("locale", ["it-IT", "en-GB"])
def test_no_page_is_wider_than_a_phone(sign_in: SignIn, locale: str) -> None:
    page = sign_in("approvatore", locale=locale, width=390)
    for place in PAGES:
        page.goto(place)
        assert overflow(page) <= 0, place
    for place in LISTS_WITH_PAGES:
        open_first(page, place)
        assert overflow(page) <= 0, place


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_our_part_of_every_page_can_be_read_by_everybody(sign_in: SignIn, scheme: str) -> None:
    page = sign_in("approvatore")
    page.emulate_media(color_scheme="dark" if scheme == "dark" else "light")
    found: dict[str, list[tuple[str, str]]] = {}
    for place in READABLE:
        page.goto(place)
        found |= broken_rules(page)
    for place in LISTS_WITH_PAGES:
        open_first(page, place)
        found |= broken_rules(page)
    assert not found


def test_a_unit_is_reached_and_edited_by_keyboard_alone(sign_in: SignIn) -> None:
    page = sign_in("curatrice")
    page.goto("/admin/evidence/unitrecord/?q=evidence:fascia-pediatrica")
    page.locator("#result_list tbody a").first.focus()
    page.keyboard.press("Enter")
    expect(page.get_by_role("heading", name="Fascia pediatrica").first).to_be_visible()
    edit = page.get_by_role("link", name="Edit the text")
    edit.focus()
    page.keyboard.press("Enter")
    expect(page.get_by_label("Text of the unit")).to_be_visible()


def test_pages_are_italian_for_an_italian_browser(sign_in: SignIn) -> None:
    page = sign_in("curatrice", locale="it-IT")
    expect(page.get_by_text("Prossimo passo")).to_be_visible()
    page.goto("/admin/evidence/unitrecord/")
    expect(page.get_by_role("columnheader", name="Serve a")).to_be_visible()
    expect(page.get_by_role("textbox", name="Scrivi per cercare")).to_be_visible()
