"""A JSON source as sectioned text: by top-level key, printed one member a line."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any, NoReturn

from evidence.domain.sections import Section, SourceUnreadable, sectioned
from evidence.messages import Message, gettext_noop

MAX_DEPTH = 24
"""Printed, a level costs two blanks on each line: much deeper, a megabyte would become fifty."""

# A text that never ends reaches to the end, so that no second quote of it is tried.
_STEPS = re.compile(r'"(?:[^"\\]|\\.)*\\?(?:"|\Z)|[\[\]{}]', re.DOTALL)
_HALF = re.compile("[\ud800-\udfff]")


class _Number(str):
    """A number exactly as it was written: `0.10` stays `0.10`, and no digit is lost."""

    __slots__ = ()


def render_json(text: str) -> str:
    """Give a section for each top-level key; text as words, anything else as printed JSON.

    Raises `SourceUnreadable` for what is not strict JSON: a key twice in one object, NaN, half a
    character, more than 24 levels (spec 90, JSON).
    """
    _refuse_deep(text)
    try:
        data = json.loads(
            text,
            object_pairs_hook=_members,
            parse_int=_Number,
            parse_float=_Number,
            parse_constant=_refuse_constant,
        )
    except json.JSONDecodeError as error:
        message = Message(gettext_noop("This is not JSON: %(reason)s."), reason=error.msg)
        raise SourceUnreadable(message, line=error.lineno, column=error.colno) from error
    rendered = sectioned(_sections(data))
    if _HALF.search(rendered):
        raise SourceUnreadable(gettext_noop("Half of a character stands in a text."))
    return rendered


def _sections(data: Any) -> Iterator[Section]:
    if not isinstance(data, dict):
        yield _section("", data)
        return
    for key, value in data.items():
        yield _section(key, value)


def _section(title: str, value: Any) -> Section:
    if isinstance(value, str) and not isinstance(value, _Number):
        return Section(title, (value,))
    return Section(title, code=_printed(value, ""), language="json")


def _printed(value: Any, pad: str) -> str:
    deeper = f"{pad}  "
    if isinstance(value, dict) and value:
        members = (f"{deeper}{_text(k)}: {_printed(v, deeper)}" for k, v in value.items())
        return "{\n" + ",\n".join(members) + f"\n{pad}}}"
    if isinstance(value, list) and value:
        items = (f"{deeper}{_printed(item, deeper)}" for item in value)
        return "[\n" + ",\n".join(items) + f"\n{pad}]"
    return value if isinstance(value, _Number) else _text(value)


def _text(value: object) -> str:
    return json.dumps(value, ensure_ascii=False)


def _members(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    members: dict[str, Any] = {}
    for key, value in pairs:
        if key in members:
            message = Message(gettext_noop("The key “%(key)s” is given twice."), key=key[:80])
            raise SourceUnreadable(message)
        members[key] = value
    return members


def _refuse_constant(name: str) -> NoReturn:
    message = Message(gettext_noop("%(name)s is no JSON."), name=name)
    raise SourceUnreadable(message)


def _refuse_deep(text: str) -> None:
    depth = 0
    for step in _STEPS.finditer(text):
        depth += {"[": 1, "{": 1, "]": -1, "}": -1}.get(step[0], 0)
        if depth > MAX_DEPTH:
            line = text.count("\n", 0, step.start()) + 1
            raise SourceUnreadable(gettext_noop("The JSON is nested too deeply."), line=line)
