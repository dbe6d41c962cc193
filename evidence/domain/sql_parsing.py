"""sqlglot, kept on a lead: bounded work, a stack of its own, one kind of refusal."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from typing import Any

import sqlglot
from sqlglot import ErrorLevel, exp
from sqlglot.errors import SqlglotError
from sqlglot.optimizer.normalize_identifiers import normalize_identifiers
from sqlglot.parsers.postgres import PostgresParser

from evidence.domain.fresh_stack import on_fresh_stack
from evidence.domain.sql_tokens import SqlRefused, SqlToken, nesting_of
from evidence.messages import Message, gettext_noop

# It warns about what it cannot read and quotes the text, which may hold what no log should.
logging.getLogger("sqlglot").setLevel(logging.CRITICAL)

_STEPS_PER_TOKEN = 8  # ordinary SQL needs fewer than 5
_SPARE_STEPS = 2_000
_DEEP = 8
_FORBIDDEN = (exp.Command, exp.Block, exp.DDL, exp.DML)
# What sqlglot's builders raise over texts that are no fault of theirs to anybody else.
_STUMBLES = (SqlglotError, RecursionError, LookupError, AttributeError, TypeError, ValueError)


class _BoundedParser(PostgresParser):
    """Counts its steps: `date(date(date(…` would otherwise take exponential time."""

    steps_left = 0

    def _advance(self, times: int = 1) -> None:
        self.steps_left -= 1
        if self.steps_left < 0:  # a fault of our own, which no backtracking swallows
            raise SqlRefused(Message(gettext_noop("The SQL is too complicated to be checked.")))
        super()._advance(times)


def parse(text: str, *, into: Any, tokens: Sequence[SqlToken]) -> Any:
    """Give sqlglot's tree of a text that the grammar has accepted; `into` is what is expected.

    Raises `SqlRefused` when sqlglot cannot read it, or sees a statement in it.
    """
    deep = any(depth > _DEEP for _, depth in nesting_of(tokens))
    # 40 levels need nearly all of Python's recursion limit.
    tree = on_fresh_stack(lambda: _parse(text, into)) if deep else _parse(text, into)
    if any(isinstance(node, _FORBIDDEN) for node in tree.walk()):
        raise SqlRefused(Message(gettext_noop("A statement is not allowed in the SQL.")))
    return tree


def render(tree: Any) -> str:
    """Give a tree in one spelling: names folded, keywords raised, comments left out."""

    def write() -> str:
        normal = normalize_identifiers(tree, dialect="postgres")
        return str(normal.sql(dialect="postgres", comments=False))

    return on_fresh_stack(write)


def _parse(text: str, into: Any) -> Any:
    try:
        tokens = sqlglot.tokenize(text, read="postgres")
        parser = _BoundedParser(dialect="postgres", error_level=ErrorLevel.RAISE)
        parser.steps_left = _STEPS_PER_TOKEN * len(tokens) + _SPARE_STEPS
        if into is exp.Query:  # sqlglot has no parser of that name; a query is a statement to it
            trees = parser.parse(tokens, text)
        else:
            trees = parser.parse_into(into, tokens, text)
    except _STUMBLES as error:
        raise SqlRefused(Message(gettext_noop("The SQL cannot be read."))) from error
    if len(trees) != 1 or not isinstance(trees[0], exp.Expr):
        raise SqlRefused(Message(gettext_noop("One piece of SQL is needed.")))
    return trees[0]
