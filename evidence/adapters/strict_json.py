"""JSON as a stranger may write it: what `json.loads` would let pass and we do not is refused."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Sequence
from typing import NoReturn

from evidence.messages import Message, gettext_noop

MAX_BYTES = 1024 * 1024
MAX_DEPTH = 16
MAX_DIGITS = 20
# A string, whole or cut off, or one bracket; what is no string is looked at once only.
_TOKEN = re.compile(r'"(?:[^"\\]|\\.)*+"?|[\[{]|[\]}]', re.DOTALL)


class JsonRefused(ValueError):
    """Something else than the JSON we take; the message never repeats what was read."""

    def __init__(self, message: Message) -> None:
        """Keep the message, translatable."""
        super().__init__(str(message))
        self.message = message


def read_json(data: bytes) -> object:
    """Give the one JSON value in `data`: text, whole and finite numbers, lists, unique names.

    Raises `JsonRefused` for anything around it, more than 1 MiB, nesting beyond 16, a name that
    stands twice, NaN, infinities, and lone surrogates (spec 90, JSON from a model).
    """
    text = _decoded(data)
    _refuse_depth(text)
    try:
        value = json.loads(
            text,
            object_pairs_hook=_unique,
            parse_constant=_refuse_constant,
            parse_float=_finite,
            parse_int=_short,
        )
    except json.JSONDecodeError as error:
        template = gettext_noop("not JSON at line %(line)s, column %(column)s")
        raise JsonRefused(Message(template, line=error.lineno, column=error.colno)) from None
    _refuse_surrogates(value)
    return value


def _decoded(data: bytes) -> str:
    if len(data) > MAX_BYTES:
        raise JsonRefused(Message(gettext_noop("more than %(limit)s bytes"), limit=MAX_BYTES))
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError as error:
        template = gettext_noop("not UTF-8 at byte %(offset)s")
        raise JsonRefused(Message(template, offset=error.start)) from None


def _refuse_depth(text: str) -> None:
    depth = 0
    for token in _TOKEN.finditer(text):
        opening = text[token.start()]
        if opening != '"':
            depth += 1 if opening in "[{" else -1
        if depth > MAX_DEPTH:
            template = gettext_noop("nested deeper than %(limit)s")
            raise JsonRefused(Message(template, limit=MAX_DEPTH))


def _unique(pairs: Sequence[tuple[str, object]]) -> dict[str, object]:
    found = dict(pairs)
    if len(found) < len(pairs):
        raise JsonRefused(Message(gettext_noop("a name stands twice in one object")))
    return found


def _refuse_constant(_: str) -> NoReturn:
    raise JsonRefused(Message(gettext_noop("a number that is not finite")))


def _finite(digits: str) -> float:
    number = float(digits)
    if not math.isfinite(number):
        _refuse_constant(digits)
    return number


def _short(digits: str) -> int:
    if len(digits) > MAX_DIGITS:
        raise JsonRefused(Message(gettext_noop("a number that is too long")))
    return int(digits)


def _refuse_surrogates(value: object) -> None:
    try:
        json.dumps(value, ensure_ascii=False).encode()
    except UnicodeEncodeError:
        raise JsonRefused(Message(gettext_noop("half of a surrogate pair"))) from None
