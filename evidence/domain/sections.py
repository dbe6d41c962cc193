"""Sectioned text: what a source that is no note becomes before it is read (spec 20, Sources)."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from evidence.faults import CuratorFault
from evidence.messages import gettext_noop

_BACKTICKS = re.compile(r"`{3,}")


class SourceUnreadable(CuratorFault):
    """A source is not the YAML, JSON, Python or SQL that its name says; says where."""

    code = "source_unreadable"
    hint = gettext_noop("Correct the file, or write what it says as a note.")


@dataclass(frozen=True, slots=True)
class Section:
    """One part of a file: its name, its paragraphs in words, and the code it shows as written.

    Each of them may be empty; `language` is that of the code.
    """

    title: str = ""
    words: tuple[str, ...] = ()
    code: str = ""
    language: str = ""


def sectioned(sections: Iterable[Section]) -> str:
    """Give the sections as Markdown: headings, paragraphs and fenced code, one blank line apart."""
    parts = (part for section in sections for part in _parts(section))
    return "\n\n".join(parts) + "\n"


def comment_words(lines: Iterable[str], marker: str) -> str:
    """Give what full-line comments say, line by line, without the marker that begins them."""
    bare = (line.strip() for line in lines)
    said = (line.lstrip(marker).strip() for line in bare if line.startswith(marker))
    return "\n".join(said).strip("\n")


def _parts(section: Section) -> Iterator[str]:
    title = " ".join(section.title.split())
    if title:
        yield f"# {title}"
    yield from (words.strip("\n") for words in section.words if words.strip())
    if section.code.strip():
        yield _fenced(section.code.strip("\n"), section.language)


def _fenced(code: str, language: str) -> str:
    longest = max(_BACKTICKS.findall(code), key=len, default="``")
    fence = "`" * (len(longest) + 1)
    return f"{fence}{language}\n{code}\n{fence}"
