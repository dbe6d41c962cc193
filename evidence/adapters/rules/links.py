"""Pages elsewhere: a web address, what it is called, and what the note says about it."""

from __future__ import annotations

import re
from collections.abc import Iterator

from evidence.adapters.rules.drafts import Draft
from evidence.adapters.rules.names import URL, bare, without_article
from evidence.adapters.rules.note import Note
from evidence.adapters.rules.outline import Section
from evidence.adapters.rules.spans import Span
from evidence.adapters.rules.words import LABEL, NOISE
from evidence.domain.units import EvidenceKind

_LINK = re.compile(r"(?<!!)\[(?P<label>[^\]\n]{1,200})\]\((?P<url>https?://[^\s)]+)[^)]{0,200}\)")
_RELATIVE = re.compile(r"\[[^\]\n]{1,200}\]\((?!https?://)[^)\n]{1,300}\)")
_IMAGE = re.compile(r"!\[[^\]\n]{0,200}\]\([^)\n]{1,500}\)")
_BEFORE = re.compile(r"(?P<label>[^\n]{3,120}?)\s*(?::|=|→|->|\(|<|—|–)\s*$")
MIN_WORDS = 2
_WORD = re.compile(r"\w{3,}")


def references(section: Section, note: Note) -> Iterator[Draft]:
    """Give one draft per web address of a section's free statements."""
    for _, statement in list(note.free_statements(section)):
        plain = _IMAGE.sub(lambda match: " " * len(match[0]), statement.text)
        linked = list(_LINK.finditer(plain))
        for match in linked:
            yield _reference(match["url"], match["label"], statement)
        rest = _LINK.sub(lambda match: " " * len(match[0]), plain)
        for match in URL.finditer(rest):
            before = _BEFORE.search(rest[: match.start()].rpartition("\n")[2])
            label = before["label"] if before else note.topic(section)
            yield _reference(match[0], label, statement)


def is_navigation(statement: Span) -> bool:
    """Tell whether a statement holds nothing but ways through the same site."""
    return all(_is_way(line) for line in statement.text.splitlines())


def _is_way(line: str) -> bool:
    rest = _IMAGE.sub("", _RELATIVE.sub("", line))
    return bool(NOISE.fullmatch(line.strip())) or (rest != line and not _WORD.search(rest))


def _reference(url: str, label: str, statement: Span) -> Draft:
    said = bare(_LINK.sub(r"\g<label>", statement.text).replace(url, " "))
    behind = bare(statement.text.rpartition(url)[2].lstrip(") >-,;:—–")).strip("()")  # the aside
    name = without_article(label)
    if not name or LABEL.fullmatch(name):
        name = said or url
    return Draft(
        kind=EvidenceKind.REFERENCE,
        title=name[:200],
        payload={
            "url": url,
            "label": name[:200],
            "description": behind if len(behind.split()) > MIN_WORDS else said or name,
        },
        spans=(statement,),
        doubts=("purpose_inferred",),
    )
