"""Function calls in PostgreSQL's grammar (`gram.y`: func_application, over_clause, …)."""

from __future__ import annotations

from evidence.domain.sql_types import TypeGrammar

_FRAME_UNITS = frozenset({"RANGE", "ROWS", "GROUPS"})
_ENDS_OF_WINDOW_NAME = _FRAME_UNITS | {"PARTITION", "ORDER"}
_FIRST_OF_ALL, _BEFORE, _HERE, _AFTER, _LAST_OF_ALL = range(5)


class CallGrammar(TypeGrammar):
    """Reads the brackets of a call and what may follow them."""

    def operator_name(self) -> None:
        """Read an operator; the grammar of expressions knows how."""
        raise NotImplementedError

    def function_call(self) -> None:
        """Read the brackets of a call and what may follow them: a text, WITHIN, FILTER, OVER."""
        plain = self.arguments()
        if plain and self.sees_string():
            self.string()
            return
        if self.take("WITHIN", "GROUP"):
            self.enclosed(self.order)
        if self.take("FILTER"):
            self.enclosed(self._filter)
        if self.take("OVER"):
            if self.sees("("):
                self.window()
            else:
                self.column_name()

    def arguments(self) -> bool:
        """Read `( … )` of a call; tell whether it held nothing but plain arguments."""
        self.need("(")
        if self.take(")") or self.take("*", ")"):
            return False
        marked = self.take("ALL") or self.take("DISTINCT")
        variadic = self._last_argument(variadic_allowed=not marked)
        while not variadic and self.take(","):
            variadic = self._last_argument(variadic_allowed=not marked)
        ordered = self.sees("ORDER")
        if ordered:
            self.order()
        self.need(")")
        return not (marked or variadic or ordered)

    def _last_argument(self, *, variadic_allowed: bool) -> bool:
        variadic = variadic_allowed and self.take("VARIADIC")
        self.argument()
        return variadic

    def argument(self) -> bool:
        """Read one argument; tell whether it was given by name."""
        named = self.ahead(1).text in {":=", "=>"} and self.is_function_name()
        if named:
            self.step()
            self.step()
        self.expression()
        return named

    def more_arguments(self) -> None:
        """Read the arguments behind the first."""
        while self.take(","):
            self.argument()

    def _filter(self) -> None:
        self.need("WHERE")
        self.expression()

    def order(self) -> None:
        """Read ORDER BY and its keys."""
        self.need("ORDER", "BY")
        self.listed(self._sort_key)

    def _sort_key(self) -> None:
        self.expression()
        if self.take("USING"):
            self.operator_name()
        elif not self.take("ASC"):
            self.take("DESC")
        if self.take("NULLS") and not self.take("FIRST"):
            self.need("LAST")

    def window(self) -> None:
        """Read `( … )` of a window."""
        self.need("(")
        if self.is_column_name() and not self.sees_one_of(_ENDS_OF_WINDOW_NAME):
            self.step()
        if self.take("PARTITION", "BY"):
            self.listed(self.expression)
        if self.sees("ORDER"):
            self.order()
        if self.take_one_of(_FRAME_UNITS):
            self._frame()
        self.need(")")

    def _frame(self) -> None:
        if self.take("BETWEEN"):
            first = self._bound()
            self.need("AND")
            last = self._bound()
        else:
            first, last = self._bound(), _HERE
        # gram.y itself refuses a frame that ends before it begins.
        if first == _LAST_OF_ALL or last == _FIRST_OF_ALL or first > last:
            raise self.refusal()
        if self.take("EXCLUDE"):
            self._exclusion()

    def _exclusion(self) -> None:
        if not (
            self.take("CURRENT", "ROW")
            or self.take("GROUP")
            or self.take("TIES")
            or self.take("NO", "OTHERS")
        ):
            raise self.refusal()

    def _bound(self) -> int:
        if self.take("CURRENT", "ROW"):
            return _HERE
        unbounded = self.sees("UNBOUNDED", "PRECEDING") or self.sees("UNBOUNDED", "FOLLOWING")
        if unbounded:
            self.step()
        else:
            self.expression()
        if self.take("PRECEDING"):
            return _FIRST_OF_ALL if unbounded else _BEFORE
        self.need("FOLLOWING")
        return _LAST_OF_ALL if unbounded else _AFTER
