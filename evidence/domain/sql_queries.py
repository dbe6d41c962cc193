"""One read-only query in PostgreSQL's grammar (`gram.y`: select_no_parens, from_clause)."""

from __future__ import annotations

from evidence.domain.sql_expressions import ExpressionGrammar, Form
from evidence.domain.sql_words import QUERY_STARTS

_SET_OPERATORS = frozenset({"UNION", "INTERSECT", "EXCEPT"})
_JOIN_SIDES = frozenset({"LEFT", "RIGHT", "FULL"})
_JOIN_STARTS = _JOIN_SIDES | {"JOIN", "INNER", "CROSS", "NATURAL"}
_ROWS = frozenset({"ROW", "ROWS"})


class QueryGrammar(ExpressionGrammar):
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
        self._maybe_names()
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
            self.listed(self._table)
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

    def _table(self) -> None:
        self._table_part()
        self._joins()

    def _joins(self) -> None:
        while self.sees_one_of(_JOIN_STARTS):
            if self.take("CROSS"):
                self.need("JOIN")
                self._table_part()
            elif self.take("NATURAL"):
                self._join_word()
                self._table_part()
            else:
                self._join_word()
                self._table_part()
                self._joins()
                self._join_condition()

    def _join_word(self) -> None:
        if self.take_one_of(_JOIN_SIDES):
            self.take("OUTER")
        else:
            self.take("INNER")
        self.need("JOIN")

    def _join_condition(self) -> None:
        if self.take("ON"):
            self.expression()
            return
        self.need("USING")
        self._names()
        if self.take("AS"):
            self.column_name()

    def _table_part(self) -> None:
        if self.sees("("):
            if self._holds_query():
                self._alias()
        elif self.take("LATERAL"):
            if self.sees("("):
                self.query_in_brackets()
                self._alias()
            else:
                self._table_function()
        elif self._calls_function():
            self._table_function()
        else:
            self.take("ONLY")
            self.column_name()
            if len(self.dotted_rest()) > 2:
                raise self.refusal()  # catalogue.schema.table is the longest
            self._alias()

    def _calls_function(self) -> bool:
        distance = 1
        while self.ahead(distance).text == ".":
            distance += 2
        return self.ahead(distance).text == "("

    def _table_function(self) -> None:
        if self.is_column_name() and self.ahead(1).text == ".":
            self.step()
            self.dotted_rest()
        elif self.is_function_name():
            self.step()
        else:
            raise self.refusal()
        self.arguments()
        self.take("WITH", "ORDINALITY")
        self._alias(of_function=True)

    def _holds_query(self) -> bool:
        """Read `( … )` in FROM; tell whether it was a query rather than a join."""
        self.need("(")
        is_query = self.sees_one_of(QUERY_STARTS)
        if is_query:
            self.query()
        elif self.sees("("):
            is_query = self._holds_query()
            if not self.sees(")"):
                is_query = is_query and self._goes_on()
                if not is_query:
                    self._alias()
                    self._needs_joins()
        else:
            self._table_part()
            self._needs_joins()
        self.need(")")
        return is_query

    def _goes_on(self) -> bool:
        """Read the rest of a query that began with a bracket, if there is one."""
        before = self.now
        self.query_tail()
        return self.now is not before

    def _needs_joins(self) -> None:
        if not self.sees_one_of(_JOIN_STARTS):
            raise self.refusal()
        self._joins()

    def _alias(self, *, of_function: bool = False) -> None:
        named = True
        if self.take("AS"):
            named = not (of_function and self.sees("("))
            if named:
                self.column_name()
        elif self.is_column_name():
            self.step()
        else:
            return
        if self.sees("("):
            typed = of_function and not (named and self.ahead(2).text in {",", ")"})
            self._names(typed=typed)

    def _maybe_names(self) -> None:
        if self.sees("("):
            self._names()

    def _names(self, *, typed: bool = False) -> None:
        self.enclosed(lambda: self.listed(self._typed_name if typed else self.column_name))

    def _typed_name(self) -> None:
        self.column_name()
        self.type_name()
