"""What the SQL rules say of a text while somebody types it: the reason and the place."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass

from evidence.domain.identifiers import identifier_parts
from evidence.domain.sql import SqlRefused, check_expression, check_query
from evidence.domain.text import normalize_text


@dataclass(frozen=True, slots=True)
class SqlRemark:
    """Why a text is refused; `offset` counts characters from 0 and is None when unknown.

    `line` and `column` count from 1, and `source` is the text of that line.
    """

    message: str
    code: str
    offset: int | None = None
    line: int = 0
    column: int = 0
    source: str = ""

    @property
    def caret(self) -> str:
        """Give a line that puts a mark under the place, when it is shown below `source`."""
        kept = (letter if letter == "\t" else " " for letter in self.source[: self.column - 1])
        return "".join(kept) + "^"


def expression_remark(text: str, *, declared: Iterable[str] | None = None) -> SqlRemark | None:
    """Give what is wrong with an expression, or None (spec 10, SQL).

    With `declared`, columns written in full must be among them, in whatever spelling.
    """
    names = None if declared is None else {".".join(identifier_parts(name)) for name in declared}
    return _remark(text, lambda sql: check_expression(sql, declared=names))


def query_remark(text: str) -> SqlRemark | None:
    """Give what is wrong with a query, or None (spec 10, SQL)."""
    return _remark(text, check_query)


def _remark(text: str, check: Callable[[str], None]) -> SqlRemark | None:
    sql = normalize_text(text)
    try:
        check(sql)
    except SqlRefused as refused:
        return _placed(sql, refused)
    return None


def _placed(sql: str, refused: SqlRefused) -> SqlRemark:
    if refused.offset is None:
        return SqlRemark(refused.message, refused.code)
    offset = min(refused.offset, len(sql))
    before = sql[:offset]
    start = before.rfind("\n") + 1
    return SqlRemark(
        message=refused.message,
        code=refused.code,
        offset=offset,
        line=before.count("\n") + 1,
        column=offset - start + 1,
        source=sql[start:].partition("\n")[0],
    )
