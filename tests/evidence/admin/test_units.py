"""The page of a unit and its editor: one commit a save, and no word is lost."""

from __future__ import annotations

from pathlib import Path

import pytest
from django.test import Client
from django.urls import reverse

from evidence import conf, mirror, plugged
from evidence.admin.wording import KINDS
from evidence.domain.manifest import Manifest, ManifestSource, dump_manifest
from evidence.domain.normalization import source_hash
from evidence.models import (
    FindingRecord,
    PortalCommit,
    ReviewItemRecord,
    SourceRecord,
    UnitRecord,
    Workspace,
)
from portal.demo import loading
from tests.evidence.admin.conftest import SignIn
from tests.makers import a_unit, a_workspace, put, sentence, unit_file

pytestmark = pytest.mark.django_db

UNIT = "curated/glossary/regola-0.md"


def the_unit(path: str = UNIT) -> UnitRecord:
    return UnitRecord.objects.select_related("workspace").get(path=path)


def place(step: str, record: UnitRecord) -> str:
    return reverse(f"admin:evidence_unitrecord_{step}", args=[record.pk])


def text_of(record: UnitRecord) -> str:
    repository = plugged.repository(record.workspace.slug)
    return repository.blobs([record.blob])[record.blob].decode()


def push_unit(workspace: Workspace, data: bytes) -> UnitRecord:
    put(conf.current().repository_path(workspace.slug), {f"evidence/{UNIT}": data})
    mirror.sync_workspace(workspace.slug)
    return the_unit()


def with_doubts(*codes: str) -> bytes:
    items = [{"code": code, "message": f"Doubt {code}?"} for code in codes]
    unit = a_unit(
        "evidence:regola-0", source="source/nota-0.md", text=sentence(0), review_items=items
    )
    return unit_file(unit)[1]


def test_a_unit_is_shown_with_its_excerpt_in_its_note(reader: Client, workspace: Workspace) -> None:
    page = reader.get(place("change", the_unit())).content.decode()
    assert "Meno di 18 anni." in page
    assert '<mark class="ep-mark" title="Regola 0">La regola 0 vale per i pediatrici' in page
    assert "Edit the text" not in page


def test_readers_cannot_edit_settle_retire_or_relink(reader: Client, workspace: Workspace) -> None:
    for step in ("edit", "settle", "retire", "relink"):
        assert reader.post(place(step, the_unit())).status_code == 403
    assert reader.get(place("edit", the_unit())).status_code == 403


def test_a_step_that_changes_something_is_never_a_get(
    curator: Client, workspace: Workspace
) -> None:
    for step in ("settle", "retire", "relink"):
        assert curator.get(place(step, the_unit())).status_code == 405


def test_saving_makes_one_commit_of_the_person(curator: Client, workspace: Workspace) -> None:
    record = the_unit()
    text = text_of(record).replace("Meno di 18 anni.", "Meno di 18 anni compiuti.")
    answer = curator.post(place("edit", record), {"text": text, "blob": record.blob})
    assert answer.status_code == 302
    assert "compiuti" in text_of(the_unit())
    commit = PortalCommit.objects.get(workspace=workspace)
    assert (commit.username, commit.action) == ("curators", "save")


def test_a_text_from_a_browser_has_its_line_ends_put_right(
    curator: Client, workspace: Workspace
) -> None:
    record = the_unit()
    text = text_of(record).replace("Meno", "Molto meno").replace("\n", "\r\n")
    curator.post(place("edit", record), {"text": text, "blob": record.blob})
    assert "\r" not in text_of(the_unit())


@pytest.mark.parametrize(
    ("before", "after", "code", "line"),
    [
        ("schema_version: 1", "schema_version: 7", "unit_invalid", 2),
        ("term: evidence:regola-0", "word: x", "unit_invalid", None),
        ("- disambiguation", "- everything", "unit_invalid", 7),
        ("---\nschema", "--\nschema", "unit_invalid", None),
    ],
)
def test_a_mistake_keeps_the_text_and_is_marked_with_code_and_line(
    curator: Client, workspace: Workspace, before: str, after: str, code: str, line: int | None
) -> None:
    record = the_unit()
    typed = text_of(record).replace(before, after) + "\nUna riga scritta con fatica.\n"
    answer = curator.post(place("edit", record), {"text": typed, "blob": record.blob})
    page = answer.content.decode()
    assert answer.status_code == 422
    assert "Una riga scritta con fatica." in page
    assert f'<small class="ep-code">{code}</small>' in page
    if line:
        assert f'data-line="{line}"' in page
    assert not PortalCommit.objects.exists()
    assert the_unit().blob == record.blob


def test_a_percent_sign_in_a_mistake_is_shown_as_it_is(
    curator: Client, workspace: Workspace
) -> None:
    record = the_unit()
    typed = text_of(record).replace("- disambiguation", "- 100%s sicuro %d")
    answer = curator.post(place("edit", record), {"text": typed, "blob": record.blob})
    assert answer.status_code == 422
    assert "100%s sicuro %d" in answer.content.decode()


def test_two_people_on_one_unit_see_both_versions_and_the_common_one(
    curator: Client, workspace: Workspace
) -> None:
    opened = the_unit()
    base = text_of(opened)
    theirs = base.replace("Meno di 18 anni.", "Meno di 16 anni.")
    push_unit(workspace, theirs.encode())
    ours = base.replace("Meno di 18 anni.", "Meno di 14 anni.")
    answer = curator.post(place("edit", opened), {"text": ours, "blob": opened.blob})
    page = answer.content.decode()
    assert answer.status_code == 422
    assert all(words in page for words in ("Meno di 14", "Meno di 16", "Meno di 18"))
    assert "<ins>16</ins>" in page
    assert "stale_edit" in page
    assert not PortalCommit.objects.exists()
    again = curator.post(
        place("edit", opened), {"text": ours, "blob": answer.context["form"]["blob"].value()}
    )
    assert again.status_code == 302
    assert "Meno di 14 anni." in text_of(the_unit())


def test_a_unit_that_cannot_be_read_is_shown_with_its_error_and_repaired(
    curator: Client, workspace: Workspace
) -> None:
    good = text_of(the_unit())
    broken = push_unit(workspace, good.replace("kind: glossary", "kind: [glossary").encode())
    assert not broken.is_valid
    page = curator.get(place("change", broken)).content.decode()
    assert "kind: [glossary" in page
    assert "unit_invalid" in page
    assert "Repair the text" in page
    answer = curator.post(place("edit", broken), {"text": good, "blob": broken.blob})
    assert answer.status_code == 302
    assert the_unit().is_valid


def test_a_file_that_is_not_utf8_is_shown_as_far_as_it_goes(
    curator: Client, workspace: Workspace
) -> None:
    broken = push_unit(workspace, b"---\ntitle: Et\xe0\n---\n")
    page = curator.get(place("change", broken))
    assert page.status_code == 200
    assert "Et\ufffd" in page.content.decode()


def test_settling_a_doubt_takes_that_one_out(curator: Client, workspace: Workspace) -> None:
    record = push_unit(workspace, with_doubts("kind_inferred", "purpose_inferred"))
    answer = curator.post(place("settle", record), {"ordinal": 0, "blob": record.blob})
    assert answer.status_code == 302
    assert [item.code for item in ReviewItemRecord.objects.all()] == ["purpose_inferred"]
    assert PortalCommit.objects.count() == 1


def test_a_doubt_of_a_page_that_is_out_of_date_is_not_settled(
    curator: Client, workspace: Workspace
) -> None:
    opened = push_unit(workspace, with_doubts("kind_inferred", "purpose_inferred"))
    curator.post(place("settle", opened), {"ordinal": 0, "blob": opened.blob})
    answer = curator.post(place("settle", opened), {"ordinal": 0, "blob": opened.blob}, follow=True)
    assert "stale_edit" in answer.content.decode()
    assert [item.code for item in ReviewItemRecord.objects.all()] == ["purpose_inferred"]


def test_a_doubt_leads_to_its_unit(reader: Client, workspace: Workspace) -> None:
    record = push_unit(workspace, with_doubts("kind_inferred"))
    item = ReviewItemRecord.objects.get()
    answer = reader.get(reverse("admin:evidence_reviewitemrecord_change", args=[item.pk]))
    assert answer.headers["Location"] == place("change", record)


def test_an_orphan_is_relinked_or_retired_from_its_page(
    curator: Client, workspace: Workspace
) -> None:
    repository = conf.current().repository_path(workspace.slug)
    put(repository, {"evidence/source/nota-0.md": None})
    mirror.sync_workspace(workspace.slug)
    answer = curator.post(place("retire", the_unit()), follow=True)
    assert "Taken out" in answer.content.decode()
    assert not UnitRecord.objects.filter(path=UNIT).exists()


def test_a_relink_to_a_note_without_the_excerpt_is_refused_in_words(
    curator: Client, workspace: Workspace
) -> None:
    assert SourceRecord.objects.filter(path="source/nota-1.md").exists()
    answer = curator.post(place("relink", the_unit()), {"source": "source/nota-1.md"}, follow=True)
    assert 'class="ep-code"' in answer.content.decode()
    assert the_unit().source_file == "source/nota-0.md"


def test_another_workspaces_unit_is_edited_only_in_its_own_repository(
    curator: Client, workspace: Workspace
) -> None:
    answer = curator.post(
        "/admin/evidence/unitrecord/999999/edit/", {"text": "x", "blob": "0" * 40}
    )
    assert answer.status_code == 404


def test_every_kind_has_a_readable_page(reader: Client, portal_home: Path) -> None:
    demo = Path(loading.__file__).parent / "clinica-demo"
    files = {
        path.relative_to(demo).as_posix(): path.read_bytes()
        for path in demo.rglob("*")
        if path.is_file()
    }
    mirror.sync_workspace(a_workspace(files, slug="clinica-demo").slug)
    shown = {}
    for record in UnitRecord.objects.all():
        page = reader.get(place("change", record)).content.decode()
        assert 'class="ep-mark"' in page, record.path
        shown[record.kind] = page
    assert set(shown) == set(KINDS)
    assert '<pre class="ep-sql"><code>' in shown["formula"]
    assert "Stored value" in shown["enum"]
    assert 'rel="noopener noreferrer nofollow"' in shown["reference"]


def test_a_relink_to_the_note_that_holds_the_excerpt_is_one_commit(
    curator: Client, workspace: Workspace
) -> None:
    repository = conf.current().repository_path(workspace.slug)
    moved = {"evidence/source/nota-0.md": None, "evidence/source/nuova.md": sentence(0).encode()}
    put(repository, moved | {"evidence/source/altra.md": b"Altro.\n"})
    manifest = dump_manifest(
        Manifest(
            sources={
                "source/nuova.md": ManifestSource(sha256=source_hash(sentence(0)), units=()),
                "source/nota-1.md": ManifestSource(
                    sha256=source_hash(sentence(1)), units=("evidence:regola-1",)
                ),
            },
            orphans=("evidence:regola-0",),
        )
    )
    put(repository, {"evidence/manifest.yaml": manifest.encode()})
    mirror.sync_workspace(workspace.slug)
    orphan = the_unit()
    assert orphan.is_orphan
    page = curator.get(place("change", orphan)).content.decode()
    assert "Its source is gone" in page
    assert "<option>source/nuova.md</option>" in page
    curator.post(place("relink", orphan), {"source": "source/nuova.md"})
    assert the_unit().source_file == "source/nuova.md"
    assert not the_unit().is_orphan


def test_a_finding_leads_to_its_unit_its_note_or_the_list(
    reader: Client, workspace: Workspace
) -> None:
    good = text_of(the_unit())
    push_unit(workspace, good.replace("kind: glossary", "kind: [glossary").encode())
    put(
        conf.current().repository_path(workspace.slug),
        {"evidence/source/nuova.md": b"Nuova.\n", "evidence/evaluation.yaml": b"queries: 1\n"},
    )
    mirror.sync_workspace(workspace.slug)

    def leads(path: str) -> str:
        row = FindingRecord.objects.filter(path=path).first()
        assert row is not None, path
        answer = reader.get(reverse("admin:evidence_findingrecord_change", args=[row.pk]))
        return answer.headers["Location"]

    source = SourceRecord.objects.get(path="source/nuova.md")
    assert leads(UNIT) == place("change", the_unit())
    assert leads("source/nuova.md") == reverse(
        "admin:evidence_sourcerecord_change", args=[source.pk]
    )
    assert leads("evaluation.yaml") == reverse("admin:evidence_findingrecord_changelist")


def test_an_operator_synchronizes_and_nobody_else(
    sign_in: SignIn, curator: Client, workspace: Workspace
) -> None:
    put(conf.current().repository_path(workspace.slug), {"evidence/source/x.md": b"Nuova.\n"})
    sync = reverse("admin:evidence_workspace_sync", args=[workspace.pk])
    assert curator.post(sync).status_code == 403
    operator = sign_in("Operators")
    assert operator.get(sync).status_code == 405
    assert "Synchronized." in operator.post(sync, follow=True).content.decode()
    assert SourceRecord.objects.filter(path="source/x.md").exists()
