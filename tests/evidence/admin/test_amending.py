"""On the page of a proposal: edit before accepting, settle, put back; and what the rates show."""

from __future__ import annotations

from html import unescape
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.urls import reverse

from evidence import amending, conf, mirror, proposals, runs
from evidence.domain.runs import RunState
from evidence.models import PreparationRun, SourceReading, UnitRecord, Workspace
from tests.evidence.admin.conftest import seen
from tests.evidence.amendable import EDITOR, UNIT, a_proposal, on_branch, run, stored, workspace
from tests.makers import CURATOR, a_workspace, put, yaml_of_workspace

__all__ = ("run", "workspace")
pytestmark = pytest.mark.django_db

SAID = "definition: dimissione con assistenza a casa"
BETTER = "definition: dimissione a casa, con assistenza"
RATES = "admin:evidence_sourcereading_rates"


def place(step: str, run: PreparationRun, **query: str) -> str:
    return reverse(f"admin:evidence_preparationrun_{step}", args=[run.pk], query=query or None)


def typed(run: PreparationRun, before: str = SAID, after: str = BETTER) -> dict[str, str]:
    text, blob = stored(run)
    assert before in text
    return {"text": text.replace(before, after), "blob": blob}


def test_a_unit_is_edited_in_the_proposal_and_accepted_as_edited(
    curator: Client, run: PreparationRun
) -> None:
    page = curator.get(place("change", run)).content.decode()
    edit = place("edit", run, unit=UNIT)
    assert f'href="{edit}"' in page
    form = curator.get(edit).content.decode()
    assert SAID in form
    assert "As it is proposed" in form
    answer = curator.post(edit, typed(run))
    assert answer.headers["Location"] == f"{place('change', run)}#unit-dimissione-protetta"
    page = curator.get(place("change", run)).content.decode()
    assert "Saved in the proposal. Nothing is accepted yet." in page
    assert "dimissione a casa, con assistenza" in page
    curator.post(place("accept", run), seen(run))
    assert UnitRecord.objects.get().evidence_id == UNIT
    assert BETTER in on_branch(run.workspace)
    run.refresh_from_db()
    assert [each["username"] for each in run.editors] == ["curators"]


@pytest.mark.parametrize(
    ("before", "after", "code"),
    [
        ("schema_version: 1", "schema_version: one", "unit_invalid"),
        (UNIT, "evidence:altra", "unit_path_mismatch"),
        ("source/dimissioni.md", "source/altra.md", "provenance_changed"),
        ("- 'Dimissione protetta: ", "- 'Mai detto: ", "excerpt_not_found"),
    ],
)
def test_a_refused_edit_keeps_every_word_and_names_its_code(
    curator: Client, run: PreparationRun, before: str, after: str, code: str
) -> None:
    was = stored(run)
    before = before if before in was[0] else before.replace("'", '"')
    sent = typed(run, before, after)
    answer = curator.post(place("edit", run, unit=UNIT), sent)
    assert answer.status_code == 422
    page = unescape(answer.content.decode())
    assert code in page
    assert sent["text"].replace("\r\n", "\n") in page.replace("\r\n", "\n")
    assert stored(run) == was


def test_the_second_editor_of_a_proposed_unit_sees_the_first_ones_words(
    curator: Client, run: PreparationRun
) -> None:
    mine = typed(run, SAID, "definition: tutt'altro")
    theirs = typed(run)
    amending.edit_unit(
        run=run, evidence_id=UNIT, text=theirs["text"], blob=theirs["blob"], author=EDITOR
    )
    edit = place("edit", run, unit=UNIT)
    answer = curator.post(edit, mine)
    page = unescape(answer.content.decode())
    assert answer.status_code == 422
    assert "stale_edit" in page
    assert "tutt'altro" in page
    assert BETTER in page
    again = mine | {"blob": stored(run)[1]}
    assert f'value="{again["blob"]}"' in page, "the guard moves on"
    assert curator.post(edit, again).status_code == 302
    assert "tutt'altro" in unescape(curator.get(place("change", run)).content.decode())


def test_words_are_kept_when_the_proposal_was_discarded_meanwhile(
    curator: Client, run: PreparationRun
) -> None:
    sent = typed(run)
    proposals.discard(run=run, author=CURATOR, reason="No.")
    answer = curator.post(place("edit", run, unit=UNIT), sent)
    page = unescape(answer.content.decode())
    assert answer.status_code == 422
    assert "proposal_closed" in page
    assert BETTER in page


@pytest.mark.parametrize("unit", ["evidence:altra", "", "a\0b", "../x"])
def test_a_unit_that_is_not_proposed_has_no_editor(
    curator: Client, run: PreparationRun, unit: str
) -> None:
    page = curator.get(place("edit", run, unit=unit), follow=True).content.decode()
    assert "unit_not_proposed" in page


def test_a_doubt_is_settled_in_the_proposal(curator: Client, run: PreparationRun) -> None:
    _, blob = stored(run)
    page = curator.get(place("change", run)).content.decode()
    assert "kind_inferred" in page
    answer = curator.post(place("settle", run), {"unit": UNIT, "ordinal": "0", "blob": blob})
    assert answer.status_code == 302
    page = curator.get(place("change", run)).content.decode()
    assert "Settled in the proposal" in page
    assert "kind_inferred" not in page
    stale = curator.post(
        place("settle", run), {"unit": UNIT, "ordinal": "0", "blob": "0" * 40}, follow=True
    )
    assert stale.status_code == 200


def test_a_unit_that_was_taken_out_is_put_back(curator: Client, run: PreparationRun) -> None:
    curator.post(place("drop", run), {"unit": UNIT, "reason": "Vaga."})
    page = curator.get(place("change", run)).content.decode()
    assert "Put it back" in page
    assert "No unit would change" in page
    told = curator.post(place("put_back", run), {"unit": UNIT}, follow=True).content.decode()
    assert "Put back into the proposal." in told
    assert "1 unit would change" in told
    again = curator.post(place("put_back", run), {"unit": UNIT}, follow=True).content.decode()
    assert "unit_not_dropped" in again


def test_readers_change_nothing_and_no_step_is_a_get(sign_in: Any, run: PreparationRun) -> None:
    reader, curator = sign_in("Readers"), sign_in("Curators")
    for step in ("edit", "settle", "put_back", "again"):
        assert reader.post(place(step, run)).status_code == 403
    assert reader.get(place("edit", run, unit=UNIT)).status_code == 403
    for step in ("settle", "put_back", "again"):
        assert curator.get(place(step, run)).status_code == 405
    page = reader.get(place("change", run)).content.decode()
    assert "Edit before accepting" not in page


def test_the_note_stands_beside_its_units_with_the_passage_marked(
    curator: Client, run: PreparationRun
) -> None:
    page = curator.get(place("change", run)).content.decode()
    assert '<a href="#passage-1-1-1">See it in the note</a>' in page
    assert '<span id="passage-1-1-1"></span><mark class="ep-mark"' in page


def test_a_failed_run_names_its_notes_and_can_be_repeated(
    curator: Client, run: PreparationRun
) -> None:
    PreparationRun.objects.filter(pk=run.pk).update(
        state=RunState.FAILED, error={"code": "pi_failed", "message": "Pi.", "path": "", "hint": ""}
    )
    SourceReading.objects.filter(run=run).update(outcome="failed", code="pi_failed")
    page = curator.get(place("change", run)).content.decode()
    assert "source/dimissioni.md" in page
    assert "pi_failed" in page
    curator.post(place("again", run))
    assert PreparationRun.objects.filter(state=RunState.WAITING).count() == 1


def test_progress_names_the_notes_read_so_far(curator: Client, run: PreparationRun) -> None:
    rows = curator.get(place("progress", run)).json()["rows"]
    assert rows == [{"name": "source/dimissioni.md", "words": "read", "tone": "ok"}]


@pytest.mark.parametrize("change", ["edited", "taken out"])
def test_nobody_accepts_what_somebody_else_changed_since_they_looked(
    curator: Client, run: PreparationRun, change: str
) -> None:
    page = curator.get(place("change", run)).content.decode()
    looked_at = seen(run)
    assert page.count(f'name="seen" value="{looked_at["seen"]}"') == 2
    if change == "edited":
        curator.post(place("edit", run, unit=UNIT), typed(run))
    else:
        amending.drop_unit(run=run, evidence_id=UNIT, reason="No.")
    told = curator.post(place("accept", run), looked_at, follow=True).content.decode()
    assert "proposal_changed" in told
    assert "proposal_changed" in curator.post(place("accept", run), follow=True).content.decode()
    run.refresh_from_db()
    assert run.state == RunState.PROPOSED
    assert not UnitRecord.objects.exists()
    curator.post(place("accept", run), seen(run))
    run.refresh_from_db()
    assert run.state == RunState.ACCEPTED


def test_every_number_of_the_rates_leads_to_as_many_rows(
    curator: Client, run: PreparationRun
) -> None:
    curator.post(place("accept", run), seen(run))
    page = curator.get(reverse(RATES))
    assert page.status_code == 200
    (row,) = page.context["rows"]
    numbers = [row["runs"], row["sources"], row["failed"]]
    numbers += [(unit["count"], unit["link"]) for unit in row["units"]]
    assert [count for count, _ in numbers] == [1, 1, 0, 1, 0, 0]
    for count, link in numbers:
        assert f'href="{link}"' in unescape(page.content.decode())
        listed = curator.get(link)
        assert listed.status_code == 200, link
        assert listed.context["cl"].result_count == count, link


def test_rates_without_a_reading_say_what_to_do(reader: Client) -> None:
    page = reader.get(reverse(RATES)).content.decode()
    assert "Nothing was read yet" in page
    assert reverse("admin:evidence_sourcerecord_changelist") in page


def test_rates_are_for_those_who_may_see_proposals(client: Client, django_user_model: Any) -> None:
    client.force_login(django_user_model.objects.create_user("nobody", is_staff=True))
    assert client.get(reverse(RATES)).status_code == 403
    for name in ("sourcereading", "proposedunit"):
        assert client.get(reverse(f"admin:evidence_{name}_changelist")).status_code == 403


@pytest.mark.parametrize("name", ["sourcereading", "proposedunit"])
def test_a_row_leads_to_its_run_and_an_unknown_reader_has_none(
    reader: Client, run: PreparationRun, name: str
) -> None:
    row = run.readings.get() if name == "sourcereading" else run.units.get()
    answer = reader.get(reverse(f"admin:evidence_{name}_change", args=[row.pk]))
    assert answer.headers["Location"] == place("change", run)
    unknown = reader.get(reverse(f"admin:evidence_{name}_changelist"), {"reader": "x"})
    assert unknown.context["cl"].result_count == 0


def proposal_of(notes: int, slug: str) -> PreparationRun:
    files = {
        f"evidence/source/nota-{number}.md": (
            f"Voce {number}: il significato della voce {number}.\n".encode()
        )
        for number in range(notes)
    }
    made = a_workspace({"workspace.yaml": yaml_of_workspace(slug), **files}, slug=slug)
    mirror.sync_workspace(slug)
    return a_proposal(made)


def test_the_pages_ask_as_often_for_many_rows_as_for_few(reader: Client, portal_home: Path) -> None:
    counts = []
    for notes, slug in ((2, "poche"), (12, "molte")):
        run = proposal_of(notes, slug)
        addresses = [
            place("change", run),
            place("progress", run),
            reverse(RATES),
            reverse("admin:evidence_sourcereading_changelist", query={"workspace": slug}),
            reverse("admin:evidence_proposedunit_changelist", query={"workspace": slug}),
        ]
        asked = []
        for address in addresses:
            with CaptureQueriesContext(connection) as queries:
                assert reader.get(address).status_code == 200
            asked.append((urlsplit(address).path.replace(str(run.pk), ""), len(queries)))
        counts.append(asked)
    assert counts[0] == counts[1]


def test_a_long_proposal_is_read_page_by_page_and_one_comes_back_to_ones_page(
    curator: Client, portal_home: Path
) -> None:
    run = proposal_of(23, "molte")
    first = curator.get(place("change", run)).content.decode()
    assert "23 units would change" in first
    assert "Page 1 of 2" in first
    second = curator.get(place("change", run, p="2")).content.decode()
    assert second.count("Edit before accepting") == 3
    unit = "evidence:voce-9"
    address = f"{place('edit', run, unit=unit)}&p=2"
    assert unescape(second).count("&p=2") == 3
    text, blob = stored(run, unit)
    answer = curator.post(address, {"text": text, "blob": blob})
    back = urlsplit(answer.headers["Location"])
    assert (parse_qs(back.query), back.fragment) == ({"p": ["2"]}, "unit-voce-9")


def test_a_page_number_that_is_none_is_not_carried_along(
    curator: Client, run: PreparationRun
) -> None:
    address = f"{place('drop', run)}?p=%0d%0ax"
    answer = curator.post(address, {"unit": UNIT, "reason": "No."})
    assert answer.headers["Location"] == place("change", run)
    assert curator.get(place("change", run, p="many")).status_code == 200


def test_a_unit_whose_note_only_grew_is_set_apart_as_it_is(
    curator: Client, run: PreparationRun, workspace: Workspace
) -> None:
    proposals.accept(run=run, author=CURATOR)
    where = conf.current().repository_path(workspace.slug)
    note = "# Dimissioni\n\nDimissione protetta: dimissione con assistenza a casa.\n"
    longer = f"{note}\nDimissione ordinaria: dimissione senza altro.\n"
    put(where, {"evidence/source/dimissioni.md": longer.encode()})
    asked = runs.start_preparation(workspace="clinica", requested_by="x", restructurer="rules")
    again = runs.run_preparation(asked.pk)
    page = curator.get(place("change", again)).content.decode()
    assert "1 unit would change" in page
    assert "1 unit stays as it is" in page
