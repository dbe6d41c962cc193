"""Is this text one PostgreSQL expression, or one read-only query? (spec 10, SQL)."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from functools import lru_cache

from sqlglot import exp

from evidence.domain.identifiers import identifier_parts
from evidence.domain.sql_cursor import ColumnUse, Cursor
from evidence.domain.sql_operands import Form
from evidence.domain.sql_parsing import parse, render
from evidence.domain.sql_queries import QueryGrammar
from evidence.domain.sql_tokens import SqlRefused, SqlToken, tokens_of
from evidence.domain.sql_words import QUERY_STARTS, STATEMENTS
from evidence.messages import Message, gettext_noop

__all__ = ["SqlRefused", "check_expression", "check_query", "normalized_sql"]

_REMEMBERED = 1_024


def check_expression(text: str, *, declared: Collection[str] | None = None) -> None:
    """Raise `SqlRefused` unless the text is one PostgreSQL expression (spec 10, SQL).

    With `declared`, a column written `schema.table.column` must be among them; its names are in
    canonical form, as `column_name` gives them.
    """
    columns = _columns_of_expression(text)
    if declared is not None:
        _refuse_undeclared(columns, frozenset(declared))


def check_query(text: str) -> None:
    """Raise `SqlRefused` unless the text is exactly one read-only query; a last `;` is allowed."""
    _judge_query(_without_last_semicolon(text))


def normalized_sql(text: str) -> str:
    """Give an expression in one spelling, so that two can be compared.

    What is stored stays the author's text: sqlglot rewrites it. Raises `SqlRefused`.
    """
    tokens = tokens_of(text)
    return render(parse(text, into=exp.Condition, tokens=tokens))


@lru_cache(maxsize=_REMEMBERED)
def _columns_of_expression(text: str) -> tuple[ColumnUse, ...]:
    """Judge an expression once, however often its unit is read; a refusal is not remembered."""
    tokens = tokens_of(text)
    _refuse_statement(tokens)
    grammar = QueryGrammar(tokens)
    form = grammar.expression()
    _refuse_rest(grammar)
    if form is Form.QUERY:
        raise _refused(tokens[0], gettext_noop("A complete query is not an expression."))
    if tokens[-1].text == "*":
        raise _refused(tokens[-1], gettext_noop("A bare * is not an expression."))
    parse(text, into=exp.Condition, tokens=tokens)
    return tuple(grammar.columns)


@lru_cache(maxsize=_REMEMBERED)
def _judge_query(text: str) -> None:
    tokens = tokens_of(text)
    grammar = QueryGrammar(tokens)
    if grammar.sees("("):
        grammar.query_in_brackets()
        grammar.query_tail()
    else:
        grammar.query()
    _refuse_rest(grammar)
    parse(text, into=exp.Query, tokens=tokens)


def _refuse_statement(tokens: list[SqlToken]) -> None:
    first = tokens[0]
    if first.kind != "word":
        return
    if first.text in QUERY_STARTS and first.text != "VALUES":
        raise _refused(first, gettext_noop("A complete query is not an expression."))
    if first.text in STATEMENTS and (len(tokens) == 1 or tokens[1].text == "("):
        raise _refused(first, gettext_noop("A statement is not an expression."))


def _refuse_rest(grammar: Cursor) -> None:
    if grammar.now.kind == "end":
        return
    if grammar.sees("AS") or grammar.is_label():
        raise _refused(grammar.now, gettext_noop("An alias is not allowed here."))
    raise grammar.refusal()


def _refuse_undeclared(used: Sequence[ColumnUse], declared: frozenset[str]) -> None:
    for column in used:
        parts = identifier_parts(column.name)
        if len(parts) >= 3 and ".".join(parts) not in declared:
            template = gettext_noop("The column %(name)s is used in the SQL but not declared.")
            raise SqlRefused(Message(template, name=column.name), offset=column.start)


def _refused(token: SqlToken, template: str) -> SqlRefused:
    return SqlRefused(Message(template), offset=token.start)


def _without_last_semicolon(text: str) -> str:
    bare = text.rstrip()
    return bare[:-1] if bare.endswith(";") else text
