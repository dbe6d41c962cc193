"""Steps of a person: one commit in their name each, and no word is lost."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from django.db import connection

from evidence import committing, conf, curation, mirror, plugged
from evidence.domain.codec import parse_curated_markdown
from evidence.domain.identifiers import unit_path
from evidence.domain.manifest import ManifestInvalid, parse_manifest
from evidence.domain.normalization import source_hash
from evidence.domain.resolution import ResolutionRefused
from evidence.domain.tree import ChangeSet
from evidence.domain.units import UnitInvalid
from evidence.models import PortalCommit, SourceRecord, UnitRecord, Workspace
from evidence.ports import EditConflict
from tests.makers import (
    CURATOR,
    a_corpus,
    a_numbered_unit,
    a_unit,
    a_workspace,
    git,
    put,
    sentence,
    unit_file,
)

pytestmark = pytest.mark.django_db

UNIT = "curated/glossary/regola-0.md"
TEXT = "La regola 0 vale per i pediatrici.\n"


@pytest.fixture
def workspace(portal_home: Path) -> Workspace:
    made = a_workspace(a_corpus(2))
    mirror.sync_workspace(made.slug)
    return made


def bare(workspace: Workspace) -> Path:
    return conf.current().repository_path(workspace.slug)


def head(workspace: Workspace) -> str:
    return plugged.repository(workspace.slug).head("main")


def stored(workspace: Workspace, path: str) -> tuple[str, bytes]:
    repository = plugged.repository(workspace.slug)
    entry = repository.entry(head(workspace), f"evidence/{path}")
    assert entry is not None
    return entry.blob, repository.blobs([entry.blob])[entry.blob]


def edited(title: str) -> str:
    unit = a_unit("evidence:regola-0", source="source/nota-0.md", text=TEXT, title=title)
    return unit_file(unit)[1].decode()


def save(workspace: Workspace, text: str, *, blob: str, path: str = UNIT) -> str:
    return curation.save_file(
        workspace=workspace.slug, path=path, text=text, blob=blob, author=CURATOR
    )


def test_a_save_is_one_commit_of_the_person_and_is_mirrored(workspace: Workspace):
    blob, _ = stored(workspace, UNIT)
    made = save(workspace, edited("Nuovo titolo"), blob=blob)
    assert made == head(workspace)
    said = git(bare(workspace), "log", "-1", "--format=%an|%ae|%cn|%B", made)
    assert said.startswith("Ada Lovelace|ada@example.org|Evidence Portal|Edit Nuovo titolo")
    trailers = git(bare(workspace), "log", "-1", "--format=%(trailers:only)", made)
    assert trailers.splitlines() == ["Evidence-Id: evidence:regola-0", "Portal-Action: save"]
    assert PortalCommit.objects.get(commit=made).username == CURATOR.username
    assert UnitRecord.objects.get(path=UNIT).title == "Nuovo titolo"


def test_a_stale_edit_keeps_the_text_and_commits_nothing(workspace: Workspace):
    blob, base = stored(workspace, UNIT)
    theirs = save(workspace, edited("Il loro"), blob=blob)
    with pytest.raises(curation.StaleEdit) as stale:
        save(workspace, edited("Il nostro"), blob=blob)
    assert stale.value.base == base
    assert b"Il loro" in (stale.value.theirs or b"")
    assert b"Il nostro" in (stale.value.ours or b"")
    assert head(workspace) == theirs


def test_a_stale_edit_from_a_blob_nobody_knows_has_no_common_version(workspace: Workspace):
    with pytest.raises(curation.StaleEdit) as stale:
        save(workspace, edited("x"), blob="1" * 40)
    assert stale.value.base is None


def test_a_push_between_the_guard_and_the_commit_is_a_conflict(
    workspace: Workspace, monkeypatch: pytest.MonkeyPatch
):
    blob, _ = stored(workspace, UNIT)
    guarded = curation._guarded

    def overtaken(*args, **kwargs):
        found = guarded(*args, **kwargs)
        put(bare(workspace), {f"evidence/{UNIT}": edited("Da fuori").encode()})
        return found

    monkeypatch.setattr(curation, "_guarded", overtaken)
    with pytest.raises(EditConflict) as conflict:
        save(workspace, edited("Il nostro"), blob=blob)
    assert b"Da fuori" in (conflict.value.theirs or b"")


def test_a_save_that_says_the_same_makes_no_commit(workspace: Workspace):
    before = head(workspace)
    blob, data = stored(workspace, UNIT)
    assert save(workspace, data.decode().replace("\n", "\r\n"), blob=blob) == before
    assert save(workspace, data.decode() + "\n\n", blob=blob) == before
    assert not PortalCommit.objects.exists()


def test_the_same_edit_made_by_somebody_else_first_is_theirs(workspace: Workspace):
    blob, _ = stored(workspace, UNIT)
    theirs = put(bare(workspace), {f"evidence/{UNIT}": edited("Uguale").encode()})
    assert save(workspace, edited("Uguale"), blob=blob) == theirs
    assert not PortalCommit.objects.exists()


def test_a_broken_file_can_be_repaired(workspace: Workspace):
    put(bare(workspace), {f"evidence/{UNIT}": b"---\nid: [\n"})
    mirror.sync_workspace(workspace.slug)
    assert not UnitRecord.objects.get(path=UNIT).is_valid
    blob, _ = stored(workspace, UNIT)
    save(workspace, edited("Riparata"), blob=blob)
    assert UnitRecord.objects.get(path=UNIT).is_valid


@pytest.mark.parametrize(
    ("path", "text", "fault"),
    [
        (UNIT, "---\nid: [\n---\n", UnitInvalid),
        (UNIT, "no front matter", UnitInvalid),
        ("curated/enum/regola-0.md", edited("x"), curation.MisplacedUnit),
        ("curated/glossary/altra.md", edited("x"), curation.MisplacedUnit),
        ("manifest.yaml", "sources: [", ManifestInvalid),
        ("source/a\u200bb.md", "x", committing.PathRefused),
        ("source/../b.md", "x", committing.PathRefused),
        ("source/NOTA-0.md", "x", committing.PathRefused),
        ("source/nota-0.md/x.md", "x", committing.PathRefused),
        ("elsewhere.md", "x", committing.PathRefused),
        ("source/half.md", "\ud800", curation.NoteRefused),
    ],
)
def test_what_cannot_be_saved_is_refused_and_commits_nothing(
    workspace: Workspace, path: str, text: str, fault: type[Exception]
):
    before = head(workspace)
    blob = stored(workspace, path)[0] if path in {UNIT, "manifest.yaml"} else ""
    with pytest.raises(fault):
        save(workspace, text, blob=blob, path=path)
    assert head(workspace) == before


def test_a_unit_whose_id_stands_under_another_kind_is_refused(workspace: Workspace):
    unit = a_unit(
        "evidence:regola-0", kind="domain", payload={"topic": "x"}, body="Testo.", text=TEXT
    )
    path, data = unit_file(unit)
    with pytest.raises(committing.IdTaken):
        save(workspace, data.decode(), blob="", path=path)


def test_two_writers_from_one_parent_are_both_mirrored(workspace: Workspace):
    before, repository = head(workspace), plugged.repository(workspace.slug)
    for number in range(2):
        text = f"La regola {number} vale per i pediatrici.\n"
        source = f"source/nota-{number}.md"
        unit = a_unit(f"evidence:regola-{number}", source=source, text=text, title="Insieme")
        path, data = unit_file(unit)
        repository.commit("main", ChangeSet({path: data}), CURATOR.author, "m", before)
    mirror.sync_workspace(workspace.slug)
    assert UnitRecord.objects.filter(title="Insieme").count() == 2


def test_a_note_is_added_under_source_and_waits_for_preparation(workspace: Workspace):
    made = curation.add_source(
        workspace=workspace.slug, name="reparti/uo.md", text="Uno\r\nDue", author=CURATOR
    )
    assert stored(workspace, "source/reparti/uo.md")[1] == b"Uno\nDue\n"
    assert SourceRecord.objects.get(path="source/reparti/uo.md").state == "new"
    assert PortalCommit.objects.get(commit=made).action == "add-source"


@pytest.mark.parametrize(
    ("name", "text", "fault"),
    [
        ("nota-0.md", "x", curation.NoteRefused),
        ("a.exe", "x", curation.NoteRefused),
        ("a.md", " \n", curation.NoteRefused),
        (".hidden.md", "x", curation.NoteRefused),
        ("../x.md", "x", curation.NoteRefused),
        ("NOTA-0.md", "x", committing.PathRefused),
    ],
)
def test_a_note_that_cannot_be_added_is_refused(
    workspace: Workspace, name: str, text: str, fault: type[Exception]
):
    with pytest.raises(fault):
        curation.add_source(workspace=workspace.slug, name=name, text=text, author=CURATOR)


def test_retiring_a_unit_removes_file_and_entry_in_one_commit(workspace: Workspace):
    curation.retire(workspace=workspace.slug, evidence_id="evidence:regola-1", author=CURATOR)
    manifest = parse_manifest(stored(workspace, "manifest.yaml")[1].decode())
    assert "evidence:regola-1" not in manifest.owners()
    assert not UnitRecord.objects.filter(evidence_id="evidence:regola-1").exists()
    with pytest.raises(ResolutionRefused):
        curation.retire(workspace=workspace.slug, evidence_id="evidence:regola-1", author=CURATOR)


def test_relinking_an_orphan_makes_it_publishable_again(workspace: Workspace):
    text = "La regola 1 vale per i pediatrici.\nE altro.\n"
    manifest = stored(workspace, "manifest.yaml")[1].decode()
    digest = parse_manifest(manifest).sources["source/nota-1.md"].sha256
    orphaned = manifest.replace(
        f"  source/nota-1.md:\n    sha256: {digest}\n    units:\n    - evidence:regola-1\n",
        f"  source/nuova.md:\n    sha256: {source_hash(text)}\n    units: []\n",
    ).replace("orphans: []", "orphans:\n- evidence:regola-1")
    put(
        bare(workspace),
        {
            "evidence/manifest.yaml": orphaned.encode(),
            "evidence/source/nota-1.md": None,
            "evidence/source/nuova.md": text.encode(),
        },
    )
    assert not mirror.sync_workspace(workspace.slug).publishable
    assert UnitRecord.objects.get(evidence_id="evidence:regola-1").is_orphan
    curation.relink(
        workspace=workspace.slug,
        evidence_id="evidence:regola-1",
        source="source/nuova.md",
        author=CURATOR,
    )
    row = UnitRecord.objects.get(evidence_id="evidence:regola-1")
    assert (row.is_orphan, row.source_file) == (False, "source/nuova.md")
    assert mirror.sync_workspace(workspace.slug).publishable


def test_a_saved_unit_reads_back_as_it_was_typed(workspace: Workspace):
    blob, _ = stored(workspace, UNIT)
    save(workspace, edited("Con trattino: sì"), blob=blob)
    unit = parse_curated_markdown(stored(workspace, UNIT)[1].decode())
    assert unit.title == "Con trattino: sì"
    assert unit_path(unit.kind, unit.id) == UNIT


@pytest.mark.django_db(transaction=True)
def test_editors_of_different_units_at_once_lose_nothing_and_are_mirrored(portal_home: Path):
    made = a_workspace(a_corpus(4))
    mirror.sync_workspace(made.slug)

    def edit(number: int) -> None:
        try:
            for turn in range(4):
                path, source = f"curated/glossary/regola-{number}.md", f"source/nota-{number}.md"
                unit = a_numbered_unit(
                    number, source=source, text=sentence(number), title=f"Titolo {number} {turn}"
                )
                blob, _ = stored(made, path)
                save(made, unit_file(unit)[1].decode(), blob=blob, path=path)
        finally:
            connection.close()

    with ThreadPoolExecutor(4) as pool:
        list(pool.map(edit, range(4)))
    mirror.sync_workspace(made.slug)
    titles = set(UnitRecord.objects.values_list("title", flat=True))
    assert titles == {f"Titolo {number} 3" for number in range(4)}
    assert PortalCommit.objects.count() == 16
    before = sorted(UnitRecord.objects.values_list("path", "blob"))
    mirror.sync_workspace(made.slug, rebuild=True)
    assert sorted(UnitRecord.objects.values_list("path", "blob")) == before
