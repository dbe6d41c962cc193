"""Makers of what tests work on: repositories, workspaces, units and sources, all real."""

from __future__ import annotations

import subprocess
from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path

from evidence.adapters import git_creation, git_import, git_process
from evidence.adapters.git import COMMITTER, GitRepository
from evidence.ports import Actor, Author

SOMEBODY = Author("Ada Lovelace", "ada@example.org")
CURATOR = Actor(username="curatrice", name="Ada Lovelace", email="ada@example.org")
NOON = datetime(2026, 1, 2, 12, 0, tzinfo=UTC)


def git(directory: Path, *arguments: str) -> str:
    """Run plain Git as an oracle of its own and give what it prints."""
    done = subprocess.run(
        ["git", f"--git-dir={directory}", *arguments],
        check=True,
        capture_output=True,
        env=git_process.environment(),
    )
    return done.stdout.decode().strip()


def put(
    path: Path,
    files: Mapping[str, bytes | None],
    *,
    message: str = "Commit",
    author: Author = SOMEBODY,
    branch: str = "main",
) -> str:
    """Commit full paths on a branch behind the portal's back, as an outside push does."""
    parent = (
        subprocess.run(
            [
                "git",
                f"--git-dir={path}",
                "rev-parse",
                "--verify",
                "--quiet",
                f"refs/heads/{branch}",
            ],
            capture_output=True,
            check=False,
        )
        .stdout.decode()
        .strip()
    )
    commit = git_import.write_commit(
        path,
        files,
        parent=parent or None,
        people=git_import.People(author, COMMITTER),
        at=NOON,
        message=message,
    )
    git(path, "update-ref", f"refs/heads/{branch}", commit)
    return commit


def a_repository(path: Path, files: Mapping[str, bytes], *, folder: str = "") -> GitRepository:
    """Give a bare repository whose branch `main` holds these full paths in one commit."""
    git_creation.create(path)
    put(path, files, message="Begin")
    return GitRepository(path, folder=folder, clock=lambda: NOON)
