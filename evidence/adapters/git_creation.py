"""Make the bare repository of a workspace: with files, or one branch of a local repository."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from pathlib import Path, PurePosixPath

from evidence.adapters import git_import, git_process
from evidence.adapters.git_import import People, Words
from evidence.adapters.git_listing import text_of
from evidence.adapters.git_process import FILES_ONLY
from evidence.domain.tree import WORKSPACE_FILE
from evidence.faults import OperatorFault
from evidence.messages import Message, gettext_noop

DEFAULT_BRANCH = "main"
IMPORT_TIMEOUT_S = 600.0


class NothingToImport(OperatorFault):
    """A path holds no Git repository, or not the branch that is wanted."""

    code = "repository_not_found"
    hint = gettext_noop("Give the folder of a Git repository with at least one commit.")


def create(path: Path, *, branch: str = DEFAULT_BRANCH) -> None:
    """Make an empty bare repository without hooks or samples."""
    path.mkdir(parents=True, exist_ok=True)
    git_process.output(
        path, "init", "--quiet", "--bare", "--template=", f"--initial-branch={branch}"
    )


def start(
    path: Path, files: Mapping[str, bytes], *, people: People, at: datetime, message: str
) -> str:
    """Make a bare repository whose first commit holds these files; give the branch's name."""
    create(path)
    words = Words(people, at, message)
    commit = git_import.write_commit(path, files, parent=None, words=words)
    git_process.output(path, "update-ref", f"refs/heads/{DEFAULT_BRANCH}", commit)
    return DEFAULT_BRANCH


def import_branch(source: Path, into: Path, *, branch: str | None = None) -> str:
    """Copy one branch of a local repository (by default its current one) and give its name.

    Nothing else comes along: no remote, no tag, no hook, no configuration (spec 70, `add`).
    Raises `NothingToImport`.
    """
    place = source.resolve()
    create(into, branch=branch or DEFAULT_BRANCH)
    wanted = branch or _current_branch(place, into)
    answer = git_process.run(
        into,
        *("fetch", "--quiet", "--no-tags", "--no-recurse-submodules", "--no-write-fetch-head"),
        *("--end-of-options", str(place), f"refs/heads/{wanted}:refs/heads/{wanted}"),
        protocols=FILES_ONLY,
        timeout=IMPORT_TIMEOUT_S,
    )
    if answer.code:
        raise _nothing(place, answer)
    git_process.output(into, "symbolic-ref", "HEAD", f"refs/heads/{wanted}")
    return wanted


def workspace_folders(path: Path, commit: str) -> tuple[str, ...]:
    """Give every folder of a revision that holds a `workspace.yaml`; `""` is the root."""
    out = git_process.output(path, "ls-tree", "-r", "-z", "--name-only", "--full-tree", commit)
    files = [PurePosixPath(text_of(name)) for name in out.split(b"\0")[:-1]]
    return tuple(
        "" if file.parent == PurePosixPath() else str(file.parent)
        for file in files
        if file.name == WORKSPACE_FILE
    )


def _current_branch(source: Path, into: Path) -> str:
    answer = git_process.run(
        into, "ls-remote", "--symref", "--end-of-options", str(source), "HEAD", protocols=FILES_ONLY
    )
    first = answer.out.decode("utf-8", "replace").partition("\n")[0]
    target = first.removeprefix("ref: ").partition("\t")[0]
    if answer.code or not target.startswith("refs/heads/"):
        raise _nothing(source, answer)
    return target.removeprefix("refs/heads/")


def _nothing(source: Path, answer: git_process.Answer) -> NothingToImport:
    reason = answer.error.partition("\n")[0][:300] or "HEAD is not a branch with a commit"
    message = gettext_noop("Nothing could be taken from this repository: %(reason)s")
    return NothingToImport(Message(message, reason=reason), path=str(source))
