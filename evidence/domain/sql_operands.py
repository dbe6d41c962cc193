"""Operands in PostgreSQL's grammar: columns, constants, rows and brackets (`gram.y`: c_expr)."""

from __future__ import annotations

from enum import Enum

from evidence.domain.sql_cursor import ColumnUse
from evidence.domain.sql_functions import FunctionGrammar
from evidence.domain.sql_words import QUERY_STARTS


class Form(Enum):
    """What an operand turned out to be, where it matters."""

    VALUE = "value"
    QUERY = "query"
    ROW = "row"
    PAIR = "pair"


ROWS = frozenset({Form.ROW, Form.PAIR})


class OperandGrammar(FunctionGrammar):
    """Reads what stands between operators."""

    def expression(self, floor: int = 0) -> Form:
        """Read one expression; the grammar of expressions knows how."""
        raise NotImplementedError

    def continued(self, form: Form) -> Form:
        """Read the operators behind an operand; the grammar of expressions knows how."""
        raise NotImplementedError

    def query(self) -> None:
        """Read a query without its brackets; the grammar of queries knows how."""
        raise NotImplementedError

    def query_goes_on(self) -> bool:
        """Read UNION, ORDER BY, … behind a query; the grammar of queries knows how."""
        raise NotImplementedError

    def simple_operand(self) -> None:
        """Read a constant, a call, a keyword operand or a column."""
        token = self.now
        if token.kind in {"number", "bits"}:
            self.step()
        elif self.sees_string():
            self.string()
        elif not (self.keyword_operand() or self.typed_constant()):
            self._name()

    def _name(self) -> None:
        start = self.now.start
        plain_function = self.is_function_name()
        if not (plain_function or self.is_column_name()):
            raise self.refusal()
        simple = self.is_column_name()
        names = [self.step().raw]
        if simple:
            names += self.dotted_rest()
        if self.now.text == "(" and (plain_function or len(names) > 1):
            self.function_call()
        elif self.sees_string() and (plain_function or len(names) > 1):
            self.string()
        elif not simple:
            raise self.refusal()
        else:
            self.columns.append(ColumnUse(name=".".join(names), start=start))
            self.indirection()

    def indirection(self) -> None:
        """Read `.field`, `[1]`, `[1:2]` and a last `.*`, as far as they go."""
        while True:
            if self.now.text == "." and self.ahead(1).text == "*":
                self.take(".", "*")
                return
            if self.take("."):
                self.any_name()
            elif self.take("["):
                self._subscript()
            else:
                return

    def _subscript(self) -> None:
        if not self.sees(":"):
            self.expression()
        if self.take(":") and not self.sees("]"):
            self.expression()
        self.need("]")

    def after_brackets(self, form: Form, *, restricted: bool) -> Form:
        """Read what may follow a bracket: an indirection, or OVERLAPS between two pairs."""
        if form not in ROWS:
            if self.now.text in {".", "["}:
                self.indirection()
                return Form.VALUE
            return form
        if restricted or not self.take("OVERLAPS"):
            return form
        other = self.row() if self.sees("ROW", "(") else self.brackets()
        if form is not Form.PAIR or other is not Form.PAIR:
            raise self.refusal()
        return Form.VALUE

    def row(self) -> Form:
        """Read ROW(a, b)."""
        self.need("ROW", "(")
        count = 0 if self.sees(")") else self.listed(self.expression)
        self.need(")")
        return Form.PAIR if count == 2 else Form.ROW

    def brackets(self) -> Form:
        """Read `( … )` and tell whether it was a row, a whole query, or one value."""
        self.need("(")
        form = self._inside_brackets()
        self.need(")")
        return form

    def _inside_brackets(self) -> Form:
        if self.sees_one_of(QUERY_STARTS):
            self.query()
            return Form.QUERY
        if self.sees("("):
            form = self.brackets()
            if form is Form.QUERY and (self.sees(")") or self.query_goes_on()):
                return form
            form = self.continued(self.after_brackets(form, restricted=False))
        else:
            form = self.expression()
        if self.take(","):
            return Form.PAIR if self.listed(self.expression) == 1 else Form.ROW
        return Form.VALUE
