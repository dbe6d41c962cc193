"""A proposal is corrected before it is accepted, in a browser, as an expert does it."""

from __future__ import annotations

import re

from axe_playwright_python.sync_playwright import Axe  # type: ignore[import-untyped]
from playwright.sync_api import Locator, Page, expect

from tests.browser.conftest import SignIn

TITLE = "Paziente ventilato"


def overflow(page: Page) -> int:
    return int(page.evaluate("document.documentElement.scrollWidth - innerWidth"))


def unit(page: Page) -> Locator:
    return page.locator("article", has=page.get_by_role("heading", name=TITLE))


def edit(page: Page, before: str, after: str) -> None:
    unit(page).get_by_role("link", name="Edit before accepting").click()
    editor = page.get_by_label("Text of the unit")
    typed = editor.input_value()
    assert before in typed
    editor.fill(typed.replace(before, after))
    page.get_by_role("button", name="Save").click()


def refuse_a_mistake(page: Page) -> None:
    """Save what is no unit: the words stay, and the reason stands above them."""
    edit(page, "schema_version: 1", "schema_version: one")
    expect(page.get_by_role("alert")).to_contain_text("unit_invalid")
    expect(page.get_by_label("Text of the unit")).to_have_value(re.compile("schema_version: one"))


def take_out_and_put_back(page: Page) -> None:
    other = page.locator("article").filter(has_text="Take this unit out").last
    other.get_by_text("Take this unit out").click()
    other.get_by_label("Why it is taken out").fill("È una bozza.")
    other.get_by_role("button", name="Take it out").click()
    page.get_by_role("button", name="Put it back").click()
    expect(page.get_by_text("Put back into the proposal.")).to_be_visible()


def test_a_proposed_unit_is_edited_and_then_accepted(sign_in: SignIn) -> None:
    page = sign_in("curatrice")
    page.get_by_role("button", name="Prepare").click()
    expect(unit(page)).to_be_visible()
    proposal = page.url
    unit(page).get_by_role("link", name="See it in the note").first.click()
    expect(page.locator("span:target + mark")).to_be_in_viewport()
    report = Axe().run(page, context=".ep-page")
    assert [each["id"] for each in report.response["violations"]] == []
    page.set_viewport_size({"width": 390, "height": 800})
    assert overflow(page) <= 0
    page.set_viewport_size({"width": 1366, "height": 900})

    refuse_a_mistake(page)
    page.goto(proposal)
    edit(page, f"term: {TITLE}", f"term: {TITLE} (in terapia intensiva)")
    expect(page.get_by_text("Saved in the proposal. Nothing is accepted yet.")).to_be_visible()
    expect(unit(page)).to_contain_text("(in terapia intensiva)")
    take_out_and_put_back(page)
    page.get_by_role("button", name="Accept all").first.click()
    expect(page.get_by_text("Accepted, in your name.")).to_be_visible()

    page.goto("/admin/evidence/unitrecord/?q=evidence:paziente-ventilato")
    page.locator("#result_list tbody a").first.click()
    expect(page.get_by_text("(in terapia intensiva)").first).to_be_visible()
    page.get_by_role("link", name="Rates").click()
    expect(page.locator("table tbody tr td").nth(6)).to_contain_text("1")
