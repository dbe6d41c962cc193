"""Which files of a workspace the mirror has to look at again, found with Git alone."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass

from evidence.domain.paths import EVIDENCE_FOLDER
from evidence.domain.tree import WORKSPACE_FILE, RefusedPath
from evidence.ports import Entry, PathChange, Repository, RevisionUnknown
from evidence.surveying import refusal, survey

MANY = 5_000
"""Above this many changes, looking at everything is no slower than looking at each."""


@dataclass(frozen=True, slots=True)
class Changed:
    """The files to look at by path relative to `evidence/`; None for one that is gone.

    When `everything` is true, a file that is not named is gone as well, and `workspace` is the
    present workspace file; else the workspace file is as it was. `refused` None means: as it was.
    """

    everything: bool
    files: Mapping[str, Entry | None]
    refused: tuple[RefusedPath, ...] | None
    workspace: Entry | None = None


@dataclass(frozen=True, slots=True)
class Mirrored:
    """What the mirror knows of names: read from the database only when a name came or went."""

    commit: str
    paths: Callable[[], Collection[str]]
    refused: Callable[[], Collection[str]]


def everything(repository: Repository, head: str) -> Changed:
    """Name every file of a revision."""
    found = survey(repository.entries(head))
    return Changed(True, found.files, found.refused, found.workspace)


def changed_since(mirrored: Mirrored, repository: Repository, head: str) -> Changed:
    """Name what differs between the mirrored commit and `head`, also by a change of refusals.

    Names everything when nothing is mirrored, the mirrored commit is lost, the workspace file
    changed, or too much did. A list of all names is taken only when one came or went.
    """
    changes = _changes(mirrored, repository, head)
    if changes is None or any(change.path == WORKSPACE_FILE for change in changes):
        return everything(repository, head)
    if all(_is_an_edit(change) for change in changes):
        refused = mirrored.refused() if changes else ()
        edited = {_inside(change): change.after for change in changes}
        kept = {path: entry for path, entry in edited.items() if path not in refused}
        return Changed(False, kept, None)
    found = survey(repository.entries(head))
    before = set(mirrored.paths())
    touched = {_inside(change) for change in changes} & (before | found.files.keys())
    touched |= before ^ found.files.keys()
    return Changed(False, {path: found.files.get(path) for path in touched}, found.refused)


def _changes(
    mirrored: Mirrored, repository: Repository, head: str
) -> Collection[PathChange] | None:
    if not mirrored.commit:
        return None
    try:
        changes = repository.changes(mirrored.commit, head)
    except RevisionUnknown:
        return None  # Rewritten and cleaned up: what was mirrored is no longer there to compare.
    return changes if len(changes) <= MANY else None


def _is_an_edit(change: PathChange) -> bool:
    before, after = change.before, change.after
    return (
        before is not None
        and after is not None
        and before.mode == after.mode
        and refusal(after) is None
    )


def _inside(change: PathChange) -> str:
    return change.path.removeprefix(EVIDENCE_FOLDER)
