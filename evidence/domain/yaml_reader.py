"""YAML read as text: no implicit types, nothing ambiguous, every refusal with line and column."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import yaml

from evidence.domain.text import UNSAFE, normalize_text
from evidence.faults import CuratorFault
from evidence.messages import Message, gettext_noop

MAX_DEPTH = 12
_TAB_INDENT = re.compile(r"^ *\t[ \t]*(?=[^ \t\n])", re.MULTILINE)

Place = tuple[str | int, ...]
"""Where a value stands: the keys and indexes that lead to it."""
Marks = dict[Place, tuple[int, int]]
"""The line and column, counted from 1, of each value."""


class FileUnreadable(CuratorFault):
    """A file is not the strict YAML or front matter we read; says at which line and column."""

    code = "file_unreadable"


def read_yaml_mapping(
    text: str, *, first_line: int = 1, marks: Marks | None = None
) -> dict[str, Any]:
    """Give a YAML mapping whose scalars are all text exactly as written (spec 10, Reading).

    Values are `str`, `list` and `dict`. `marks`, when given, is filled with the place of every
    value; lines count from `first_line`. Raises `FileUnreadable` for all but one plain mapping.
    """
    text = readable_text(text, first_line=first_line)
    reader = _Reader(first_line=first_line, marks=marks)
    try:
        for event in yaml.parse(text, yaml.CSafeLoader):
            reader.take(event)
    except yaml.MarkedYAMLError as error:
        raise reader.not_yaml(error) from error
    _refuse_tab_indents(text, reader)
    if not isinstance(reader.root, dict):
        template = gettext_noop("Named fields are needed here, written `name: value`.")
        raise FileUnreadable(Message(template), line=first_line, column=1)
    return reader.root


def readable_text(text: str, *, first_line: int = 1) -> str:
    """Give text without BOM, in NFC, with LF. Raises `FileUnreadable` at a control character."""
    text = normalize_text(text.removeprefix("\ufeff"))
    found = UNSAFE.search(text)
    if found is None:
        return text
    line = first_line + text.count("\n", 0, found.start())
    column = found.start() - text.rfind("\n", 0, found.start())
    template = gettext_noop("The character U+%(code)s is not allowed.")
    raise FileUnreadable(Message(template, code=f"{ord(found[0]):04X}"), line=line, column=column)


@dataclass(slots=True)
class _Level:
    """A mapping or list that is being filled; `key` waits for its value."""

    node: dict[str, Any] | list[Any]
    place: Place
    key: str | None = None


@dataclass(slots=True)
class _Reader:
    """Builds plain values from parser events, so that nothing is resolved or aliased."""

    first_line: int
    marks: Marks | None
    root: Any = None
    documents: int = 0
    stack: list[_Level] = field(default_factory=list)
    blocks: list[tuple[int, int]] = field(default_factory=list)

    def take(self, event: yaml.Event) -> None:
        """Use one event."""
        handler = _HANDLERS.get(type(event))
        if handler is not None:
            handler(self, event)

    def document(self, event: Any) -> None:
        """Start the only document there may be."""
        self.documents += 1
        if self.documents > 1:
            raise self.refusal(event, gettext_noop("Only one YAML document is allowed."))
        if event.version or event.tags:
            raise self.refusal(event, gettext_noop("YAML directives are not allowed."))

    def alias(self, event: Any) -> None:
        """Refuse a reference to another value."""
        raise self.refusal(event, gettext_noop("YAML aliases (*name) are not allowed."))

    def scalar(self, event: Any) -> None:
        """Take a text, as a key or as a value."""
        self._refuse_decoration(event)
        if event.style in {"|", ">"}:
            self.blocks.append((event.start_mark.line, event.end_mark.line))
        self._put(event.value, event)

    def start(self, event: Any) -> None:
        """Open a mapping or a list."""
        self._refuse_decoration(event)
        if self.stack and isinstance(self.stack[-1].node, dict) and self.stack[-1].key is None:
            raise self.refusal(event, gettext_noop("A field name must be text."))
        if len(self.stack) >= MAX_DEPTH:
            raise self.refusal(event, gettext_noop("The YAML is nested too deeply."))
        node: dict[str, Any] | list[Any] = {} if isinstance(event, yaml.MappingStartEvent) else []
        self.stack.append(_Level(node, self._put(node, event)))

    def end(self, _: Any) -> None:
        """Close a mapping or a list."""
        self.stack.pop()

    def _put(self, value: Any, event: Any) -> Place:
        if not self.stack:
            self.root = value
            return ()
        level = self.stack[-1]
        if isinstance(level.node, list):
            place: Place = (*level.place, len(level.node))
            level.node.append(value)
        elif level.key is None:
            return self._name(level, value, event)
        else:
            place = (*level.place, level.key)
            level.node[level.key] = value
            level.key = None
        if self.marks is not None:
            self.marks[place] = self.position(event.start_mark)
        return place

    def _name(self, level: _Level, name: str, event: Any) -> Place:
        if name in level.node:
            template = gettext_noop("The field “%(name)s” is given twice.")
            raise self.refusal(event, template, name=name)
        level.key = name
        return level.place

    def _refuse_decoration(self, event: Any) -> None:
        if event.anchor:
            raise self.refusal(event, gettext_noop("YAML anchors (&name) are not allowed."))
        if event.tag:
            raise self.refusal(event, gettext_noop("YAML tags (!name) are not allowed."))

    def position(self, mark: Any) -> tuple[int, int]:
        """Give the line and column of a parser mark, counted from 1 in the whole file."""
        return self.first_line + mark.line, mark.column + 1

    def refusal(self, event: Any, template: str, **values: object) -> FileUnreadable:
        """Give the fault for an event that is not allowed."""
        line, column = self.position(event.start_mark)
        return FileUnreadable(Message(template, **values), line=line, column=column)

    def not_yaml(self, error: yaml.MarkedYAMLError) -> FileUnreadable:
        """Give the fault for text the YAML parser itself refuses."""
        mark = error.problem_mark or error.context_mark
        line, column = self.position(mark) if mark else (self.first_line, 1)
        message = Message(
            gettext_noop("This is not YAML: %(reason)s."), reason=error.problem or "?"
        )
        return FileUnreadable(message, line=line, column=column)


_HANDLERS: dict[type, Callable[[_Reader, Any], None]] = {
    yaml.DocumentStartEvent: _Reader.document,
    yaml.AliasEvent: _Reader.alias,
    yaml.ScalarEvent: _Reader.scalar,
    yaml.MappingStartEvent: _Reader.start,
    yaml.SequenceStartEvent: _Reader.start,
    yaml.MappingEndEvent: _Reader.end,
    yaml.SequenceEndEvent: _Reader.end,
}


def _refuse_tab_indents(text: str, reader: _Reader) -> None:
    # libyaml lets some tabs through (flow collections, continued scalars); a literal block may
    # begin a line of its own text with one.
    if "\t" not in text:
        return
    for found in _TAB_INDENT.finditer(text):
        line = text.count("\n", 0, found.start())
        if not any(first < line < last for first, last in reader.blocks):
            message = Message(gettext_noop("Tabs are not allowed in the indentation."))
            column = found[0].index("\t") + 1
            raise FileUnreadable(message, line=reader.first_line + line, column=column)
