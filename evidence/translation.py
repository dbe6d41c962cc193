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
    # A message may carry another one, such as a field's problem inside a sentence about the field.
    words = {
        name: sentence(value) if isinstance(value, Message) else value
        for name, value in values.items()
    }
    translated = gettext(template)
    return translated % words if words else translated
