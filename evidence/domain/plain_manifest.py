"""A quick way to read and write the manifests that we write ourselves, where nothing is quoted.

What it takes is a small regular language, in which the strict YAML reader finds nothing to refuse
and the writer nothing to quote: plain ASCII paths, well-formed ids and hashes, one pipeline
version. Whatever else a manifest may hold is left to those two.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

_ID = r"evidence:(?=[a-z0-9-]{1,80}$)[a-z0-9]+(?:-[a-z0-9]+)*"
_HEAD = re.compile(r"schema_version: 1\npipeline_version: (evidence-authoring-v[0-9]{1,9})\n")
_SOURCES = "sources:\n"
_NO_SOURCES = "sources: {}\n"
_ENTRY = re.compile(
    # At most 120 characters, else the writer marks the key with `?`.
    r"  (source/[A-Za-z0-9_./-]{1,113}):\n"
    r"    sha256: (sha256:[0-9a-f]{64})\n"
    rf"    units:(?: \[\]|((?:\n    - {_ID})+))$\n",
    re.MULTILINE,
)
_ORPHANS = re.compile(rf"orphans:(?: \[\]|((?:\n- {_ID})+))$\n\Z", re.MULTILINE)

Entries = Mapping[str, tuple[str, tuple[str, ...]]]
"""The hash and the ids of each source, by path."""


@dataclass(frozen=True, slots=True)
class PlainManifest:
    """What such a manifest says; nothing in it needs to be checked again but that ids repeat."""

    pipeline_version: str
    sources: Entries
    orphans: tuple[str, ...]


def read_plain(text: str) -> PlainManifest | None:
    """Give what a manifest says, or None where the strict reader must say what it is."""
    head = _HEAD.match(text)
    if head is None:
        return None
    sources, end = _read_sources(text, head.end())
    orphans = _ORPHANS.match(text, end)
    if sources is None or orphans is None:
        return None
    return PlainManifest(head[1], sources, _ids(orphans[1]))


def write_plain(manifest: PlainManifest) -> str | None:
    """Give the canonical text, or None where something has to be quoted; keys come as they are."""
    head = f"schema_version: 1\npipeline_version: {manifest.pipeline_version}\n"
    entries = [
        f"  {path}:\n    sha256: {sha256}\n    units:{_listed(units, '    ')}\n"
        for path, (sha256, units) in manifest.sources.items()
    ]
    tail = f"orphans:{_listed(manifest.orphans, '')}\n"
    plain = _HEAD.fullmatch(head) and _ORPHANS.fullmatch(tail)
    if not plain or not all(map(_ENTRY.fullmatch, entries)):
        return None
    return "".join((head, _SOURCES if entries else _NO_SOURCES, *entries, tail))


def _read_sources(text: str, start: int) -> tuple[Entries | None, int]:
    if text.startswith(_NO_SOURCES, start):
        return {}, start + len(_NO_SOURCES)
    if not text.startswith(_SOURCES, start):
        return None, start
    sources: dict[str, tuple[str, tuple[str, ...]]] = {}
    end = start + len(_SOURCES)
    for entry in _adjacent(text, end):
        if entry[1] in sources:  # a name twice is refused, with its place
            return None, start
        sources[entry[1]] = (entry[2], _ids(entry[3]))
        end = entry.end()
    return sources or None, end


def _adjacent(text: str, start: int) -> Iterator[re.Match[str]]:
    while entry := _ENTRY.match(text, start):
        yield entry
        start = entry.end()


def _ids(listed: str | None) -> tuple[str, ...]:
    return tuple(line.lstrip(" -") for line in listed.split("\n")[1:]) if listed else ()


def _listed(ids: Sequence[str], pad: str) -> str:
    return "".join(f"\n{pad}- {each}" for each in ids) if ids else " []"
