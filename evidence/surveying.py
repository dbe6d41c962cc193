"""Which files of a revision make its tree, decided on names alone (spec 30, Reading)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from evidence.domain.paths import EVIDENCE_FOLDER, PATH_REFUSED, SYMLINK_REFUSED, is_allowed, twins
from evidence.domain.tree import MAX_BYTES, MAX_FILES, WORKSPACE_FILE, RefusedPath
from evidence.ports import Entry

SYMLINK = "120000"
PLAIN_FILES = frozenset({"100644", "100755", "100664"})


@dataclass(frozen=True, slots=True)
class Survey:
    """The accepted entries by path relative to `evidence/`, the workspace file, and the rest."""

    workspace: Entry | None
    files: Mapping[str, Entry]
    refused: tuple[RefusedPath, ...]


def survey(entries: Iterable[Entry]) -> Survey:
    """Sort the entries of a revision into those that may be read and those that are refused.

    Above the limits one entry is refused and nothing behind it counts.
    """
    listed = tuple(entries)
    refused = [
        RefusedPath(shown(entry.path.removeprefix(EVIDENCE_FOLDER)), code)
        for entry in listed
        if (code := refusal(entry))
    ]
    allowed = [entry for entry in listed if refusal(entry) is None]
    workspace = next((entry for entry in allowed if entry.path == WORKSPACE_FILE), None)
    files: dict[str, Entry] = {}
    size = 0
    for entry in allowed:
        if entry is workspace:
            continue
        path = entry.path.removeprefix(EVIDENCE_FOLDER)
        size += entry.size
        if len(files) >= MAX_FILES or size > MAX_BYTES:
            refused.append(RefusedPath(path, PATH_REFUSED))
            break
        files[path] = entry
    for path in twins(files):
        del files[path]
        refused.append(RefusedPath(path, PATH_REFUSED))
    ordered = sorted(refused, key=lambda each: (each.path, each.code))
    return Survey(workspace, {path: files[path] for path in sorted(files)}, tuple(ordered))


def refusal(entry: Entry) -> str | None:
    """Give the finding code for an entry that may not be in a tree, twins apart."""
    if entry.mode == SYMLINK:
        return SYMLINK_REFUSED
    if entry.mode not in PLAIN_FILES:
        return PATH_REFUSED
    if entry.path == WORKSPACE_FILE:
        return None
    inside = entry.path.startswith(EVIDENCE_FOLDER)
    return None if inside and is_allowed(entry.path.removeprefix(EVIDENCE_FOLDER)) else PATH_REFUSED


def shown(path: str) -> str:
    """Give a name that is not UTF-8 in a form that can be printed and stored."""
    raw = path.encode("utf-8", "surrogateescape")
    return raw.decode("utf-8", "backslashreplace")
