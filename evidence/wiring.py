"""The only place that knows which adapter stands behind each port of evidence."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from evidence import conf, offline, plugged
from evidence.adapters import git_creation
from evidence.adapters.git import COMMITTER, GitRepository, now
from evidence.adapters.git_import import People
from evidence.models import Workspace
from evidence.ports import AnswerCache, Author, Memories, Repository, Restructurer


def repository(slug: str) -> Repository:
    """Open the repository of a registered workspace. Raises `WorkspaceUnknown`."""
    workspace = Workspace.named(slug)
    return GitRepository(conf.current().repository_path(slug), folder=workspace.folder)


def repository_at(path: Path, *, folder: str = "") -> Repository:
    """Open a bare repository that belongs to no workspace yet."""
    return GitRepository(path, folder=folder)


def import_branch(source: Path, into: Path, *, branch: str | None) -> str:
    """Copy one branch of a local repository and give its name. Raises `NothingToImport`."""
    return git_creation.import_branch(source, into, branch=branch)


def start_repository(
    path: Path, files: Mapping[str, bytes], *, author: Author, message: str
) -> str:
    """Make a repository whose first commit holds these files; give the branch's name."""
    people = People(author, COMMITTER)
    return git_creation.start(path, files, people=people, at=now(), message=message)


def workspace_folders(path: Path, commit: str) -> tuple[str, ...]:
    """Give every folder of a revision that holds a `workspace.yaml`; `""` is the root."""
    return git_creation.workspace_folders(path, commit)


def restructurer(name: str) -> Restructurer:
    """Open a restructurer by name. Raises `RestructurerUnknown`."""
    settings = conf.current()
    return offline.restructurer(name, pi=settings.pi, home=settings.home)


def answer_cache() -> AnswerCache:
    """Open the cache of answers that were paid for."""
    return offline.answer_cache(conf.current().home)


def memories() -> Memories:
    """Open what earlier preparations found out about the files of workspaces."""
    return offline.memories(conf.current().home)


def plug_in() -> None:
    """Hand the adapters down to the steps; called once, when Django is ready."""
    plugs = plugged.Plugs(
        repository=repository,
        restructurer=restructurer,
        answer_cache=answer_cache,
        memories=memories,
    )
    plugged.fill(plugs)
