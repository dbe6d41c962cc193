"""Every list and page: who may see it, what it costs, and that no row is edited as a row."""

from __future__ import annotations

from pathlib import Path

import pytest
from django.contrib import admin
from django.contrib.auth.models import User
from django.db import connection
from django.db.models import Model
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.urls import reverse

from evidence import conf, mirror
from evidence.admin.pages import ReadablePage
from evidence.models import (
    FindingRecord,
    PreparationRun,
    ReviewItemRecord,
    RevisionRecord,
    SourceRecord,
    UnitRecord,
    Workspace,
)
from tests.makers import a_corpus, a_numbered_unit, a_workspace, put, sentence, unit_file

pytestmark = pytest.mark.django_db

MODELS = [
    Workspace,
    SourceRecord,
    UnitRecord,
    ReviewItemRecord,
    FindingRecord,
    RevisionRecord,
    PreparationRun,
]
READ_ONLY = [
    model for model, page in admin.site._registry.items() if isinstance(page, ReadablePage)
]


def place(model: type[Model], step: str, *args: object) -> str:
    return reverse(f"admin:{model._meta.app_label}_{model._meta.model_name}_{step}", args=args)


@pytest.mark.parametrize("model", MODELS)
def test_readers_see_every_list(model: type[Model], reader: Client, workspace: Workspace) -> None:
    assert reader.get(place(model, "changelist")).status_code == 200


@pytest.mark.parametrize("model", [Workspace, SourceRecord, UnitRecord, RevisionRecord])
def test_readers_see_every_page(model: type[Model], reader: Client, workspace: Workspace) -> None:
    row = model._default_manager.first()
    assert row is not None
    page = reader.get(place(model, "change", row.pk))
    assert page.status_code == 200
    assert b"ep-page" in page.content


def test_a_revision_shows_what_it_changed_and_who_made_it(
    reader: Client, workspace: Workspace
) -> None:
    path, data = unit_file(
        a_numbered_unit(0, source="source/nota-0.md", text=sentence(0), title="Regola zero")
    )
    put(conf.current().repository_path(workspace.slug), {f"evidence/{path}": data})
    mirror.sync_workspace(workspace.slug)
    row = RevisionRecord.objects.first()
    assert row is not None
    page = reader.get(place(RevisionRecord, "change", row.pk)).content.decode()
    assert "What it changed" in page
    assert "<ins>zero</ins>" in page
    assert "Ada Lovelace" in page


@pytest.mark.parametrize("model", MODELS)
def test_an_empty_list_says_what_fills_it(model: type[Model], reader: Client) -> None:
    page = admin.site.get_model_admin(model)
    assert isinstance(page, ReadablePage)
    text = reader.get(place(model, "changelist")).content.decode()
    assert str(page.empty_title) in text


def test_somebody_without_a_group_sees_nothing(client: Client, workspace: Workspace) -> None:
    client.force_login(User.objects.create_user("nobody", is_staff=True))
    for model in MODELS:
        assert client.get(place(model, "changelist")).status_code == 403
    unit = UnitRecord.objects.first()
    assert unit is not None
    assert client.get(place(UnitRecord, "change", unit.pk)).status_code == 403
    assert client.get("/admin/").status_code == 200


@pytest.mark.parametrize("model", READ_ONLY)
def test_nobody_adds_changes_or_deletes_a_row_superusers_included(
    model: type[Model], owner: Client, workspace: Workspace
) -> None:
    row = model._default_manager.first()
    assert owner.get(place(model, "add")).status_code in {404, 405}
    assert owner.post(place(model, "add"), {"title": "x"}).status_code in {404, 405}
    if row is not None:
        assert owner.post(place(model, "change", row.pk), {"title": "x"}).status_code in {302, 405}
        assert owner.post(place(model, "delete", row.pk), {"post": "yes"}).status_code == 403
        assert model._default_manager.filter(pk=row.pk).exists()
        kept = model._default_manager.get(pk=row.pk)
        assert kept.__dict__.keys() == row.__dict__.keys()


def test_the_bulk_deletion_of_django_is_not_offered(owner: Client, workspace: Workspace) -> None:
    for model in READ_ONLY:
        page = owner.get(place(model, "changelist"))
        assert b"delete_selected" not in page.content


def test_a_list_asks_as_often_for_200_rows_as_for_10(reader: Client, portal_home: Path) -> None:
    for slug, size in (("poche", 10), ("molte", 200)):
        mirror.sync_workspace(a_workspace(a_corpus(size, slug=slug), slug=slug).slug)
    for model in (SourceRecord, UnitRecord, RevisionRecord, FindingRecord):
        counts = []
        for slug in ("poche", "molte"):
            with CaptureQueriesContext(connection) as queries:
                page = reader.get(place(model, "changelist"), {"workspace": slug})
            assert page.status_code == 200
            counts.append(len(queries))
        assert counts[0] == counts[1], model


def test_a_note_that_200_units_quote_asks_as_often_as_one(
    reader: Client, portal_home: Path
) -> None:
    counts = []
    for slug, size in (("poche", 2), ("molte", 200)):
        made = a_workspace(a_corpus(size, slug=slug, units_a_source=size), slug=slug)
        mirror.sync_workspace(made.slug)
        row = SourceRecord.objects.get(workspace__slug=slug)
        with CaptureQueriesContext(connection) as queries:
            page = reader.get(place(SourceRecord, "change", row.pk))
        assert f"{size} units quote this note" in page.content.decode()
        counts.append(len(queries))
    assert counts[0] == counts[1]


def test_filters_narrow_by_workspace_kind_purpose_and_need(
    reader: Client, workspace: Workspace
) -> None:
    other = a_workspace(a_corpus(1, slug="altra"), slug="altra")
    mirror.sync_workspace(other.slug)
    UnitRecord.objects.filter(workspace=workspace, evidence_id="evidence:regola-0").update(
        open_items=1
    )

    def shown(**filters: str) -> int:
        page = reader.get(place(UnitRecord, "changelist"), filters)
        return int(page.context["cl"].result_count)

    assert shown() == 3
    assert shown(workspace="clinica") == 2
    assert shown(kind="glossary") == 3
    assert shown(kind="formula") == 0
    assert shown(purpose="disambiguation") == 3
    assert shown(purpose="sql_generation") == 0
    assert shown(attention="open") == 1
    assert shown(attention="invalid") == 0


def test_pages_speak_the_language_of_the_browser(reader: Client, workspace: Workspace) -> None:
    place_of_units = place(UnitRecord, "changelist")
    italian = reader.get(place_of_units, headers={"accept-language": "it"}).content.decode()
    english = reader.get(place_of_units, headers={"accept-language": "en"}).content.decode()
    assert "Voce di glossario" in italian
    assert "Glossary term" in english


@pytest.mark.parametrize("model", MODELS)
@pytest.mark.parametrize("name", ["q", "workspace", "state__exact", "p"])
def test_a_nul_in_an_address_is_refused_before_the_database(
    model: type[Model], name: str, reader: Client, workspace: Workspace
) -> None:
    assert reader.get(place(model, "changelist"), {name: "a\0b"}).status_code == 400
