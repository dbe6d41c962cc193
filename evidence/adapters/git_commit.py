"""Commit a change set by compare-and-swap: one Git process looks up, one stores, one moves."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from evidence.adapters import git_process
from evidence.adapters.git_import import Words, root_of, write_on
from evidence.adapters.git_objects import Lookup, lookup
from evidence.adapters.git_replay import replayed
from evidence.adapters.git_trees import Folder
from evidence.adapters.git_turn import MAX_TRIES, Turn
from evidence.domain.paths import EVIDENCE_FOLDER
from evidence.domain.tree import ChangeSet
from evidence.messages import Message, gettext_noop
from evidence.ports import (
    Check,
    Entry,
    PathChange,
    RepositoryBroken,
    RepositoryBusy,
    RevisionUnknown,
)

SUBMODULE = "160000"
_NO_BRANCH = re.compile(r"[\x00-\x20\x7f~^:?*\[\\]|@\{|\.\.")
"""What no branch's name holds (git-check-ref-format); elsewhere it would name something else."""
_MOVED = ("but expected", "File exists", "already exists")


@dataclass(frozen=True, slots=True)
class Wanted:
    """What shall become a commit, edited as it stood at `expected`; `prefix` is the folder's."""

    change_set: ChangeSet
    expected: str
    prefix: str
    words: Callable[[], Words]
    check: Check | None


def commit(directory: Path, branch: str, wanted: Wanted) -> str:
    """Give the new commit, or the present head when somebody else made the same change.

    The look-ups' process starts before the turn, so that only its answers are waited for in it.
    Raises `EditConflict`, `RepositoryBusy`, `RepositoryBroken`, `RevisionUnknown` (spec 30).
    """
    with (
        lookup(directory) as objects,
        Turn(directory / "evidence-writers.lock") as turn,
    ):
        for _ in range(MAX_TRIES):
            made = _tried(directory, objects, branch, wanted)
            if made is not None:
                return made
            if turn.is_over():
                break
    raise RepositoryBusy(
        gettext_noop("Others kept saving at the same moment."),
        hint=gettext_noop("Save again in a few seconds."),
    )


def unknown(revision: str) -> RevisionUnknown:
    """Say that there is no such revision."""
    message = gettext_noop("There is no revision “%(revision)s” here.")
    return RevisionUnknown(Message(message, revision=revision[:100]))


def _tried(directory: Path, objects: Lookup, branch: str, wanted: Wanted) -> str | None:
    """Give the commit that the branch points at now, or None when somebody else moved it."""
    parent = _head(directory, objects, branch)
    objects.fetch(_names(parent, wanted))
    root = root_of(objects, parent)
    changes = _on(objects, parent, root, wanted)
    if not changes:
        return parent
    paths = {f"{wanted.prefix}{EVIDENCE_FOLDER}{path}": path for path in changes.changes}
    if wanted.check is not None:
        present = frozenset(path for full, path in paths.items() if root.entry(full))
        wanted.check(parent, changes, present)
    files = {full: changes.changes[path] for full, path in paths.items()}
    made = write_on(directory, root, files, parent=parent, words=wanted.words())
    return made if _swap(directory, branch, made, parent) else None


def _head(directory: Path, objects: Lookup, branch: str) -> str:
    if not (directory / "HEAD").exists():
        raise RepositoryBroken(gettext_noop("The repository is not there."))
    found = None if _NO_BRANCH.search(branch) else objects.find(f"refs/heads/{branch}")
    if found is None:
        raise unknown(branch)
    return found.id


def _names(parent: str, wanted: Wanted) -> Iterator[str]:
    """Name the commits and folders that will be looked at."""
    paths = (f"{wanted.prefix}{EVIDENCE_FOLDER}{path}" for path in wanted.change_set.changes)
    folders = sorted({str(folder) for path in paths for folder in PurePosixPath(path).parents})
    for commit_id in dict.fromkeys((parent, wanted.expected)):
        yield commit_id
        yield from (f"{commit_id}:{'' if folder == '.' else folder}" for folder in folders)


def _on(objects: Lookup, parent: str, root: Folder, wanted: Wanted) -> ChangeSet:
    """Give the change set as it stands on `parent`; without a word when the branch did not move."""
    if parent == wanted.expected:
        return wanted.change_set
    opened = root_of(objects, wanted.expected)
    overlaps = [
        PathChange(f"{EVIDENCE_FOLDER}{path}", before, after)
        for path in wanted.change_set.changes
        if (before := opened.entry(f"{wanted.prefix}{EVIDENCE_FOLDER}{path}"))
        != (after := root.entry(f"{wanted.prefix}{EVIDENCE_FOLDER}{path}"))
    ]
    sides = (side for change in overlaps for side in (change.before, change.after))
    return replayed(wanted.change_set, overlaps, _texts(objects, sides))


def _texts(objects: Lookup, sides: Iterable[Entry | None]) -> dict[str, bytes]:
    blobs = {side.blob for side in sides if side and side.mode != SUBMODULE}
    return {blob: objects.get(blob, "blob") for blob in blobs}


def _swap(directory: Path, branch: str, new: str, old: str) -> bool:
    """Move a branch if it still points at `old`; False when somebody else moves it."""
    answer = git_process.run(directory, "update-ref", f"refs/heads/{branch}", new, old)
    if not answer.code:
        return True
    if any(sign in answer.error for sign in _MOVED):
        return False
    raise git_process.broken(answer)
