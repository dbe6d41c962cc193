"""Numbers and truth values as our YAML files give them: text, judged by the model alone."""

from __future__ import annotations

import re
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field, ValidationError

from evidence.domain.problems import FieldRefused, problems_of
from evidence.domain.text import Line
from evidence.messages import Message, gettext_noop

TRUTH = {"true": True, "false": False}
_DIGEST = re.compile(r"sha256:[0-9a-f]{64}\Z")


class FileModel(BaseModel):
    """A part of one of our YAML files: frozen, strict, no unknown key."""

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True)


def whole_number(value: Any) -> Any:
    """Read a number from the text scalar that the strict YAML reader gives."""
    if isinstance(value, str) and re.fullmatch(r"[0-9]{1,9}", value):
        return int(value)
    return value


def truth_value(value: Any) -> Any:
    """Read `true` or `false` from a text scalar."""
    return TRUTH.get(value, value) if isinstance(value, str) else value


def empty_section(value: Any) -> Any:
    """Read `section:` with nothing below it as a section of defaults."""
    return {} if value == "" else value


def empty_list(value: Any) -> Any:
    """Read `list:` with nothing below it as no entry."""
    return () if value == "" else value


def _digest(text: str) -> str:
    if not _DIGEST.match(text):
        raise FieldRefused(Message(gettext_noop("This must be sha256: and 64 hexadecimal digits.")))
    return text


Number = Annotated[int, BeforeValidator(whole_number)]
"""A whole number written in plain digits."""

Truth = Annotated[bool, BeforeValidator(truth_value)]
"""`true` or `false`, spelled like that."""

Version = Annotated[Literal[1], BeforeValidator(whole_number)]
"""The one schema version."""

Words = Annotated[Line, Field(max_length=200)]
"""One line of at most 200 characters."""

Digest = Annotated[Line, AfterValidator(_digest)]
"""`sha256:` and 64 hexadecimal digits."""


def first_problem(error: ValidationError) -> Message:
    """Give the first problem of a refused file, after the path of its field."""
    problem = problems_of(error)[0]
    if not problem.field:
        return problem.message
    return Message(
        gettext_noop("%(field)s: %(problem)s"), field=problem.field, problem=problem.message
    )
