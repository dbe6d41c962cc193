"""Which files under `source/` are sources, and the text each gives (spec 20, Sources)."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from fnmatch import fnmatchcase

from evidence.domain.paths import Place, place_of
from evidence.domain.workspace import DEFAULT_FORMATS, WorkspaceFile

Render = Callable[[str], str]


def _as_it_is(text: str) -> str:
    return text


RENDERERS: Mapping[str, Render] = {
    "md": _as_it_is,
    "markdown": _as_it_is,
    "txt": _as_it_is,
    "sql.md": _as_it_is,
}
"""How the normalized text of each format becomes the text a restructurer reads."""


def is_accepted(path: str, workspace: WorkspaceFile | None) -> bool:
    """Tell whether a path relative to `evidence/` is a source of this workspace."""
    if place_of(path) is not Place.SOURCE or is_excluded(path, workspace):
        return False
    formats = workspace.evidence.source_formats if workspace else DEFAULT_FORMATS
    return format_of(path, formats) is not None


def is_excluded(path: str, workspace: WorkspaceFile | None) -> bool:
    """Tell whether one of the workspace's patterns names the path.

    A pattern may begin at `source/` or below it; `**` stands for any number of folders, `*` and
    `?` stay within one name.
    """
    if workspace is None or not workspace.evidence.exclude:
        return False
    parts = path.split("/")
    patterns = [pattern.split("/") for pattern in workspace.evidence.exclude]
    return any(_matches(parts, names) or _matches(parts[1:], names) for names in patterns)


def format_of(path: str, formats: tuple[str, ...]) -> str | None:
    """Give the longest of these formats that ends the path, in any case, or None."""
    name = path.rpartition("/")[2].lower()
    fitting = [each for each in formats if name.endswith(f".{each}")]
    return max(fitting, key=len, default=None)


def render_source(path: str, text: str) -> str:
    """Give the text that is restructured and searched for excerpts; the hash is of `text`."""
    found = format_of(path, tuple(RENDERERS))
    return RENDERERS[found](text) if found else text


def _matches(parts: list[str], names: list[str]) -> bool:
    # One row of a table per pattern segment, so that many `**` cost no backtracking.
    reachable = [True] + [False] * len(parts)
    for name in names:
        if name == "**":
            first = reachable.index(True) if True in reachable else len(reachable)
            reachable = [position >= first for position in range(len(reachable))]
            continue
        reachable = [False] + [
            reachable[position] and fnmatchcase(part, name) for position, part in enumerate(parts)
        ]
    return reachable[-1]
