"""Numbers, truth values and words as our YAML files give them: text, judged by the model alone."""

from __future__ import annotations

import re
from typing import Annotated, Literal

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, ValidationError

from evidence.messages import Message

TRUTH = {"true": True, "false": False}


class FileModel(BaseModel):
    """A part of one of our YAML files: frozen, strict, no unknown key."""

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True)


def whole_number(value: object) -> object:
    """Read a number from the text scalar that the strict YAML reader gives."""
    if isinstance(value, str) and re.fullmatch(r"[0-9]{1,9}", value):
        return int(value)
    return value


def truth_value(value: object) -> object:
    """Read `true` or `false` from a text scalar."""
    return TRUTH.get(value, value) if isinstance(value, str) else value


Number = Annotated[int, BeforeValidator(whole_number)]
Truth = Annotated[bool, BeforeValidator(truth_value)]
Version = Annotated[Literal[1], BeforeValidator(whole_number)]
PlainText = Annotated[str, Field(min_length=1, max_length=200, pattern=r"^[^\x00-\x1f\x7f]+$")]
EvidenceIdText = Annotated[
    str, Field(pattern=r"^evidence:[a-z0-9]+(-[a-z0-9]+)*$", max_length=len("evidence:") + 80)
]
Digest = Annotated[str, Field(pattern=r"^sha256:[0-9a-f]{64}$")]
SourcePath = Annotated[str, Field(pattern=r"^source/[^\x00-\x1f\x7f]+$", max_length=1000)]


def first_problem(error: ValidationError) -> Message:
    """Give the first problem of a refused file as `<field path>: <reason>`, without its input."""
    problem = error.errors(include_url=False, include_context=False, include_input=False)[0]
    field = ".".join(str(part) for part in problem["loc"])
    return Message("%(field)s: %(reason)s", field=field, reason=problem["msg"])
