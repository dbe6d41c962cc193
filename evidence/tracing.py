"""Which units two revisions say differently, and which commits changed them, and by whom."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from pathlib import PurePosixPath
from typing import Final

from evidence import plugged
from evidence.domain.paths import EVIDENCE_FOLDER
from evidence.overview import CommitAuthor
from evidence.ports import PathChange

_CURATED: Final = "evidence/curated/"


class Change(StrEnum):
    """What became of a unit between two revisions."""

    ADDED = "added"
    CHANGED = "changed"
    REMOVED = "removed"


@dataclass(frozen=True, slots=True)
class UnitChange:
    """One unit that two revisions say differently; `commits` changed it, the newest first."""

    evidence_id: str
    path: str
    """Of its file below `evidence/`, in the later revision unless it is gone there."""
    change: Change
    commits: tuple[CommitAuthor, ...]


def unit_changes(
    slug: str, before: str, after: str, *, authors: Sequence[CommitAuthor]
) -> Mapping[str, UnitChange]:
    """Give, by evidence id, the units that `after` says differently than `before`.

    `authors` are the commits between both, as `overview.authors_between` gives them. A unit that
    moved to another kind, and so to another file, changed. The cost follows the change. Raises
    `WorkspaceUnknown`, `RevisionUnknown`.
    """
    repository = plugged.repository(slug)
    changes = _by_unit(repository.changes(before, after))
    touched = _by_path(authors, repository.touched(before, after))
    return {
        evidence_id: UnitChange(
            evidence_id=evidence_id,
            path=next((each.path for each in files if each.after), files[0].path),
            change=_change(files),
            commits=_commits(files, touched),
        )
        for evidence_id, files in changes.items()
    }


def _by_unit(changes: Sequence[PathChange]) -> dict[str, list[PathChange]]:
    """Give the files of each unit that differ, with paths below `evidence/`."""
    found: dict[str, list[PathChange]] = {}
    for each in changes:
        if each.path.startswith(_CURATED) and each.path.endswith(".md"):
            file = replace(each, path=each.path.removeprefix(EVIDENCE_FOLDER))
            found.setdefault(f"evidence:{PurePosixPath(file.path).stem}", []).append(file)
    return found


def _by_path(
    authors: Sequence[CommitAuthor], touched: Mapping[str, Sequence[str]]
) -> dict[str, list[CommitAuthor]]:
    found: dict[str, list[CommitAuthor]] = {}
    for author in authors:
        for path in touched.get(author.commit, ()):
            found.setdefault(path, []).append(author)
    return found


def _commits(
    files: Sequence[PathChange], touched: Mapping[str, Sequence[CommitAuthor]]
) -> tuple[CommitAuthor, ...]:
    """Give the commits of a unit's files, once each, in the order of the first file's."""
    each_once = {one.commit: one for file in files for one in touched.get(file.path, ())}
    return tuple(each_once.values())


def _change(files: Sequence[PathChange]) -> Change:
    if not any(each.after for each in files):
        return Change.REMOVED
    return Change.CHANGED if any(each.before for each in files) else Change.ADDED
