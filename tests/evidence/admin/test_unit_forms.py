"""The typed form of each kind: one commit a save, and no word is lost."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from django.db import connection
from django.http import HttpResponse
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.urls import reverse

from evidence import conf, mirror, plugged
from evidence.domain.codec import parse_curated_markdown
from evidence.domain.typed_units import typed
from evidence.domain.units import CuratedEvidence, EvidenceKind
from evidence.models import PortalCommit, UnitRecord, Workspace
from portal.demo import loading
from tests.evidence.admin.conftest import SignIn
from tests.makers import a_unit, a_workspace, put, sentence, unit_file

pytestmark = pytest.mark.django_db

KINDS = [str(kind) for kind in EvidenceKind]


@pytest.fixture
def demo(portal_home: Path, db: None) -> Workspace:
    """Give the demo's workspace, which has units of every kind."""
    folder = Path(loading.__file__).parent / "clinica-demo"
    files = {
        path.relative_to(folder).as_posix(): path.read_bytes()
        for path in folder.rglob("*")
        if path.is_file()
    }
    slug = a_workspace(files, slug="clinica-demo").slug
    mirror.sync_workspace(slug)
    return Workspace.named(slug)


def one_of(kind: str) -> UnitRecord:
    return UnitRecord.objects.select_related("workspace").filter(kind=kind).order_by("path")[0]


def again(record: UnitRecord) -> UnitRecord:
    return UnitRecord.objects.select_related("workspace").get(pk=record.pk)


def text_of(record: UnitRecord) -> str:
    repository = plugged.repository(record.workspace.slug)
    return repository.blobs([record.blob])[record.blob].decode()


def unit_in(record: UnitRecord) -> CuratedEvidence:
    return parse_curated_markdown(text_of(record), path=record.path)


def place(step: str, record: UnitRecord) -> str:
    return reverse(f"admin:evidence_unitrecord_{step}", args=[record.pk])


def filled(record: UnitRecord, **fields: Any) -> dict[str, Any]:
    """Give what a browser posts of the form as it opens, with some fields typed over."""
    opened = {
        name: value.replace("\n", "\r\n") if isinstance(value, str) else value
        for name, value in typed(unit_in(record)).items()
    }
    return {**opened, "blob": record.blob, **fields}


def save(client: Client, record: UnitRecord, **fields: Any) -> Any:
    return client.post(place("fill_in", record), filled(record, **fields))


def marks(answer: HttpResponse) -> list[tuple[str, str]]:
    return [(mark.name, mark.code) for mark in answer.context["form"].marks]  # type: ignore[attr-defined]


def pushed(record: UnitRecord, text: str | None) -> None:
    data = None if text is None else text.encode()
    slug = record.workspace.slug
    put(conf.current().repository_path(slug), {f"evidence/{record.path}": data})
    mirror.sync_workspace(slug)


VALID: dict[str, tuple[dict[str, str], str]] = {
    "glossary": ({"payload_synonyms": "uno\r\ndue"}, "- due"),
    "domain": ({"body": "## Nuova\r\n\r\nTesto nuovo."}, "Testo nuovo."),
    "enum": ({"payload_values": '0802\tUno\r\nNO\t"Due\r\nrighe"'}, "- value: '0802'"),
    "example": ({"payload_sql": "SELECT 42"}, "sql: SELECT 42"),
    "mapping": ({"payload_targets": "a.b.c; 0802\r\nd.e.f\t\tx > 1"}, "condition: x > 1"),
    "normalization": ({"payload_rules": "Card.; Cardiologia\r\nx\t"}, "match: Card."),
    "formula": ({"payload_sql": "1 + 1"}, "sql: '1 + 1'"),
    "reference": ({"payload_url": "https://example.org/nuovo"}, "https://example.org/nuovo"),
}

REFUSED: dict[str, list[tuple[dict[str, Any], str, str]]] = {
    "glossary": [({"payload_term": " "}, "payload_term", "unit_invalid")],
    "domain": [({"body": " \r\n"}, "body", "unit_invalid")],
    "enum": [
        ({"payload_values": ""}, "payload_values", "unit_invalid"),
        ({"payload_values": "1\tuno\r\n1\tdue"}, "payload_values", "unit_invalid"),
        ({"payload_values": "1\tuno\ttre\tquattro"}, "payload_values", "unit_invalid"),
        ({"payload_column": "solo_colonna"}, "payload_column", "unit_invalid"),
    ],
    "example": [({"payload_sql": "DELETE FROM t"}, "payload_sql", "unit_invalid")],
    "mapping": [
        ({"payload_targets": "a.b.c\t\tx >"}, "payload_targets", "unit_invalid"),
        ({"payload_targets": "nessuna"}, "payload_targets", "unit_invalid"),
    ],
    "normalization": [({"payload_target": ""}, "payload_target", "unit_invalid")],
    "formula": [
        ({"payload_sql": "SELECT 1"}, "payload_sql", "unit_invalid"),
        ({"payload_sql": "s.t.c = 1", "payload_columns": ""}, "payload_sql", "unit_invalid"),
        ({"payload_columns": "x"}, "payload_columns", "unit_invalid"),
    ],
    "reference": [({"payload_url": "javascript:alert(1)"}, "payload_url", "unit_invalid")],
}
EVERY_REFUSAL = [(kind, *each) for kind, found in REFUSED.items() for each in found] + [
    ("glossary", {"title": ""}, "title", "unit_invalid"),
    ("glossary", {"title": "due\r\nrighe"}, "title", "unit_invalid"),
    ("glossary", {"purposes": []}, "purposes", "unit_invalid"),
    ("glossary", {"purposes": ["everything"]}, "purposes", "unit_invalid"),
    ("glossary", {"scope_tables": "una"}, "scope_tables", "unit_invalid"),
    ("glossary", {"scope_columns": "a.b.c\r\nA.b.c"}, "scope_columns", "unit_invalid"),
    ("glossary", {"payload_definition": "x\0y"}, "payload_definition", "unit_invalid"),
    ("glossary", {"body": "x" * 70_000}, "", "unit_too_large"),
    ("glossary", {"body": "x" * 1_100_000}, "body", "unit_too_large"),
    ("glossary", {"blob": "x"}, "blob", "invalid"),
]


@pytest.mark.parametrize("kind", KINDS)
def test_a_form_nobody_touched_makes_no_commit(curator: Client, demo: Workspace, kind: str) -> None:
    record = one_of(kind)
    assert curator.get(place("fill_in", record)).status_code == 200
    assert save(curator, record).status_code == 302
    assert again(record).blob == record.blob
    assert not PortalCommit.objects.exists()


@pytest.mark.parametrize("kind", KINDS)
def test_what_is_typed_is_saved_as_one_commit(curator: Client, demo: Workspace, kind: str) -> None:
    record, (fields, expected) = one_of(kind), VALID[kind]
    answer = save(curator, record, **fields)
    assert answer.status_code == 302, marks(answer)
    assert expected in text_of(again(record))
    commit = PortalCommit.objects.get()
    assert (commit.username, commit.action) == ("curators", "save")


@pytest.mark.parametrize(("kind", "fields", "name", "code"), EVERY_REFUSAL)
def test_a_refusal_stands_at_its_field_with_its_code_and_every_word_is_kept(
    curator: Client, demo: Workspace, kind: str, fields: dict[str, Any], name: str, code: str
) -> None:
    record = one_of(kind)
    answer = save(curator, record, scope_concepts="una parola mia", **fields)
    assert answer.status_code == 422
    assert (name, code) in marks(answer)
    page = answer.content.decode()
    assert "una parola mia" in page
    assert f'<small class="ep-code">{code}</small>' in page
    assert again(record).blob == record.blob


def test_a_refused_expression_says_the_line_and_the_character(
    curator: Client, demo: Workspace
) -> None:
    answer = save(curator, one_of("formula"), payload_sql="1 +\r\n  2 + ) 3")
    page = answer.content.decode()
    assert "Line 2, character 7" in page
    assert "  2 + ) 3\n      ^</pre>" in page


def test_a_refused_condition_says_its_row_and_its_column(curator: Client, demo: Workspace) -> None:
    answer = save(curator, one_of("mapping"), payload_targets="a.b.c\tx\r\na.b.d\t\tx > )")
    (mark,) = answer.context["form"].marks
    assert mark.where == "row 2, Condition"
    assert mark.remark.column == 5


def test_five_thousand_pasted_rows_are_refused_with_every_row_kept(
    curator: Client, demo: Workspace
) -> None:
    rows = "\r\n".join(f"{number:04}\tSignificato {number}" for number in range(5_000))
    answer = save(curator, one_of("enum"), payload_values=rows)
    assert marks(answer) == [("payload_values", "unit_invalid")]
    assert "At most 2000 entries are allowed." in answer.content.decode()
    assert "4999\tSignificato 4999" in answer.content.decode()


def test_two_thousand_rows_of_which_all_are_wrong_are_named_twenty_at_a_time(
    curator: Client, demo: Workspace
) -> None:
    answer = save(curator, one_of("enum"), payload_values="x\t\r\n" * 2_000)
    assert len(answer.context["form"].marks) == 20


def test_fifteen_hundred_rows_are_saved(curator: Client, demo: Workspace) -> None:
    rows = "\r\n".join(f"{number}\tS" for number in range(1_500))
    assert save(curator, one_of("enum"), payload_values=rows).status_code == 302
    assert len(unit_in(one_of("enum")).payload.values) == 1_500  # type: ignore[union-attr]


def test_hidden_directions_and_zero_width_letters_are_kept_as_text(
    curator: Client, demo: Workspace
) -> None:
    record = one_of("glossary")
    assert save(curator, record, payload_definition="a\u202eb\u200bc").status_code == 302
    assert unit_in(again(record)).payload.definition == "a\u202eb\u200bc"  # type: ignore[union-attr]


@pytest.mark.parametrize("step", ["fill_in", "preview"])
def test_markdown_with_script_is_never_live(curator: Client, demo: Workspace, step: str) -> None:
    record = one_of("domain")
    body = "<script>alert(1)</script>\r\n\r\n![x](https://evil.example/x.png) [y](javascript:z)"
    fields = filled(record, body=body, title="</textarea><script>x</script>", preview="1")
    page = curator.post(place(step, record), fields).content.decode()
    assert "alert(1)" in page
    assert "<script>alert" not in page
    assert "<script>x" not in page
    assert "<img" not in page
    assert 'href="javascript' not in page


def test_a_preview_without_script_shows_the_unit_and_saves_nothing(
    curator: Client, demo: Workspace
) -> None:
    record = one_of("formula")
    answer = save(curator, record, payload_concept="Concetto **nuovo**", body="*Nota*", preview="1")
    page = answer.content.decode()
    assert answer.status_code == 200
    assert "<em>Nota</em>" in page
    assert not PortalCommit.objects.exists()


def test_what_two_people_changed_in_different_fields_is_merged_to_look_at(
    curator: Client, demo: Workspace
) -> None:
    opened = one_of("glossary")
    posted = filled(opened, payload_definition="La mia definizione.")
    pushed(opened, text_of(opened).replace(f"title: {opened.title}", "title: Il loro titolo"))
    answer = curator.post(place("fill_in", opened), posted)
    page = answer.content.decode()
    assert answer.status_code == 422
    assert "stale_edit" in page
    assert "Taken over from their version: Title." in " ".join(page.split())
    assert not PortalCommit.objects.exists()
    form = answer.context["form"]
    assert curator.post(place("fill_in", opened), form.data).status_code == 302
    unit = unit_in(again(opened))
    assert unit.title == "Il loro titolo"
    assert unit.payload.definition == "La mia definizione."  # type: ignore[union-attr]


def test_one_field_that_two_people_changed_shows_all_three_versions(
    curator: Client, demo: Workspace
) -> None:
    opened = one_of("reference")
    base = unit_in(opened).payload.label  # type: ignore[union-attr]
    posted = filled(opened, payload_label="Etichetta mia")
    pushed(opened, text_of(opened).replace(f"label: {base}", "label: Etichetta loro"))
    answer = curator.post(place("fill_in", opened), posted)
    dispute = answer.context["conflict"].disputes["payload_label"]
    assert (dispute.base, dispute.theirs) == (base, "Etichetta loro")
    page = answer.content.decode()
    assert 'value="Etichetta mia"' in page or ">\nEtichetta mia<" in page
    assert "They changed this too" in page
    assert curator.post(place("fill_in", opened), answer.context["form"].data).status_code == 302
    assert unit_in(again(opened)).payload.label == "Etichetta mia"  # type: ignore[union-attr]


def test_words_are_kept_when_somebody_broke_the_unit_meanwhile(
    curator: Client, demo: Workspace
) -> None:
    opened = one_of("glossary")
    posted = filled(opened, payload_definition="La mia definizione.")
    pushed(opened, "---\nkind: [\n---\n")
    answer = curator.post(place("fill_in", opened), posted)
    assert answer.status_code == 422
    assert "La mia definizione." in answer.content.decode()
    assert "kind: [" in answer.content.decode()
    assert not PortalCommit.objects.exists()


def test_a_form_posted_with_the_blob_of_another_unit_saves_nothing_over_this_one(
    curator: Client, demo: Workspace
) -> None:
    record, other = one_of("glossary"), one_of("enum")
    answer = save(curator, record, blob=other.blob, payload_definition="Mia.")
    assert answer.status_code == 422
    assert again(record).blob == record.blob


def test_ticked_doubts_are_settled_by_the_save(curator: Client, workspace: Workspace) -> None:
    items = [{"code": code, "message": f"Doubt {code}?"} for code in ("uno", "due")]
    unit = a_unit(
        "evidence:regola-0", source="source/nota-0.md", text=sentence(0), review_items=items
    )
    path, data = unit_file(unit)
    put(conf.current().repository_path(workspace.slug), {f"evidence/{path}": data})
    mirror.sync_workspace(workspace.slug)
    record = UnitRecord.objects.select_related("workspace").get(path=path)
    assert "Doubt uno?" in curator.get(place("fill_in", record)).content.decode()
    assert save(curator, record, settled=["0"]).status_code == 302
    assert [item.code for item in unit_in(again(record)).review_items] == ["due"]


def test_what_no_form_can_hold_is_edited_as_text(curator: Client, demo: Workspace) -> None:
    record = one_of("enum")
    code = unit_in(record).payload.values[0].value  # type: ignore[union-attr]
    changed = text_of(record).replace(f"value: '{code}'\n", 'value: "a\\rb"\n', 1)
    assert changed != text_of(record)
    pushed(record, changed)
    answer = curator.get(place("fill_in", record), follow=True)
    assert answer.redirect_chain[-1][0] == place("edit", record)
    assert "edit its text instead" in answer.content.decode()


@pytest.mark.parametrize(
    ("kind", "sql", "ok"),
    [
        ("formula", "1 + 1", True),
        ("formula", "", True),
        ("formula", "1 +", False),
        ("formula", "s.t.c", False),
        ("example", "SELECT 1", True),
        ("example", "1 + 1", False),
        ("mapping", "x > 1", True),
    ],
)
def test_sql_is_checked_while_it_is_typed(
    curator: Client, demo: Workspace, kind: str, sql: str, ok: bool
) -> None:
    said = curator.post(place("check_sql", one_of(kind)), {"sql": sql}).json()
    assert said["ok"] is ok
    assert ok or (said["code"] == "sql_refused" and said["text"])


def test_a_check_names_the_character(curator: Client, demo: Workspace) -> None:
    place_of_check = place("check_sql", one_of("formula"))
    said = curator.post(place_of_check, {"sql": "è + )", "columns": ""}).json()
    assert (said["offset"], said["line"], said["column"], said["source"]) == (4, 1, 5, "è + )")


def test_fields_are_completed_with_what_the_workspace_speaks_of(
    curator: Client, demo: Workspace
) -> None:
    said = curator.get(place("names", one_of("enum"))).json()
    assert "clinical.admission" in said["tables"]
    assert all(name.count(".") == 2 for name in said["columns"])
    assert said["concepts"]


@pytest.mark.parametrize("step", ["fill_in", "check_sql", "preview", "names"])
def test_readers_have_no_form(reader: Client, demo: Workspace, step: str) -> None:
    assert reader.get(place(step, one_of("enum"))).status_code in {403, 405}
    assert reader.post(place(step, one_of("enum")), {}).status_code == 403


def test_the_page_of_a_unit_leads_to_the_form_and_to_the_text(
    curator: Client, reader: Client, demo: Workspace
) -> None:
    record = one_of("enum")
    page = curator.get(place("change", record)).content.decode()
    assert place("fill_in", record) in page
    assert place("edit", record) in page
    assert place("fill_in", record) not in reader.get(place("change", record)).content.decode()


def test_a_form_costs_the_same_queries_however_many_rows_and_units_there_are(
    curator: Client, demo: Workspace
) -> None:
    record = one_of("enum")

    def queries() -> dict[str, int]:
        counted = {}
        for step in ("fill_in", "names"):
            with CaptureQueriesContext(connection) as asked:
                curator.get(place(step, record))
            counted[step] = len(asked)
        return counted

    before = queries()
    rows = "\r\n".join(f"{number}\tS" for number in range(1_000))
    assert save(curator, record, payload_values=rows).status_code == 302
    slug = demo.slug
    made = [unit_file(a_unit(f"evidence:altra-{number}")) for number in range(30)]
    put(conf.current().repository_path(slug), {f"evidence/{path}": data for path, data in made})
    mirror.sync_workspace(slug)
    record = again(record)
    assert queries() == before


def test_the_form_of_another_groups_workspace_is_not_found(
    sign_in: SignIn, demo: Workspace
) -> None:
    client = sign_in("Curators")
    assert client.get("/admin/evidence/unitrecord/999999/fill_in/").status_code == 404
