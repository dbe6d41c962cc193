"""Preparation in the portal: computed once, proposed, accepted or discarded."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from django.utils import timezone

from evidence import (
    conf,
    curation,
    mirror,
    plugged,
    proposals,
    proposed,
    run_transitions,
    runs,
    tasks,
)
from evidence.domain.partial import SourceNotProposed
from evidence.domain.runs import RunState
from evidence.models import (
    PortalCommit,
    PreparationRun,
    SourceRecord,
    UnitRecord,
    Workspace,
)
from evidence.ports import (
    EditConflict,
    RestructureCandidate,
    RestructureRequest,
    RestructuringFailed,
    RevisionUnknown,
)
from tests.makers import CURATOR, a_workspace, git, put, yaml_of_workspace

pytestmark = pytest.mark.django_db

NOTE = "# Reparti\n\nUO: unità operativa, il reparto che ha in carico il paziente.\n"


@pytest.fixture
def workspace(portal_home: Path) -> Workspace:
    files = {"workspace.yaml": yaml_of_workspace(), "evidence/source/reparti.md": NOTE.encode()}
    made = a_workspace(files)
    mirror.sync_workspace(made.slug)
    return made


def start(workspace: Workspace, **fields: Any) -> PreparationRun:
    asked: dict[str, Any] = {"requested_by": "curatrice", "restructurer": "rules"} | fields
    return runs.start_preparation(workspace=workspace.slug, **asked)


def push(workspace: Workspace, files: dict[str, bytes | None]) -> str:
    return put(conf.current().repository_path(workspace.slug), files)


def test_a_note_becomes_a_proposal_that_changes_nothing_yet(workspace: Workspace):
    repository = plugged.repository(workspace.slug)
    before = repository.head("main")
    run = runs.run_preparation(start(workspace).pk)
    assert run.state == RunState.PROPOSED, run.error
    assert (run.sources_done, run.sources_total, run.report["model_calls"]) == (1, 1, 1)
    assert repository.head("main") == before
    assert repository.head(run.branch) == run.proposal_commit
    assert not UnitRecord.objects.exists()


def test_accepting_makes_one_commit_of_the_person(workspace: Workspace):
    run = runs.run_preparation(start(workspace).pk)
    made = proposals.accept(run=run, author=CURATOR)
    run.refresh_from_db()
    assert (run.state, run.accepted_commit, run.decided_by) == ("accepted", made, "curatrice")
    assert UnitRecord.objects.filter(source_file="source/reparti.md").exists()
    assert SourceRecord.objects.get().state == "prepared"
    assert PortalCommit.objects.get(commit=made).action == "accept"
    path = conf.current().repository_path(workspace.slug)
    assert "Portal-Action: accept" in git(path, "log", "-1", "--format=%B", made)
    with pytest.raises(RevisionUnknown):
        plugged.repository(workspace.slug).head(run.branch)
    with pytest.raises(run_transitions.ProposalClosed):
        proposals.accept(run=run, author=CURATOR)


def test_what_a_run_found_out_is_kept_for_the_next(workspace: Workspace):
    proposals.accept(run=runs.run_preparation(start(workspace).pk), author=CURATOR)
    kept = plugged.memories().get(f"workspace:{workspace.slug}")
    assert set(kept.sources) == {"source/reparti.md"}
    assert len(kept.units) == 1
    again = runs.run_preparation(start(workspace).pk)
    assert again.state == RunState.EMPTY
    assert plugged.memories().get(f"workspace:{workspace.slug}") == kept


def test_a_second_preparation_finds_nothing_to_do(workspace: Workspace):
    proposals.accept(run=runs.run_preparation(start(workspace).pk), author=CURATOR)
    run = runs.run_preparation(start(workspace).pk)
    assert (run.state, run.report["model_calls"]) == (RunState.EMPTY, 0)


def test_a_proposal_is_replayed_on_a_branch_that_moved_elsewhere(workspace: Workspace):
    run = runs.run_preparation(start(workspace).pk)
    moved = push(workspace, {"evidence/source/altra.md": b"Altra nota.\n"})
    made = proposals.accept(run=run, author=CURATOR)
    (commit,) = plugged.repository(workspace.slug).history(made, after=moved)
    assert commit.parents == (moved,)


def test_accepting_some_notes_leaves_the_others_to_be_prepared_again(workspace: Workspace):
    note = b"Pronto soccorso: il reparto che accoglie le urgenze.\n"
    push(workspace, {"evidence/source/altra.md": note})
    run = runs.run_preparation(start(workspace).pk)
    made = proposals.accept(run=run, author=CURATOR, sources=["source/altra.md"])
    run.refresh_from_db()
    assert (run.state, run.accepted_commit) == (RunState.ACCEPTED, made)
    assert run.left_out == ["source/reparti.md"]
    states = dict(SourceRecord.objects.values_list("path", "state"))
    assert states == {"source/altra.md": "prepared", "source/reparti.md": "new"}
    assert {row.source_file for row in UnitRecord.objects.all()} == {"source/altra.md"}
    again = runs.run_preparation(start(workspace).pk)
    assert again.report["changed"] == ["source/reparti.md"]


def test_choosing_no_note_of_a_proposal_leaves_it_open(workspace: Workspace):
    run = runs.run_preparation(start(workspace).pk)
    with pytest.raises(SourceNotProposed):
        proposals.accept(run=run, author=CURATOR, sources=["source/altrove.md"])
    run.refresh_from_db()
    assert run.state == RunState.PROPOSED


def test_a_branch_that_stands_still_has_not_moved(workspace: Workspace):
    run = runs.run_preparation(start(workspace).pk)
    assert proposed.moved_since(plugged.repository(workspace.slug), run) is None


def test_what_others_did_elsewhere_overlaps_nothing(workspace: Workspace):
    proposals.accept(run=runs.run_preparation(start(workspace).pk), author=CURATOR)
    push(workspace, {"evidence/source/altra.md": b"PS: pronto soccorso.\n"})
    run = runs.run_preparation(start(workspace).pk)
    repository = plugged.repository(workspace.slug)
    unit = UnitRecord.objects.get(source_file="source/reparti.md")
    curation.retire(workspace=workspace.slug, evidence_id=unit.evidence_id, author=CURATOR)
    moved = proposed.moved_since(repository, run)
    assert moved is not None
    assert moved.overlaps == ()
    proposals.accept(run=run, author=CURATOR)


def test_a_file_that_others_changed_is_named_before_anybody_accepts(workspace: Workspace):
    run = runs.run_preparation(start(workspace).pk)
    repository = plugged.repository(workspace.slug)
    changes = proposed.proposed_changes(repository, run).changes
    path = next(path for path in changes if path.startswith("curated/"))
    push(workspace, {f"evidence/{path}": b"di altri", "evidence/source/altra.md": b"x\n"})
    moved = proposed.moved_since(repository, run)
    assert moved is not None
    assert moved.overlaps == (path,)


def test_a_proposal_that_overlaps_says_which_file(workspace: Workspace):
    run = runs.run_preparation(start(workspace).pk)
    changes = proposed.proposed_changes(plugged.repository(workspace.slug), run)
    path = next(path for path in changes.changes if path.startswith("curated/"))
    push(workspace, {f"evidence/{path}": b"di altri"})
    with pytest.raises(EditConflict) as conflict:
        proposals.accept(run=run, author=CURATOR)
    assert conflict.value.path == path
    run.refresh_from_db()
    assert run.state == RunState.PROPOSED


def test_discarding_keeps_the_reason_and_removes_the_branch(workspace: Workspace):
    run = runs.run_preparation(start(workspace).pk)
    proposals.discard(run=run, author=CURATOR, reason=" Troppo vaga. ")
    run.refresh_from_db()
    assert (run.state, run.discard_reason, run.decided_by) == (
        "discarded",
        "Troppo vaga.",
        "curatrice",
    )
    with pytest.raises(run_transitions.ProposalClosed):
        proposals.discard(run=run, author=CURATOR, reason="x")
    start(workspace)


def test_only_one_preparation_of_a_workspace_is_open(workspace: Workspace):
    start(workspace)
    with pytest.raises(runs.PreparationUnderWay):
        start(workspace)


def test_a_failed_run_says_what_where_and_what_to_do(workspace: Workspace):
    push(workspace, {"evidence/manifest.yaml": b"sources: ["})
    run = runs.run_preparation(start(workspace).pk)
    assert run.state == RunState.FAILED
    assert set(run.error) == {"code", "message", "path", "hint"}
    assert run.error["code"] == "manifest_invalid"
    start(workspace)


class Unwilling:
    """A restructurer that gives no usable answer."""

    name = "unwilling"
    local = True
    model = ""
    skill_digest = ""

    def restructure(self, request: RestructureRequest) -> tuple[RestructureCandidate, ...]:
        raise RestructuringFailed("no answer")


@pytest.fixture
def unwilling():
    plugs = plugged._plugs()
    plugged.fill(replace(plugs, restructurer=lambda _: Unwilling()))
    yield
    plugged.fill(plugs)


@pytest.mark.usefixtures("unwilling")
def test_a_restructurer_that_fails_names_the_source(workspace: Workspace):
    run = runs.run_preparation(start(workspace).pk)
    assert run.state == RunState.FAILED
    assert run.error["path"] == "source/reparti.md"


def test_an_unknown_restructurer_is_a_recorded_fault(workspace: Workspace):
    run = runs.run_preparation(start(workspace, restructurer="nobody").pk)
    assert run.error["code"] == "restructurer_unknown"


def test_a_second_delivery_leaves_a_run_that_somebody_computes(workspace: Workspace):
    run = start(workspace)
    until = timezone.now() + timedelta(minutes=1)
    PreparationRun.objects.update(state=RunState.RUNNING, leased_until=until, attempts=1)
    assert runs.run_preparation(run.pk).state == RunState.RUNNING
    assert runs.abandoned() == ()


def test_a_run_whose_worker_was_lost_is_taken_over(workspace: Workspace):
    run = start(workspace)
    past = timezone.now() - timedelta(minutes=1)
    PreparationRun.objects.update(state=RunState.RUNNING, leased_until=past, attempts=1)
    assert runs.abandoned() == (str(run.pk),)
    assert runs.run_preparation(run.pk).state == RunState.PROPOSED


def test_a_run_that_kills_each_worker_fails_at_last(workspace: Workspace):
    run = start(workspace)
    past = timezone.now() - timedelta(minutes=1)
    PreparationRun.objects.update(state=RunState.RUNNING, leased_until=past, attempts=3)
    failed = runs.run_preparation(run.pk)
    assert (failed.state, failed.error["code"]) == (RunState.FAILED, "worker_lost")


def test_only_the_named_sources_are_prepared(workspace: Workspace):
    push(workspace, {"evidence/source/altra.md": b"PS: pronto soccorso.\n"})
    run = runs.run_preparation(start(workspace, only=("source/altra.md",)).pk)
    assert run.report["changed"] == ["source/altra.md"]


def test_tasks_do_the_same_by_id(workspace: Workspace, settings):
    run = start(workspace)
    tasks.prepare_workspace(str(run.pk))
    run.refresh_from_db()
    assert run.state == RunState.PROPOSED
    head = push(workspace, {"evidence/source/altra.md": b"PS: pronto soccorso.\n"})
    Workspace.objects.create(slug="senza", title="x", language="it")
    tasks.sync_workspaces()
    workspace.refresh_from_db()
    assert workspace.mirrored_commit == head
