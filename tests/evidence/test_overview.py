"""What pages and publishing are told about workspaces and revisions."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from evidence import conf, curation, mirror, overview
from evidence.domain.workspace import WorkspaceInvalid
from evidence.models import RevisionRecord, Workspace, WorkspaceUnknown
from evidence.ports import Author, RevisionUnknown
from evidence.reading import NotAWorkspace
from tests.makers import CURATOR, a_corpus, a_workspace, put

pytestmark = pytest.mark.django_db


@pytest.fixture
def workspace(portal_home: Path) -> Workspace:
    made = a_workspace(a_corpus(2))
    mirror.sync_workspace(made.slug)
    return made


def push(workspace: Workspace, files: dict[str, bytes | None], **said: Any) -> str:
    return put(conf.current().repository_path(workspace.slug), files, **said)


def test_a_workspace_is_summed_up_by_its_head(workspace: Workspace):
    push(
        workspace,
        {
            "evidence/source/nuova.md": b"Nuova.\n",
            "evidence/source/nota-1.md": b"Cambiata.\n",
            "evidence/curated/glossary/regola-1.md": b"rotta",
        },
    )
    head = mirror.sync_workspace(workspace.slug).head
    summary = overview.workspace(workspace.slug)
    assert (summary.head, summary.title, summary.language) == (head, "Clinica", "it")
    assert (summary.sources_new, summary.sources_changed, summary.sources_removed) == (1, 1, 0)
    assert (summary.units, summary.invalid, summary.waiting) == (2, 1, 2)
    assert not summary.publishable
    assert summary.errors > 0


def test_the_number_of_queries_does_not_grow_with_workspaces(
    workspace: Workspace, django_assert_num_queries
):
    for number in range(3):
        made = a_workspace(a_corpus(1, slug=f"w{number}"), slug=f"w{number}")
        mirror.sync_workspace(made.slug)
    with django_assert_num_queries(5):
        assert len(overview.workspaces()) == 4


def test_an_unknown_workspace_or_revision_is_said(workspace: Workspace):
    for ask in (
        lambda: overview.workspace("nope"),
        lambda: overview.revision("nope", "1" * 40),
        lambda: overview.authors_between("nope", None, "1" * 40),
    ):
        with pytest.raises(WorkspaceUnknown):
            ask()
    with pytest.raises(RevisionUnknown):
        overview.revision(workspace.slug, "1" * 40)


def test_an_older_revision_is_validated_when_somebody_asks(workspace: Workspace):
    good = overview.workspace(workspace.slug).head
    passed_over = push(workspace, {"evidence/evaluation.yaml": None})
    push(workspace, {"evidence/source/nuova.md": b"Nuova.\n"})
    mirror.sync_workspace(workspace.slug)
    assert not RevisionRecord.objects.get(commit=passed_over).is_validated
    summary = overview.revision(workspace.slug, passed_over)
    assert (summary.publishable, summary.errors, summary.position) == (False, 1, 2)
    assert summary.content_digest.startswith("sha256:")
    assert RevisionRecord.objects.get(commit=passed_over).is_validated
    assert overview.revision(workspace.slug, good).publishable


def test_authors_are_the_portals_record_or_else_what_git_says(workspace: Workspace):
    first = overview.workspace(workspace.slug).head
    outside = push(
        workspace, {"evidence/source/x.md": b"x\n"}, author=Author("Lin", "lin@example.org")
    )
    ours = curation.add_source(workspace=workspace.slug, name="y.md", text="y", author=CURATOR)
    authors = overview.authors_between(workspace.slug, first, ours)
    assert [(each.commit, each.username, each.email) for each in authors] == [
        (ours, "curatrice", "ada@example.org"),
        (outside, None, "lin@example.org"),
    ]
    assert len(overview.authors_between(workspace.slug, None, ours)) == 3


def test_the_workspace_file_of_a_revision_is_read_from_git(workspace: Workspace):
    first = overview.workspace(workspace.slug).head
    assert overview.workspace_file(workspace.slug, first).retrieval.fusion == "rrf"
    broken = push(workspace, {"workspace.yaml": b"x: ["})
    with pytest.raises(WorkspaceInvalid):
        overview.workspace_file(workspace.slug, broken)
    gone = push(workspace, {"workspace.yaml": None})
    with pytest.raises(NotAWorkspace):
        overview.workspace_file(workspace.slug, gone)
