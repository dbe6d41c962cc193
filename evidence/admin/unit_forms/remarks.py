"""What the SQL rules say of a field of a form."""

from __future__ import annotations

from evidence.domain.cells import read_list, read_rows
from evidence.domain.sql_remarks import SqlRemark, expression_remark, query_remark
from evidence.domain.typed_units import ROWS, FieldPlace, Typed
from evidence.domain.units import EvidenceKind


def sql_remark(kind: EvidenceKind, sql: str, *, columns: str) -> SqlRemark | None:
    """Give what is wrong with a kind's SQL, or None; `columns` are declared, one a line."""
    if not sql.strip():
        return None
    if kind is EvidenceKind.EXAMPLE:
        return query_remark(sql)
    declared = read_list(columns) if kind is EvidenceKind.FORMULA else None
    return expression_remark(sql, declared=declared)


def remark_at(place: FieldPlace, kind: EvidenceKind, fields: Typed) -> SqlRemark | None:
    """Give the remark on the SQL at a place of a form, when there is SQL that is refused."""
    if place.name == "payload_sql":
        columns = fields.get("payload_columns", "")
        return sql_remark(kind, str(fields["payload_sql"]), columns=str(columns))
    if place.cell == "condition" and place.row is not None:
        row = tuple(read_rows(str(fields[place.name])))[place.row]
        cell = ROWS["targets"].index("condition")
        return sql_remark(kind, row[cell] if len(row) > cell else "", columns="")
    return None
