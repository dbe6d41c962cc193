"""Which files under `source/` are sources, and the text each gives (spec 20, Sources)."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from fnmatch import fnmatchcase

from evidence.domain.json_sources import render_json
from evidence.domain.paths import Place, place_of
from evidence.domain.python_sources import render_python
from evidence.domain.sections import SourceUnreadable
from evidence.domain.sql_sources import render_sql
from evidence.domain.text import normalize_text
from evidence.domain.workspace import DEFAULT_FORMATS, WorkspaceFile
from evidence.domain.yaml_sources import render_yaml
from evidence.messages import gettext_noop

Render = Callable[[str], str]
MAX_RENDERED_CHARS = 4 * 1024 * 1024


def _as_it_is(text: str) -> str:
    return text


RENDERERS: Mapping[str, Render] = {
    "md": _as_it_is,
    "markdown": _as_it_is,
    "txt": _as_it_is,
    "sql.md": _as_it_is,
    "yaml": render_yaml,
    "yml": render_yaml,
    "json": render_json,
    "py": render_python,
    "sql": render_sql,
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
    """Give the text that is restructured and searched for excerpts; the hash is of `text`.

    Raises `SourceUnreadable`, with the path, for a file that is not what its name says.
    """
    found = format_of(path, tuple(RENDERERS))
    render = RENDERERS[found] if found else _as_it_is
    try:
        # What was escaped in the file may be composed otherwise than a normalized text is.
        rendered = normalize_text(render(text))
    except SourceUnreadable as fault:
        fault.path = path
        raise
    if len(rendered) > MAX_RENDERED_CHARS:
        raise SourceUnreadable(gettext_noop("Written out, the file is too long."), path=path)
    return rendered


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
