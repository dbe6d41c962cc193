"""A YAML source as sectioned text: by document and top-level key, the author's lines kept."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any

import yaml

from evidence.domain.sections import Section, SourceUnreadable, comment_words, sectioned
from evidence.messages import Message, gettext_noop


@dataclass(frozen=True, slots=True)
class _Node:
    """Where a key or a value stands, and the text of one that is a scalar."""

    start: int
    end: int
    scalar: str | None


@dataclass(slots=True)
class _Document:
    """One document: where it stands and, when it is a block mapping, its keys and values.

    `above` is where the document before it ended: comments may stand between them.
    """

    above: int
    start: int
    end: int = 0
    root: _Node | None = None
    children: list[_Node] = field(default_factory=list)
    is_mapping: bool = False


def render_yaml(text: str) -> str:
    """Give a section for each top-level key of each document (spec 20, Sources).

    A text value is given as words, any other as the author's own lines; nothing is resolved, so
    that anchors, tags and types stay what they are. Raises `SourceUnreadable` for what is no YAML
    and for a key that stands twice in one mapping.
    """
    return sectioned(section for document in _documents(text) for section in _of(document, text))


def _documents(text: str) -> list[_Document]:
    reader = _Reader()
    try:
        for event in yaml.parse(text, yaml.CSafeLoader):
            reader.take(event)
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        message = Message(gettext_noop("This is not YAML: %(reason)s."), reason=error.problem)
        line, column = (mark.line + 1, mark.column + 1) if mark else (1, 1)
        raise SourceUnreadable(message, line=line, column=column) from error
    except (yaml.YAMLError, UnicodeEncodeError) as error:
        raise SourceUnreadable(gettext_noop("A character is not allowed in YAML.")) from error
    return reader.documents


@dataclass(slots=True)
class _Level:
    """A mapping or list that is open: the event that opened it, its keys, its nodes so far."""

    opening: Any
    keys: set[str] = field(default_factory=set)
    nodes: int = 0

    def awaits_key(self) -> bool:
        """Tell whether the next node is a key."""
        return isinstance(self.opening, yaml.MappingStartEvent) and self.nodes % 2 == 0


@dataclass(slots=True)
class _Reader:
    """Follows parser events: no value is built, so depth, aliases and types cost nothing."""

    documents: list[_Document] = field(default_factory=list)
    levels: list[_Level] = field(default_factory=list)

    def take(self, event: Any) -> None:
        """Use one event."""
        if isinstance(event, yaml.DocumentStartEvent):
            above = self.documents[-1].end if self.documents else 0
            start = event.end_mark.index if event.explicit else above  # type: ignore[union-attr]
            self.documents.append(_Document(above, start))
        elif isinstance(event, yaml.DocumentEndEvent):
            self.documents[-1].end = event.start_mark.index  # type: ignore[union-attr]
        elif isinstance(event, yaml.CollectionStartEvent):
            self._count(event)
            self.levels.append(_Level(event))
        elif isinstance(event, yaml.CollectionEndEvent):
            self._keep(self.levels.pop().opening, event)
        elif isinstance(event, yaml.NodeEvent):
            self._count(event)
            self._keep(event, event)

    def _count(self, event: Any) -> None:
        """Step on in the mapping or list around a node; refuse a key that was there before."""
        if not self.levels:
            return
        level = self.levels[-1]
        if level.awaits_key() and isinstance(event, yaml.ScalarEvent):
            if event.value in level.keys:
                raise _refused(event, gettext_noop("The key “%(key)s” is given twice."))
            level.keys.add(event.value)
        level.nodes += 1

    def _keep(self, first: Any, last: Any) -> None:
        """Keep where a node of the first or second level stands."""
        scalar = first.value if isinstance(first, yaml.ScalarEvent) else None
        node = _Node(first.start_mark.index, last.end_mark.index, scalar)
        document = self.documents[-1]
        if not self.levels:
            document.root = node
            document.is_mapping = _is_block_mapping(first)
        elif len(self.levels) == 1 and _is_block_mapping(self.levels[0].opening):
            document.children.append(node)


def _refused(event: Any, template: str) -> SourceUnreadable:
    mark = event.start_mark
    message = Message(template, key=event.value[:80])
    return SourceUnreadable(message, line=mark.line + 1, column=mark.column + 1)


def _is_block_mapping(event: Any) -> bool:
    return isinstance(event, yaml.MappingStartEvent) and not event.flow_style


def _of(document: _Document, text: str) -> Iterator[Section]:
    yield Section(words=(_comments(text[document.above : document.start]),))
    if not document.is_mapping:
        yield _whole(document, text)
        return
    keys, values = document.children[::2], document.children[1::2]
    starts = [_start_of(key, text, document.start) for key in keys]
    yield Section(words=(_comments(text[document.start : starts[0]]),))
    for key, value, (start, end) in zip(
        keys, values, pairwise([*starts, document.end]), strict=True
    ):
        yield _entry(text, key, value, start=start, end=end)


def _entry(text: str, key: _Node, value: _Node, *, start: int, end: int) -> Section:
    title = key.scalar if key.scalar is not None else text[key.start : key.end]
    above = _comments(text[start : key.start])
    if value.scalar is None:
        code = text[key.start : end].rstrip()
        return Section(title, (above,), code, "yaml")
    return Section(title, (above, value.scalar, _comments(text[value.end : end])))


def _whole(document: _Document, text: str) -> Section:
    if document.root is not None and document.root.scalar is not None:
        return Section(words=(document.root.scalar,))
    return Section(code=text[document.start : document.end], language="yaml")


def _start_of(key: _Node, text: str, first: int) -> int:
    """Give where the comment lines right above a key begin: they speak of it."""
    start = max(text.rfind("\n", 0, key.start) + 1, first)
    while start > first:
        above = max(text.rfind("\n", 0, start - 1) + 1, first)
        if not text[above:start].lstrip().startswith("#"):
            break
        start = above
    return start


def _comments(text: str) -> str:
    return comment_words(text.split("\n"), "#")
