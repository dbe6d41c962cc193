"""An SQL source as sectioned text: statement by statement, the comments between them as words."""

from __future__ import annotations

import re
from collections.abc import Iterator

import sqlglot
from sqlglot.errors import SqlglotError
from sqlglot.tokenizer_core import Token, TokenType

from evidence.domain.sections import Section, SourceUnreadable, sectioned
from evidence.messages import gettext_noop

_BLANK_LINE = re.compile(r"\n[ \t]*\n")


def render_sql(text: str) -> str:
    """Give each statement, as written, as fenced SQL, after the paragraphs of its comments.

    Cut by sqlglot's tokens, so a semicolon in a text or a function's body ends nothing. Raises
    `SourceUnreadable` when a quotation or comment never ends.
    """
    try:
        tokens = sqlglot.tokenize(text, read="postgres")
    except SqlglotError as error:
        raise SourceUnreadable(gettext_noop("The SQL cannot be cut into statements.")) from error
    return sectioned(_sections(text, tokens))


def _sections(text: str, tokens: list[Token]) -> Iterator[Section]:
    reached = 0
    for first, last in _statements(tokens):
        yield Section(words=tuple(_paragraphs(text, reached, first)))
        yield Section(code=text[first:last], language="sql")
        reached = last
    yield Section(words=tuple(_paragraphs(text, reached, len(text))))


def _statements(tokens: list[Token]) -> Iterator[tuple[int, int]]:
    """Give where each statement begins, and where it ends, its semicolon included."""
    first: int | None = None
    last = 0
    for token in tokens:
        ends = token.token_type is TokenType.SEMICOLON
        if first is None and not ends:
            first = token.start
        last = token.end + 1
        if ends and first is not None:
            yield first, last
            first = None
    if first is not None:
        yield first, last


def _paragraphs(text: str, start: int, end: int) -> Iterator[str]:
    """Give what the comments between two statements say; one beside a statement ends there."""
    below = text[start:end]
    if start:
        beside, _, below = below.partition("\n")
        yield _bare(beside)
    for paragraph in _BLANK_LINE.split(below):
        yield "\n".join(filter(None, map(_bare, paragraph.split("\n"))))


def _bare(line: str) -> str:
    """Take the marks of a comment off a line; a bullet inside the comment stays one."""
    words = line.strip()
    if words.startswith("--"):
        words = words.lstrip("-")
    elif words.startswith("/*"):
        words = words[2:].lstrip("*")
    elif words.startswith(("* ", "**")) or words == "*":
        words = words.lstrip("*")
    if words.endswith("*/"):
        words = words[:-2].rstrip("*")
    return words.strip(" \t;")
