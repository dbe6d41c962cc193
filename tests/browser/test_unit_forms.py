"""The typed form as people use it: by keyboard, by paste, on a phone, and without any script."""

from __future__ import annotations

import re

import pytest
from axe_playwright_python.sync_playwright import Axe  # type: ignore[import-untyped]
from playwright.sync_api import Browser, Page, expect

from tests.browser.conftest import SignIn
from tests.live import LivePortal

KINDS = (
    *("glossary", "domain", "enum", "example"),
    *("mapping", "normalization", "formula", "reference"),
)
PASTE = """([cell, text]) => {
  const data = new DataTransfer();
  data.setData("text/plain", text);
  cell.dispatchEvent(
    new ClipboardEvent("paste", { clipboardData: data, bubbles: true, cancelable: true }),
  );
}"""


def open_form(page: Page, kind: str) -> str:
    """Open the form of the first unit of a kind and give the address of the unit."""
    page.goto(f"/admin/evidence/unitrecord/?kind={kind}")
    page.locator("#result_list tbody a").first.click()
    page.get_by_role("link", name=re.compile("^(Edit|Modifica)$")).click()
    expect(page.locator("[data-unit-form]")).to_be_visible()
    return page.url.replace("fill_in/", "change/")


def paste(page: Page, selector: str, text: str) -> None:
    page.evaluate(PASTE, [page.query_selector(selector), text])


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_every_form_can_be_read_by_everybody_and_fits_a_phone(sign_in: SignIn, scheme: str) -> None:
    page = sign_in("curatrice", width=390)
    page.emulate_media(color_scheme="dark" if scheme == "dark" else "light")
    for kind in KINDS:
        open_form(page, kind)
        report = Axe().run(page, context=".ep-page")
        rules = [(each["id"], each["nodes"][0]["html"]) for each in report.response["violations"]]
        assert not rules, kind
        assert page.evaluate("document.documentElement.scrollWidth - innerWidth") <= 0, kind


def test_a_table_is_filled_by_keyboard_and_by_paste(sign_in: SignIn) -> None:
    page = sign_in("curatrice")
    back = open_form(page, "enum")
    cells = page.locator(".ep-grid-table tbody textarea")
    cells.nth(0).focus()
    before = page.locator(".ep-grid-table tbody tr").count()
    page.get_by_role("button", name="Add a row").click()
    page.keyboard.type("0802")
    page.keyboard.press("Tab")
    page.keyboard.type("Prova, con virgola; e altro")
    page.keyboard.press("Enter")
    expect(page.locator(".ep-grid-table tbody tr")).to_have_count(before + 2)
    cells.nth((before + 1) * 2).focus()
    cell = f".ep-grid-table tbody tr:nth-child({before + 2}) textarea"
    paste(page, cell, 'P1\tuno\r\nP2\t"due\nrighe"\r\n"P"\ttre\r\n')
    expect(page.locator(".ep-grid-table tbody tr")).to_have_count(before + 4)
    page.get_by_role("button", name="Save").click()
    page.wait_for_url(re.compile("/change/"))
    assert page.url == back
    said = page.locator("section[aria-labelledby=says]")
    for words in ("0802", "Prova, con virgola; e altro", '"P"', "P2"):
        expect(said).to_contain_text(words)


def test_five_thousand_pasted_rows_stay_as_text_and_are_refused_in_words(sign_in: SignIn) -> None:
    page = sign_in("curatrice")
    open_form(page, "enum")
    rows = "\n".join(f"{number}\tSignificato {number}" for number in range(5_000))
    paste(page, ".ep-grid-table tbody textarea", rows)
    field = page.locator("#id_payload_values")
    expect(field).to_be_visible()
    expect(page.get_by_text("Rows: 5000")).to_be_visible()
    page.get_by_role("button", name="Save").click()
    expect(page.get_by_role("alert")).to_contain_text("At most 2000 entries are allowed.")
    assert "4999\tSignificato 4999" in field.input_value()


def test_sql_says_at_which_character_it_stumbles_while_one_types(sign_in: SignIn) -> None:
    page = sign_in("curatrice")
    open_form(page, "formula")
    field = page.get_by_label("SQL expression")
    field.fill("1 +\n  2 + ) 3")
    said = page.locator(".ep-sql-said")
    expect(said).to_contain_text("Line 2, character 7")
    expect(said.locator("pre")).to_have_text("  2 + ) 3\n      ^")
    said.get_by_role("button").click()
    assert page.evaluate("document.activeElement.selectionStart") == 10
    field.fill("1 + 2")
    expect(said).to_have_text("✓ The SQL can be read.")
    open_form(page, "mapping")
    page.locator(".ep-grid-table tbody tr").first.locator("textarea").nth(2).fill("x > )")
    expect(said).to_contain_text("Line 1, character 5")


def test_names_are_chips_completed_with_what_exists(sign_in: SignIn) -> None:
    page = sign_in("curatrice")
    open_form(page, "glossary")
    tables = page.get_by_label("Add: Tables")
    tables.focus()
    expect(page.locator("#ep-names-tables option[value='clinical.admission']")).to_have_count(1)
    tables.fill("clinical.nuova")
    tables.press("Enter")
    tables.fill("clinical.altra")
    tables.press("Enter")
    page.get_by_role("button", name="Remove clinical.altra").press("Enter")
    page.get_by_role("button", name="Save").click()
    page.wait_for_url(re.compile("/change/"))
    about = page.locator("section[aria-labelledby=about]")
    expect(about).to_contain_text("clinical.nuova")
    expect(about).not_to_contain_text("clinical.altra")


def test_a_preview_follows_what_is_typed_and_runs_no_script(sign_in: SignIn) -> None:
    page = sign_in("curatrice")
    open_form(page, "domain")
    page.get_by_role("button", name="Preview").click()
    preview = page.locator("#preview")
    expect(preview).to_be_visible()
    page.get_by_label("Text", exact=True).fill("## Titolo\n\n<img src=x onerror=alert(1)> *forte*")
    expect(preview.locator("h2", has_text="Titolo")).to_be_visible()
    expect(preview.locator("em")).to_have_text("forte")
    assert preview.locator("img").count() == 0


def test_the_form_works_without_script(
    sign_in: SignIn, browser: Browser, portal: LivePortal
) -> None:
    signed_in = sign_in("curatrice")
    open_form(signed_in, "normalization")
    context = browser.new_context(
        base_url=portal.address,
        java_script_enabled=False,
        locale="en-GB",
        storage_state=signed_in.context.storage_state(),
    )
    page = context.new_page()
    page.goto(signed_in.url)
    expect(page.locator("#id_payload_rules_helptext noscript")).to_be_visible()
    page.fill("#id_payload_rules", "Card.; Cardiologia\nOrt., Ortopedia")
    page.get_by_role("button", name="Preview").click()
    expect(page.locator("#preview")).to_contain_text("Ortopedia")
    page.get_by_role("button", name="Save").click()
    page.wait_for_url(re.compile("/change/"))
    assert "Cardiologia" in page.locator("section[aria-labelledby=says]").inner_html()
    context.close()
