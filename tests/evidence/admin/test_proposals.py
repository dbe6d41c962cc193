"""From the button to the commit: preparing a note, reading the proposal, deciding on it."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from django.test import Client
from django.urls import reverse
from pytest_django import DjangoCaptureOnCommitCallbacks

from evidence import conf, mirror, runs, wiring
from evidence.domain.runs import RunState
from evidence.models import PreparationRun, SourceRecord, UnitRecord, Workspace
from evidence.proposed import proposed_changes as changes_of
from portal.celery import app
from tests.evidence.admin.conftest import SignIn, seen
from tests.makers import a_workspace, put, yaml_of_workspace

pytestmark = pytest.mark.django_db

NOTE = "# Dimissioni\n\nDimissione protetta: dimissione con assistenza a casa.\n"
HOSTILE = "<script>alert(1)</script>Ricovero <b>ordinario</b>: ricovero con pernottamento.\n"


@pytest.fixture
def eager() -> Iterator[None]:
    """Let tasks run where they are sent, without a broker."""
    app.conf.update(task_always_eager=True, task_eager_propagates=True)
    yield
    app.conf.update(task_always_eager=False, task_eager_propagates=False)


@pytest.fixture
def waiting(workspace: Workspace) -> Workspace:
    """Give the workspace with one more note, which nobody has prepared."""
    add(workspace, "source/dimissioni.md", NOTE)
    return workspace


@pytest.fixture
def proposed(waiting: Workspace) -> PreparationRun:
    """Give a proposal that waits for a decision."""
    run = runs.start_preparation(
        workspace=waiting.slug, requested_by="curators", restructurer="rules"
    )
    return runs.run_preparation(run.pk)


def add(workspace: Workspace, path: str, text: str) -> None:
    put(conf.current().repository_path(workspace.slug), {f"evidence/{path}": text.encode()})
    mirror.sync_workspace(workspace.slug)


def place(step: str, run: PreparationRun) -> str:
    return reverse(f"admin:evidence_preparationrun_{step}", args=[run.pk])


def test_the_list_of_notes_offers_to_prepare_what_changed(
    curator: Client, waiting: Workspace
) -> None:
    page = curator.get(reverse("admin:evidence_sourcerecord_changelist")).content.decode()
    assert "1 note waits to be prepared" in page
    assert reverse("admin:evidence_prepare", args=["clinica"]) in page


def test_preparing_starts_a_run_and_sends_its_task_once_it_is_committed(
    curator: Client,
    waiting: Workspace,
    django_capture_on_commit_callbacks: DjangoCaptureOnCommitCallbacks,
    eager: None,
) -> None:
    with django_capture_on_commit_callbacks() as sent:
        answer = curator.post(reverse("admin:evidence_prepare", args=["clinica"]))
    run = PreparationRun.objects.get()
    assert (run.state, run.requested_by) == (RunState.WAITING, "curators")
    assert answer.headers["Location"] == place("change", run)
    for send in sent:
        send()
    run.refresh_from_db()
    assert run.state == RunState.PROPOSED


def test_a_dead_broker_only_delays_a_preparation(
    curator: Client,
    waiting: Workspace,
    django_capture_on_commit_callbacks: DjangoCaptureOnCommitCallbacks,
) -> None:
    with django_capture_on_commit_callbacks(execute=True):
        answer = curator.post(reverse("admin:evidence_prepare", args=["clinica"]), follow=True)
    assert answer.status_code == 200
    assert "Waiting for a worker" in answer.content.decode()
    assert PreparationRun.objects.get().state == RunState.WAITING


def test_only_the_ticked_notes_are_prepared(curator: Client, waiting: Workspace) -> None:
    add(waiting, "source/altra.md", "Una nota in più.\n")
    row = SourceRecord.objects.get(path="source/altra.md")
    curator.post(
        reverse("admin:evidence_sourcerecord_changelist"),
        {"action": "prepare_selected", "_selected_action": [row.pk]},
    )
    assert PreparationRun.objects.get().only == ["source/altra.md"]


@pytest.mark.parametrize("path", ["source/altrove.md", "../x", "a\0b", "source/nota-0.md"])
def test_a_note_of_another_workspace_is_no_choice(
    curator: Client, waiting: Workspace, path: str
) -> None:
    other = a_workspace({"workspace.yaml": yaml_of_workspace("altra")}, slug="altra")
    mirror.sync_workspace(other.slug)
    answer = curator.post(
        reverse("admin:evidence_prepare", args=["altra"]), {"only": [path]}, follow=True
    )
    assert "Choose notes of this workspace." in answer.content.decode()
    assert not PreparationRun.objects.exists()


def test_a_second_preparation_is_refused_in_words(
    curator: Client, proposed: PreparationRun
) -> None:
    answer = curator.post(reverse("admin:evidence_prepare", args=["clinica"]), follow=True)
    assert "preparation_under_way" in answer.content.decode()
    assert PreparationRun.objects.count() == 1


def test_readers_neither_prepare_nor_decide(reader: Client, proposed: PreparationRun) -> None:
    assert reader.post(reverse("admin:evidence_prepare", args=["clinica"])).status_code == 403
    assert reader.post(place("accept", proposed)).status_code == 403
    assert reader.post(place("discard", proposed), {"reason": "no"}).status_code == 403
    taken_out = {"unit": "evidence:dimissione-protetta", "reason": "no"}
    assert reader.post(place("drop", proposed), taken_out).status_code == 403
    page = reader.get(place("change", proposed)).content.decode()
    assert "Dimissione protetta" in page
    assert "Accept all" not in page


def test_the_steps_are_never_a_get(curator: Client, proposed: PreparationRun) -> None:
    assert curator.get(reverse("admin:evidence_prepare", args=["clinica"])).status_code == 405
    assert curator.get(place("accept", proposed)).status_code == 405
    assert curator.get(place("discard", proposed)).status_code == 405
    assert curator.get(place("drop", proposed)).status_code == 405


def test_progress_is_told_until_the_run_has_ended(reader: Client, waiting: Workspace) -> None:
    run = runs.start_preparation(workspace=waiting.slug, requested_by="x", restructurer="rules")
    PreparationRun.objects.filter(pk=run.pk).update(
        state=RunState.RUNNING, sources_total=4, sources_done=1
    )
    told = reader.get(place("progress", run)).json()
    words = "1 of 4 notes read"
    assert told == {"ended": False, "done": 1, "total": 4, "words": words, "rows": []}
    page = reader.get(place("change", run)).content.decode()
    assert f'data-progress="{place("progress", run)}"' in page
    PreparationRun.objects.filter(pk=run.pk).update(state=RunState.EMPTY)
    assert reader.get(place("progress", run)).json()["ended"] is True


def test_a_proposal_shows_each_unit_next_to_its_passage(
    curator: Client, proposed: PreparationRun
) -> None:
    page = curator.get(place("change", proposed)).content.decode()
    assert "1 unit would change" in page
    assert "dimissione con assistenza a casa" in page
    assert '<blockquote class="ep-quote">Dimissione protetta' in page
    assert "source/dimissioni.md" in page


def test_accepting_makes_one_commit_of_the_person(
    curator: Client, proposed: PreparationRun
) -> None:
    answer = curator.post(place("accept", proposed), seen(proposed), follow=True)
    proposed.refresh_from_db()
    assert proposed.state == RunState.ACCEPTED
    assert "Accepted" in answer.content.decode()
    assert UnitRecord.objects.filter(source_file="source/dimissioni.md").exists()
    again = curator.post(place("accept", proposed), follow=True)
    assert "proposal_closed" in again.content.decode()


def test_the_ticked_notes_alone_are_accepted(curator: Client, waiting: Workspace) -> None:
    add(waiting, "source/ricoveri.md", "Ricovero ordinario: ricovero con pernottamento.\n")
    run = runs.start_preparation(
        workspace=waiting.slug, requested_by="curators", restructurer="rules"
    )
    runs.run_preparation(run.pk)
    page = curator.get(place("change", run)).content.decode()
    assert '<input type="checkbox" name="source" value="source/ricoveri.md" form="some">' in page
    refused = curator.post(place("accept", run), {"ticked": "1", **seen(run)}, follow=True)
    assert "source_not_proposed" in refused.content.decode()
    ticked = {"ticked": "1", "source": ["source/ricoveri.md"], **seen(run)}
    told = curator.post(place("accept", run), ticked, follow=True).content.decode()
    assert "These notes were left out" in told
    assert '<li class="ep-path">source/dimissioni.md</li>' in told
    states = dict(SourceRecord.objects.values_list("path", "state"))
    assert states["source/ricoveri.md"] == "prepared"
    assert states["source/dimissioni.md"] == "new"


def test_one_new_unit_is_taken_out_with_a_reason(curator: Client, proposed: PreparationRun) -> None:
    unit = "evidence:dimissione-protetta"
    page = curator.get(place("change", proposed)).content.decode()
    assert f'<input type="hidden" name="unit" value="{unit}">' in page
    refused = curator.post(place("drop", proposed), {"unit": unit, "reason": " "}, follow=True)
    assert "Say why" in refused.content.decode()
    unknown = {"unit": "evidence:regola-0", "reason": "No."}
    refused = curator.post(place("drop", proposed), unknown, follow=True)
    assert "unit_not_new" in refused.content.decode()
    said = {"unit": unit, "reason": "È una <b>bozza</b>."}
    told = curator.post(place("drop", proposed), said, follow=True).content.decode()
    assert "È una &lt;b&gt;bozza&lt;/b&gt;." in told
    assert "No unit would change" in told
    curator.post(place("accept", proposed), seen(proposed))
    assert not UnitRecord.objects.filter(evidence_id=unit).exists()
    assert SourceRecord.objects.get(path="source/dimissioni.md").state == "prepared"
    again = curator.post(place("drop", proposed), said, follow=True)
    assert "proposal_closed" in again.content.decode()


def test_a_proposal_of_one_note_offers_no_choice(curator: Client, proposed: PreparationRun) -> None:
    page = curator.get(place("change", proposed)).content.decode()
    assert "Accept all" in page
    assert "Accept the ticked notes" not in page


def test_a_branch_that_moved_is_told_before_anybody_accepts(
    curator: Client, waiting: Workspace, proposed: PreparationRun
) -> None:
    assert "moved on" not in curator.get(place("change", proposed)).content.decode()
    add(waiting, "source/altra.md", "Una nota in più.\n")
    assert "but nothing overlaps" in curator.get(place("change", proposed)).content.decode()
    change = changes_of(wiring.repository(waiting.slug), proposed)
    path = next(path for path in change.changes if path.startswith("curated/"))
    add(waiting, path, "di altri")
    page = curator.get(place("change", proposed)).content.decode()
    assert "Others changed the same files" in page
    words = "“Dimissione protetta”, of the note source/dimissioni.md"
    assert f'<li>{words} <small class="ep-path">{path}</small></li>' in page


def test_discarding_wants_a_reason_and_changes_nothing(
    curator: Client, proposed: PreparationRun
) -> None:
    refused = curator.post(place("discard", proposed), {"reason": " "}, follow=True)
    assert "Say why" in refused.content.decode()
    curator.post(place("discard", proposed), {"reason": "La nota è una bozza."})
    proposed.refresh_from_db()
    assert (proposed.state, proposed.discard_reason) == (RunState.DISCARDED, "La nota è una bozza.")
    assert not UnitRecord.objects.filter(source_file="source/dimissioni.md").exists()


def test_a_failed_preparation_says_what_happened_with_its_code(
    reader: Client, waiting: Workspace
) -> None:
    run = PreparationRun.objects.create(
        workspace=waiting,
        restructurer="rules",
        requested_by="x",
        state=RunState.FAILED,
        error={"code": "worker_lost", "message": "Lost.", "path": "source/a.md", "hint": "Look."},
    )
    page = reader.get(place("change", run)).content.decode()
    assert "worker_lost" in page
    assert "source/a.md" in page


def test_a_removed_note_shows_the_units_that_lose_their_source(
    curator: Client, workspace: Workspace
) -> None:
    put(conf.current().repository_path(workspace.slug), {"evidence/source/nota-0.md": None})
    mirror.sync_workspace(workspace.slug)
    run = runs.start_preparation(workspace=workspace.slug, requested_by="x", restructurer="rules")
    runs.run_preparation(run.pk)
    page = curator.get(place("change", run)).content.decode()
    assert "Regola 0" in page
    assert "loses its source" in page


def test_a_changed_note_shows_what_changes_and_what_is_kept_in_doubt(
    curator: Client, workspace: Workspace
) -> None:
    add(workspace, "source/nota-0.md", "Regola zero: non vale più per nessuno.\n")
    run = runs.start_preparation(workspace=workspace.slug, requested_by="x", restructurer="rules")
    runs.run_preparation(run.pk)
    page = curator.get(place("change", run)).content.decode()
    assert "kept, in doubt" in page
    assert "source_no_longer_supports_unit" in page
    assert '<pre class="ep-raw ep-diff"' in page


def test_a_hostile_note_is_shown_and_never_lives(sign_in: SignIn, workspace: Workspace) -> None:
    add(workspace, "source/ostile.md", HOSTILE)
    row = SourceRecord.objects.get(path="source/ostile.md")
    client = sign_in("Curators")
    page = client.get(reverse("admin:evidence_sourcerecord_change", args=[row.pk]))
    assert "<script>alert(1)" not in page.content.decode()
    assert "ricovero con pernottamento" in page.content.decode()


def test_a_note_is_written_as_one_commit(curator: Client, workspace: Workspace) -> None:
    write = reverse("admin:evidence_sourcerecord_write")
    answer = curator.post(write, {"name": "dimissioni.md", "text": NOTE})
    assert answer.status_code == 302
    assert SourceRecord.objects.get(path="source/dimissioni.md").state == "new"


def test_a_note_for_a_workspace_that_is_none_has_no_page(
    curator: Client, workspace: Workspace
) -> None:
    write = reverse("admin:evidence_sourcerecord_write")
    assert curator.get(write, {"workspace": "clinica"}).status_code == 200
    for slug in ("altrove", "a\0b"):
        assert curator.get(write, {"workspace": slug}).status_code == 404


@pytest.mark.parametrize("name", ["../fuori.md", ".nascosta.md", "nota.exe", "nota-0.md"])
def test_a_note_with_a_bad_name_keeps_its_text(
    curator: Client, workspace: Workspace, name: str
) -> None:
    write = reverse("admin:evidence_sourcerecord_write")
    answer = curator.post(write, {"name": name, "text": "Parole scritte con fatica."})
    assert answer.status_code == 200
    assert "Parole scritte con fatica." in answer.content.decode()
    assert 'role="alert"' in answer.content.decode()


def test_a_note_is_downloaded_byte_for_byte(reader: Client, workspace: Workspace) -> None:
    row = SourceRecord.objects.get(path="source/nota-0.md")
    answer = reader.get(reverse("admin:evidence_sourcerecord_download", args=[row.pk]))
    assert answer.content == b"La regola 0 vale per i pediatrici.\n"
    assert answer.headers["Content-Disposition"].startswith("attachment")
