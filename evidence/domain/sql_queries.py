"""One read-only query in PostgreSQL's grammar (`gram.y`: select_no_parens)."""

from __future__ import annotations

from evidence.domain.sql_operands import Form
from evidence.domain.sql_tables import TableGrammar

_SET_OPERATORS = frozenset({"UNION", "INTERSECT", "EXCEPT"})
_ROWS = frozenset({"ROW", "ROWS"})


class QueryGrammar(TableGrammar):
    """Reads SELECT, VALUES and WITH … SELECT; neither INTO nor FOR UPDATE, nor any other verb."""

    def query_in_brackets(self) -> None:
        """Read a query with its brackets, or refuse."""
        if not self.sees("(") or self.brackets() is not Form.QUERY:
            raise self.refusal()

    def query(self) -> None:
        """Read a query without its brackets."""
        if self.take("WITH"):
            self.take("RECURSIVE")
            self.listed(self._common_table)
        self._query_part()
        self.query_tail()

    def query_goes_on(self) -> bool:
        """Read the rest of a query that began with a bracket; tell whether there was any."""
        before = self.now
        self.query_tail()
        return self.now is not before

    def query_tail(self) -> None:
        """Read UNION and the like, then ORDER BY, LIMIT, OFFSET and FETCH."""
        while self.take_one_of(_SET_OPERATORS):
            if not self.take("ALL"):
                self.take("DISTINCT")
            self._query_part()
        ordered = self.sees("ORDER")
        if ordered:
            self.order()
        limited = offset = False
        while not (limited and offset):
            if not limited and (self.sees("LIMIT") or self.sees("FETCH")):
                limited = self._limit(ordered=ordered)
            elif not offset and self.take("OFFSET"):
                offset = True
                self.expression()
                self.take_one_of(_ROWS)
            else:
                return

    def _limit(self, *, ordered: bool) -> bool:
        if self.take("LIMIT"):
            if not self.take("ALL"):
                self.expression()
            return True
        self.need("FETCH")
        if not (self.take("FIRST") or self.take("NEXT")):
            raise self.refusal()
        if not self.sees_one_of(_ROWS):
            self.whole_number()
        if not self.take_one_of(_ROWS):
            raise self.refusal()
        if not (ordered and self.take("WITH", "TIES")):
            self.need("ONLY")
        return True

    def _common_table(self) -> None:
        self.column_name()
        self.maybe_names()
        self.need("AS")
        if not self.take("MATERIALIZED"):
            self.take("NOT", "MATERIALIZED")
        self.enclosed(self.query)

    def _query_part(self) -> None:
        if self.sees("("):
            self.query_in_brackets()
        elif self.take("VALUES"):
            self.listed(lambda: self.enclosed(lambda: self.listed(self.expression)))
        else:
            self.need("SELECT")
            self._select()

    def _select(self) -> None:
        if self.take("DISTINCT"):
            if self.take("ON"):
                self.enclosed(lambda: self.listed(self.expression))
        else:
            self.take("ALL")
        self.listed(self._target)
        if self.take("FROM"):
            self.listed(self.table)
        if self.take("WHERE"):
            self.expression()
        self._groups()
        if self.take("WINDOW"):
            self.listed(self._named_window)

    def _groups(self) -> None:
        if self.take("GROUP", "BY"):
            if not self.take("ALL"):
                self.take("DISTINCT")
            self.listed(self._group)
        if self.take("HAVING"):
            self.expression()

    def _target(self) -> None:
        if self.take("*"):
            return
        self.expression()
        if self.take("AS"):
            self.any_name()
        elif self.is_label():
            self.step()

    def _named_window(self) -> None:
        self.column_name()
        self.need("AS")
        self.window()

    def _group(self) -> None:
        if self.take("(", ")"):
            return
        if self.take("GROUPING", "SETS"):
            self.enclosed(lambda: self.listed(self._group))
        elif self.ahead(1).text == "(" and (self.take("ROLLUP") or self.take("CUBE")):
            self.enclosed(lambda: self.listed(self.expression))
        else:
            self.expression()
