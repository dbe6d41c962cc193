"""What our YAML files share: text scalars that the models alone judge, and one way to refuse."""

from __future__ import annotations

import re
from typing import Annotated, Any, Literal, TypeVar

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field, ValidationError

from evidence.domain.problems import FieldRefused, problems_of
from evidence.domain.text import Line
from evidence.domain.yaml_reader import FileUnreadable, read_yaml_mapping
from evidence.faults import CuratorFault
from evidence.messages import Message, gettext_noop

MAX_FILE_CHARS = 16 * 1024 * 1024
TRUTH = {"true": True, "false": False}
_DIGEST = re.compile(r"sha256:[0-9a-f]{64}\Z")


class FileModel(BaseModel):
    """A part of one of our YAML files: frozen, strict, no unknown key."""

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True)


Model = TypeVar("Model", bound=FileModel)


def whole_number(value: Any) -> Any:
    """Read a number from the text scalar that the strict YAML reader gives."""
    if isinstance(value, str) and re.fullmatch(r"-?[0-9]{1,18}", value):
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


def read_model(model: type[Model], text: str, refusal: type[CuratorFault]) -> Model:
    """Give what a YAML text says as a frozen model.

    Raises `refusal` for the first problem, after the path of its field; for text that is not our
    strict YAML with its line and column.
    """
    if len(text) > MAX_FILE_CHARS:
        raise refusal(Message(gettext_noop("The file is too large.")))
    try:
        return model.model_validate(read_yaml_mapping(text))
    except ValidationError as error:
        raise refusal(_first_problem(error)) from error
    except FileUnreadable as fault:
        raise refusal(fault.message, line=fault.line, column=fault.column) from fault


def _first_problem(error: ValidationError) -> Message:
    problem = problems_of(error)[0]
    if not problem.field:
        return problem.message
    template = gettext_noop("%(field)s: %(problem)s")
    return Message(template, field=problem.field, problem=problem.message)
