"""What tests of proposals stand on: a workspace with one note, and a proposal about it."""

from __future__ import annotations

from pathlib import Path

import pytest

from evidence import conf, mirror, plugged, proposed, runs
from evidence.domain.runs import RunState
from evidence.models import PreparationRun, Workspace
from evidence.ports import Actor
from tests.makers import a_workspace, git, put, yaml_of_workspace

UNIT = "evidence:dimissione-protetta"
PATH = "curated/glossary/dimissione-protetta.md"
NOTE = "# Dimissioni\n\nDimissione protetta: dimissione con assistenza a casa.\n"
EDITOR = Actor(username="redattrice", name="Grace Hopper", email="grace@example.org")


@pytest.fixture
def workspace(portal_home: Path) -> Workspace:
    files = {"workspace.yaml": yaml_of_workspace(), "evidence/source/dimissioni.md": NOTE.encode()}
    made = a_workspace(files)
    mirror.sync_workspace(made.slug)
    return made


@pytest.fixture
def run(workspace: Workspace) -> PreparationRun:
    return a_proposal(workspace)


def a_proposal(workspace: Workspace, restructurer: str = "rules") -> PreparationRun:
    """Give a proposal that waits for a decision."""
    asked = runs.start_preparation(
        workspace=workspace.slug, requested_by="curatrice", restructurer=restructurer
    )
    made = runs.run_preparation(asked.pk)
    assert made.state == RunState.PROPOSED, made.error
    return made


def push(workspace: Workspace, files: dict[str, bytes | None]) -> str:
    """Commit behind the portal's back."""
    return put(conf.current().repository_path(workspace.slug), files)


def stored(run: PreparationRun, unit: str = UNIT) -> tuple[str, str]:
    """Give text and blob of a proposed unit as it stands now."""
    run.refresh_from_db()
    repository = plugged.repository(run.workspace.slug)
    entry = proposed.proposed_file(repository, run, unit)
    return repository.blobs([entry.blob])[entry.blob].decode(), entry.blob


def on_branch(workspace: Workspace, path: str = PATH) -> str:
    """Give what the workspace says at a path, by plain Git."""
    where = conf.current().repository_path(workspace.slug)
    return git(where, "show", f"main:evidence/{path}") + "\n"
