"""SQL that PostgreSQL's grammar takes, and that only another database would understand."""

from __future__ import annotations

from collections.abc import Iterator

from evidence.domain.payloads import ExamplePayload, FormulaPayload, MappingPayload, Payload
from evidence.domain.sql_tokens import SqlRefused, SqlToken, tokens_of

# Built-in functions of other databases that PostgreSQL lacks, and its own never meant.
_FUNCTIONS = frozenset(
    {
        *("NVL", "NVL2", "IFNULL", "ISNULL", "IF", "IIF", "ZEROIFNULL", "NULLIFZERO", "CHOOSE"),
        *("GETDATE", "GETUTCDATE", "SYSDATETIME", "CURDATE", "CURTIME", "LAST_DAY", "ADD_MONTHS"),
        *("MONTHS_BETWEEN", "DATEDIFF", "DATEADD", "DATENAME", "DATEPART", "DATE_FORMAT"),
        *("DATE_SUB", "TIMESTAMPDIFF", "TIMESTAMPADD", "TO_DAYS", "STR_TO_DATE"),
        *("SAFE_DIVIDE", "SAFE_CAST", "TRY_CAST", "TRY_CONVERT", "COUNTIF", "COUNT_IF"),
        *("GROUP_CONCAT", "LISTAGG", "CHARINDEX", "INSTR", "LEN", "UCASE", "LCASE", "DATALENGTH"),
        *("REGEXP_CONTAINS", "RLIKE", "PARSE_DATE", "FORMAT_DATE", "UNIX_TIMESTAMP", "NEWID"),
    }
)
_TYPES = frozenset(
    {
        *("STRING", "NUMBER", "DATETIME", "DATETIME2", "INT64", "FLOAT64", "BIGNUMERIC", "DOUBLE"),
        *("TINYINT", "MEDIUMINT", "UNSIGNED", "SIGNED", "NVARCHAR", "VARCHAR2", "NVARCHAR2"),
        *("LONGTEXT", "CLOB", "BLOB", "UNIQUEIDENTIFIER", "VARIANT", "TIMESTAMP_NTZ", "NUMBER"),
    }
)
_NOTHING = SqlToken("end", "", -1, "")


def foreign_words(payload: Payload) -> tuple[str, ...]:
    """Give the words in a payload's SQL that point to another database, each once, in order."""
    words = (word for sql in _sql_in(payload) for word in _foreign(sql))
    return tuple(dict.fromkeys(words))


def _sql_in(payload: Payload) -> Iterator[str]:
    if isinstance(payload, (FormulaPayload, ExamplePayload)):
        yield payload.sql
    elif isinstance(payload, MappingPayload):
        yield from (target.condition for target in payload.targets if target.condition)


def _foreign(sql: str) -> Iterator[str]:
    try:
        tokens = tokens_of(sql.rstrip().removesuffix(";"))
    except SqlRefused:  # the unit's model has said so already
        return
    callers: list[str] = []
    for before, token, after in zip(
        [_NOTHING, *tokens], tokens, [*tokens[1:], _NOTHING], strict=False
    ):
        if token.text == "(":
            callers.append(before.text)
        elif token.text == ")" and callers:
            callers.pop()
        elif token.kind == "word" and before.text != ".":  # else it is somebody's own
            in_cast = before.text == "::" or (before.text == "AS" and callers[-1:] == ["CAST"])
            if _is_foreign_type(token, after) if in_cast else _is_foreign_call(token, after):
                yield token.raw


def _is_foreign_call(token: SqlToken, after: SqlToken) -> bool:
    return after.text == "(" and token.text in _FUNCTIONS


def _is_foreign_type(token: SqlToken, after: SqlToken) -> bool:
    return token.text in _TYPES and (token.text, after.text) != ("DOUBLE", "PRECISION")
