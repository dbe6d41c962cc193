"""Tables, joins and their aliases in PostgreSQL's grammar (`gram.y`: from_clause, table_ref)."""

from __future__ import annotations

from evidence.domain.sql_expressions import ExpressionGrammar
from evidence.domain.sql_words import QUERY_STARTS

_JOIN_SIDES = frozenset({"LEFT", "RIGHT", "FULL"})
_JOIN_STARTS = _JOIN_SIDES | {"JOIN", "INNER", "CROSS", "NATURAL"}


class TableGrammar(ExpressionGrammar):
    """Reads what stands behind FROM."""

    def table(self) -> None:
        """Read one entry of FROM with its joins."""
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
                is_query = is_query and self.query_goes_on()
                if not is_query:
                    self._alias()
                    self._needs_joins()
        else:
            self._table_part()
            self._needs_joins()
        self.need(")")
        return is_query

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

    def maybe_names(self) -> None:
        """Read `(a, b)`, if it is there."""
        if self.sees("("):
            self._names()

    def _names(self, *, typed: bool = False) -> None:
        self.enclosed(lambda: self.listed(self._typed_name if typed else self.column_name))

    def _typed_name(self) -> None:
        self.column_name()
        self.type_name()
