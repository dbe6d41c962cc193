"""Every unit that a release says differently leads to the commits that changed it."""

from __future__ import annotations

from pathlib import Path

import pytest

from evidence import conf, mirror, overview, tracing
from evidence.models import Workspace
from evidence.ports import Author
from evidence.tracing import Change, UnitChange
from tests.makers import a_corpus, a_workspace, put

pytestmark = pytest.mark.django_db
ADA = Author("Ada Lovelace", "ada@example.org")
GRACE = Author("Grace Hopper", "grace@example.org")


@pytest.fixture
def workspace(portal_home: Path) -> Workspace:
    made = a_workspace(a_corpus(3))
    mirror.sync_workspace(made.slug)
    return made


def push(
    workspace: Workspace, files: dict[str, bytes | None], author: Author, message: str = "x"
) -> str:
    repository = conf.current().repository_path(workspace.slug)
    commit = put(repository, files, author=author, message=message)
    mirror.sync_workspace(workspace.slug)
    return commit


def traced(workspace: Workspace, before: str, after: str) -> dict[str, UnitChange]:
    authors = overview.authors_between(workspace.slug, before, after)
    return dict(tracing.unit_changes(workspace.slug, before, after, authors=authors))


def test_a_unit_leads_to_the_commits_that_changed_it_and_to_no_other(workspace: Workspace) -> None:
    path = "evidence/curated/glossary/regola-1.md"
    before = mirror.sync_workspace(workspace.slug).head
    first = push(workspace, {path: b"uno"}, ADA, "Una\n\nNon mostrata")
    push(workspace, {"evidence/source/altra.md": b"x"}, ADA)
    after = push(workspace, {path: b"due"}, GRACE, "Due")
    (found,) = traced(workspace, before, after).values()
    assert (found.evidence_id, found.change) == ("evidence:regola-1", Change.CHANGED)
    assert found.path == "curated/glossary/regola-1.md"
    assert [(each.commit, each.name, each.title) for each in found.commits] == [
        (after, "Grace Hopper", "Due"),
        (first, "Ada Lovelace", "Una"),
    ]
    assert all(each.at for each in found.commits)


def test_units_come_and_go_and_one_of_another_kind_has_changed(workspace: Workspace) -> None:
    folder = "evidence/curated"
    before = mirror.sync_workspace(workspace.slug).head
    after = push(
        workspace,
        {
            f"{folder}/glossary/nuova.md": b"x",
            f"{folder}/glossary/regola-0.md": None,
            f"{folder}/glossary/regola-1.md": None,
            f"{folder}/domain/regola-1.md": b"x",
        },
        ADA,
    )
    found = traced(workspace, before, after)
    assert {name: each.change for name, each in found.items()} == {
        "evidence:nuova": Change.ADDED,
        "evidence:regola-0": Change.REMOVED,
        "evidence:regola-1": Change.CHANGED,
    }
    assert found["evidence:regola-1"].path == "curated/domain/regola-1.md"
    assert {one.commit for each in found.values() for one in each.commits} == {after}


def test_what_was_changed_and_changed_back_is_no_change(workspace: Workspace) -> None:
    path = "evidence/curated/glossary/nuova.md"
    before = mirror.sync_workspace(workspace.slug).head
    push(workspace, {path: b"x"}, ADA)
    after = push(workspace, {path: None}, ADA)
    assert traced(workspace, before, after) == {}
