"""A sentence for people that remembers how to be translated."""

from __future__ import annotations

from collections.abc import Mapping


def gettext_noop(template: str) -> str:
    """Mark a template for `makemessages` where Django may not be imported; gives it back."""
    return template


class Message(str):
    """An English sentence that is a plain `str`, and still knows its template and values.

    `Message("Column %(name)s is unknown.", name="a.b.c")` equals the rendered English text; a page
    shows `gettext(message.template) % message.values` to a reader of another language.
    """

    template: str
    values: Mapping[str, object]

    __slots__ = ("template", "values")

    def __new__(cls, template: str, **values: object) -> Message:
        """Render the template; without values it is taken literally (a `%` stays a `%`)."""
        rendered = super().__new__(cls, template % values if values else template)
        rendered.template = template
        rendered.values = values
        return rendered
