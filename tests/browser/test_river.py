"""From a badly structured note to a cited answer, in a browser, as two people do it."""

from __future__ import annotations

import httpx
from playwright.sync_api import Page, expect

from tests.browser.conftest import SignIn
from tests.live import LivePortal

QUESTION = "Che cosa si intende per paziente ventilato?"
UNIT = "evidence:paziente-ventilato"


def ask(portal: LivePortal) -> dict[str, object]:
    """Ask as a harness does."""
    answer = httpx.post(
        f"{portal.address}/api/v1/workspaces/clinica-demo/search",
        headers={"Authorization": f"Bearer {portal.key}"},
        json={"query": QUESTION, "purpose": "disambiguation"},
        timeout=60,
    )
    assert answer.status_code == 200
    outcome: dict[str, object] = answer.json()
    return outcome


def found(outcome: dict[str, object]) -> list[str]:
    """Give the ids of an answer, the best first."""
    results = outcome["results"]
    assert isinstance(results, list)
    return [str(each["evidence_id"]) for each in results]


def prepare_and_accept(page: Page) -> None:
    page.get_by_role("button", name="Prepare").click()
    expect(page.locator("article").first).to_be_visible()
    expect(page.get_by_role("heading", name="Paziente ventilato")).to_be_visible()
    expect(page.get_by_text("0802").first).to_be_visible()
    page.get_by_role("button", name="Accept all").first.click()
    expect(page.get_by_text("Accepted, in your name.")).to_be_visible()


def settle_one_by_editing(page: Page) -> None:
    """Take the review items out of the first unit of the queue, first with a mistake."""
    page.goto("/admin/evidence/reviewitemrecord/")
    page.locator("#result_list tbody a").first.click()
    page.get_by_role("link", name="Edit the text").click()
    editor = page.get_by_label("Text of the unit")
    typed = editor.input_value()
    head, _, rest = typed.partition("review_items:\n")
    _items, _, body = rest.partition("---\n")
    settled = f"{head}---\n{body}"
    editor.fill(settled.replace("schema_version: 1", "schema_version: one"))
    page.get_by_role("button", name="Save").click()
    expect(page.get_by_role("alert")).to_contain_text("unit_invalid")
    expect(editor).to_have_value(settled.replace("schema_version: 1", "schema_version: one"))
    editor.fill(settled)
    page.get_by_role("button", name="Save").click()
    expect(page.get_by_text("Saved, in your name.")).to_be_visible()


def settle_the_rest(page: Page) -> None:
    while True:
        page.goto("/admin/evidence/reviewitemrecord/")
        if page.locator("#result_list tbody a").count() == 0:
            break
        page.locator("#result_list tbody a").first.click()
        page.get_by_role("button", name="It is right: settle it").first.click()
        expect(page.get_by_text("Settled, in your name.")).to_be_visible()
    expect(page.get_by_role("heading", name="No open review items")).to_be_visible()


def approve(page: Page) -> None:
    page.get_by_role("link", name="Look and approve").click()
    page.get_by_label("Note").fill("Letta unità per unità.")
    page.get_by_role("button", name="Approve this revision").click()
    expect(
        page.get_by_text("It answers once it has passed its exam and a last check.")
    ).to_be_visible()
    expect(page.locator(".ep-head").get_by_text("answering now")).to_be_visible(timeout=180_000)


def test_a_note_becomes_an_answer(portal: LivePortal, sign_in: SignIn) -> None:
    assert UNIT not in found(ask(portal))
    curator = sign_in("curatrice")
    expect(curator.get_by_text("1 note waits to be prepared.")).to_be_visible()
    prepare_and_accept(curator)
    assert UNIT not in found(ask(portal))

    curator.goto("/admin/")
    expect(curator.get_by_text("before this revision can be published")).to_be_visible()
    settle_one_by_editing(curator)
    settle_the_rest(curator)

    curator.goto("/admin/")
    expect(curator.get_by_text("An approver has to release it.")).to_be_visible()
    curator.get_by_role("link", name="See what is new").click()
    expect(curator.get_by_text("Only approvers can do this.")).to_be_visible()
    assert UNIT not in found(ask(portal))

    approve(sign_in("approvatore"))
    outcome = ask(portal)
    assert outcome["status"] == "available"
    assert found(outcome)[0] == UNIT
