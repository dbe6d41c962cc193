"""The file of a unit: strict front matter and a Markdown body, read and written (spec 10)."""

from __future__ import annotations

from typing import Any

from evidence.domain.problems import Problem
from evidence.domain.units import CuratedEvidence, UnitInvalid, build_unit
from evidence.domain.yaml_reader import (
    FileUnreadable,
    Marks,
    Place,
    read_yaml_mapping,
    readable_text,
)
from evidence.domain.yaml_writer import write_yaml
from evidence.faults import CuratorFault
from evidence.messages import Message, gettext_noop

__all__ = [
    "MAX_FILE_BYTES",
    "FileUnreadable",
    "UnitTooLarge",
    "dump_curated_markdown",
    "parse_curated_markdown",
    "read_front_matter",
    "read_yaml_mapping",
    "write_yaml",
]

MAX_FILE_BYTES = 64 * 1024
_FENCE = "---"


class UnitTooLarge(CuratorFault):
    """A unit's file would be over 64 KiB."""

    code = "unit_too_large"


def parse_curated_markdown(text: str, *, path: str | None = None) -> CuratedEvidence:
    """Give the unit a file holds (spec 10, Reading).

    Raises `UnitTooLarge`, or `UnitInvalid` with the problems by field, and the line and column
    of the first; `path` is only where the fault says it happened.
    """
    _refuse_large(text, path=path or "")
    try:
        front, body = _split(readable_text(text))
        data = read_yaml_mapping(front, first_line=2)
    except FileUnreadable as fault:
        problem = Problem(field="", message=fault.message)
        raise UnitInvalid(
            (problem,), path=path or "", line=fault.line, column=fault.column
        ) from fault
    try:
        return build_unit(_with_body(data, body))
    except UnitInvalid as fault:
        line, column = _locate(front, fault.problems[0].field)
        raise UnitInvalid(fault.problems, path=path or "", line=line, column=column) from fault


def dump_curated_markdown(unit: CuratedEvidence) -> str:
    """Give the one canonical text of a unit (spec 10, Writing). Raises `UnitTooLarge`."""
    fields = unit.model_dump(mode="json", exclude_defaults=True)
    body = fields.pop("body", "")
    text = f"{_FENCE}\n{write_yaml(fields)}{_FENCE}\n{body}{_terminal_newline(body)}"
    _refuse_large(text, path="")
    return text


def read_front_matter(text: str) -> tuple[dict[str, Any], str]:
    """Split a file into its front matter, all scalars as text, and the body behind it.

    Raises `FileUnreadable` with line and column.
    """
    front, body = _split(readable_text(text))
    return read_yaml_mapping(front, first_line=2), body


def _split(text: str) -> tuple[str, str]:
    first, newline, rest = text.partition("\n")
    if first.rstrip(" \t") != _FENCE or not newline:
        template = gettext_noop("The file must begin with front matter between two lines of ---.")
        raise FileUnreadable(Message(template), line=1, column=1)
    start = 0
    while start < len(rest):
        end = rest.find("\n", start)
        end = len(rest) if end < 0 else end
        if rest.startswith(_FENCE, start) and rest[start:end].rstrip(" \t") == _FENCE:
            return rest[:start], rest[end + 1 :]
        start = end + 1
    template = gettext_noop("The front matter is not closed by a line of ---.")
    raise FileUnreadable(Message(template), line=1, column=1)


def _with_body(data: dict[str, Any], body: str) -> dict[str, Any]:
    # A `body` field in the front matter would say the same thing twice; the model refuses the name.
    if "body" in data:
        template = gettext_noop("The body is written below the front matter.")
        raise UnitInvalid((Problem(field="body", message=Message(template)),))
    return {**data, "body": body}


def _locate(front: str, field: str) -> tuple[int, int]:
    """Give the line and column of a field, or of the nearest thing around it that is written."""
    marks: Marks = {}
    read_yaml_mapping(front, first_line=2, marks=marks)
    names: Place = tuple(int(name) if name.isdigit() else name for name in field.split("."))
    while names and names not in marks:
        names = names[:-1]
    return marks.get(names, (1, 1))


def _refuse_large(text: str, *, path: str) -> None:
    size = len(text.encode("utf-8", "surrogatepass"))
    if size > MAX_FILE_BYTES:
        template = gettext_noop("The file holds %(size)s bytes; at most %(limit)s are allowed.")
        raise UnitTooLarge(Message(template, size=size, limit=MAX_FILE_BYTES), path=path)


def _terminal_newline(body: str) -> str:
    return "\n" if body else ""
