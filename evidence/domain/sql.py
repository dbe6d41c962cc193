"""Is this text one PostgreSQL expression, or one read-only query? (spec 10, SQL)."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

import sqlglot
from sqlglot import exp
from sqlglot.errors import SqlglotError

from evidence.faults import CuratorFault
from evidence.messages import Message, gettext_noop


class SqlRefused(CuratorFault):
    """The text is not the SQL that was asked for; `offset` is a character position, if known."""

    code = "sql_refused"

    def __init__(self, message: Message, *, offset: int | None = None) -> None:
        """Take the reason and where it was met."""
        super().__init__(message)
        self.offset = offset


def check_expression(text: str, *, declared: Collection[str] | None = None) -> None:
    """Raise `SqlRefused` unless the text is one PostgreSQL expression (spec 10, SQL)."""
    _parse(text, exp.Condition)


def check_query(text: str) -> None:
    """Raise `SqlRefused` unless the text is exactly one read-only query."""
    _parse(text, exp.Query)


def normalized_sql(text: str) -> str:
    """Give the text in one spelling, to compare two of them."""
    return sqlglot.parse_one(text, read="postgres").sql(dialect="postgres", comments=False)


def _parse(text: str, into: Any) -> Any:
    try:
        return sqlglot.parse_one(text, read="postgres", into=into)
    except (SqlglotError, RecursionError) as error:
        raise SqlRefused(Message(gettext_noop("This is not PostgreSQL."))) from error
