"""Messages in the reader's language: where a `Message` meets Django's catalogues."""

from __future__ import annotations

from collections.abc import Mapping

from django.utils.translation import gettext

from evidence.messages import Message


def sentence(message: str) -> str:
    """Give a message in the active language; a plain string as it stands."""
    return filled(message.template, message.values) if isinstance(message, Message) else message


def filled(template: str, values: Mapping[str, object]) -> str:
    """Translate a template and put its values in; without values a `%` stays a `%`."""
    if not template:
        return ""
    words = {name: _word(name, value) for name, value in values.items()}
    translated = gettext(template)
    return translated % words if words else translated


def _word(name: str, value: object) -> object:
    # A message may carry another one, such as a field's problem inside a sentence about the field;
    # what a file says of a doubt has lost that form, and may be a sentence of ours all the same.
    if isinstance(value, Message):
        return sentence(value)
    return gettext(value) if name == "message" and isinstance(value, str) and value else value
