"""Why a value was refused, field by field, in words that can be translated."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from pydantic import ValidationError

from evidence.messages import Message, gettext_noop


@dataclass(frozen=True, slots=True)
class Problem:
    """One refused field: its dotted path (empty for the whole) and the reason."""

    field: str
    message: Message


class FieldRefused(ValueError):
    """Raised inside validators: carries the `Message` through pydantic unharmed."""

    def __init__(self, message: Message) -> None:
        """Keep the message beside the text that pydantic shows."""
        super().__init__(str(message))
        self.message = message


_TEMPLATES: Mapping[str, str] = {
    "missing": gettext_noop("This field is required."),
    "extra_forbidden": gettext_noop("This field is not known here."),
    "string_type": gettext_noop("This must be text."),
    "int_type": gettext_noop("This must be a number."),
    "int_parsing": gettext_noop("This must be a number."),
    "bool_type": gettext_noop("This must be true or false."),
    "bool_parsing": gettext_noop("This must be true or false."),
    "tuple_type": gettext_noop("This must be a list."),
    "list_type": gettext_noop("This must be a list."),
    "dict_type": gettext_noop("This must hold named fields."),
    "model_type": gettext_noop("This must hold named fields."),
    "model_attributes_type": gettext_noop("This must hold named fields."),
    "string_too_short": gettext_noop("At least %(min_length)s character is needed."),
    "string_too_long": gettext_noop("At most %(max_length)s characters are allowed."),
    "too_short": gettext_noop("At least %(min_length)s entry is needed."),
    "too_long": gettext_noop("At most %(max_length)s entries are allowed."),
    "enum": gettext_noop("This must be one of: %(expected)s."),
    "literal_error": gettext_noop("This must be %(expected)s."),
    "greater_than_equal": gettext_noop("This must be at least %(ge)s."),
    "less_than_equal": gettext_noop("This must be at most %(le)s."),
}

_COUNTS = frozenset({"too_short", "too_long"})


def problems_of(error: ValidationError) -> tuple[Problem, ...]:
    """Give every error pydantic found as a problem with its dotted field path."""
    return tuple(
        Problem(field=".".join(map(str, entry["loc"])), message=_message(entry))
        for entry in error.errors(include_url=False)
    )


def _message(entry: Mapping[str, Any]) -> Message:
    context = entry.get("ctx", {})
    carried = context.get("error")
    if isinstance(carried, FieldRefused):
        return carried.message
    # Behind a validator of ours pydantic no longer knows that a value is text.
    counted = "string_" if entry["type"] in _COUNTS and isinstance(entry["input"], str) else ""
    template = _TEMPLATES.get(counted + entry["type"])
    if template is None:
        return Message(gettext_noop("This is not valid: %(reason)s."), reason=entry["msg"])
    return Message(template, **context)
