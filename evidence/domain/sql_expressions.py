"""One expression in PostgreSQL's grammar (`gram.y`: a_expr, b_expr, c_expr) with its precedences.

sqlglot takes a great deal that PostgreSQL refuses (`a = b = c`, `f(x)[1]`, `. 5`, words of ten
other dialects) and needs exponential time for some of it. These rules are PostgreSQL's own, read
in one pass; only after them does sqlglot see the text (spec 10, SQL).
"""

from __future__ import annotations

from enum import Enum

from evidence.domain.sql_cursor import ColumnUse
from evidence.domain.sql_functions import FunctionGrammar
from evidence.domain.sql_words import QUERY_STARTS

# Binding strengths, weakest first, as in the %left … %nonassoc lines of gram.y.
_OR, _AND, _NOT, _IS, _COMPARISON, _LIKE, _OPERATOR, _SUM, _PRODUCT, _POWER = range(1, 11)
_AT, _COLLATE, _SIGN, _CAST = range(11, 15)

_COMPARISONS = frozenset({"<", ">", "=", "<=", ">=", "<>", "!="})
_LIKES = frozenset({"BETWEEN", "IN", "LIKE", "ILIKE", "SIMILAR"})
_QUANTIFIERS = frozenset({"ANY", "SOME", "ALL"})
_NOT_AN_OPERATOR = frozenset({"::", ":=", "=>"})
_STRENGTHS = {
    "OR": _OR, "AND": _AND, "IS": _IS, "ISNULL": _IS, "NOTNULL": _IS, "+": _SUM, "-": _SUM,
    "*": _PRODUCT, "/": _PRODUCT, "%": _PRODUCT, "^": _POWER, "COLLATE": _COLLATE, "::": _CAST,
    **dict.fromkeys(_COMPARISONS, _COMPARISON),
    **dict.fromkeys(_LIKES, _LIKE),
}  # fmt: skip
_RESTRICTED_OUT = frozenset({_OR, _AND, _LIKE, _AT, _COLLATE})
_TRUTHS = frozenset({"NULL", "TRUE", "FALSE", "UNKNOWN", "DOCUMENT", "NORMALIZED"})
_LOGIC = frozenset({_OR, _AND})
_JSON_TYPES = frozenset({"VALUE", "SCALAR", "ARRAY", "OBJECT"})


class Form(Enum):
    """What an operand turned out to be, where it matters."""

    VALUE = "value"
    QUERY = "query"
    ROW = "row"
    PAIR = "pair"


_ROWS = frozenset({Form.ROW, Form.PAIR})


class ExpressionGrammar(FunctionGrammar):
    """Reads expressions by operator precedence."""

    def query(self) -> None:
        """Read a query without its brackets; the grammar of queries knows how."""
        raise NotImplementedError

    def query_tail(self) -> None:
        """Read what may follow the first query of a bracket: UNION, ORDER BY, LIMIT, …"""
        raise NotImplementedError

    def expression(self, floor: int = 0) -> Form:
        """Read operands joined by operators that bind more strongly than `floor`."""
        form = self._operand()
        return self._operators(form, floor, restricted=False)

    def restricted_expression(self, floor: int = 0) -> None:
        """Read a `b_expr`: no AND, OR, NOT, IN, LIKE or IS NULL outside brackets."""
        if self.sees("NOT"):
            raise self.refusal()
        form = self._operand(restricted=True)
        self._operators(form, floor, restricted=True)

    def _operators(self, form: Form, floor: int, *, restricted: bool) -> Form:
        while (strength := self._strength(restricted=restricted)) > floor:
            form = Form.VALUE
            chained = self._operator(strength, restricted=restricted)
            if chained and self._strength(restricted=restricted) == strength:
                raise self.refusal()  # %nonassoc: a = b = c
        return form

    def _strength(self, *, restricted: bool) -> int:
        strength = self._plain_strength()
        if not restricted:
            return strength
        if strength == _IS and self.ahead(2 if self.ahead(1).text == "NOT" else 1).text not in {
            "DISTINCT",
            "DOCUMENT",
        }:
            return 0
        return 0 if strength in _RESTRICTED_OUT else strength

    def _plain_strength(self) -> int:
        token = self.now
        if token.text in _STRENGTHS:
            return _STRENGTHS[token.text]
        if token.text == "NOT":
            return _LIKE if self.ahead(1).text in _LIKES else 0
        if token.text == "AT":
            return _AT if self.ahead(1).text in {"TIME", "LOCAL"} else 0
        named = token.text == "OPERATOR" and self.ahead(1).text == "("
        other = token.kind == "operator" and token.text not in _NOT_AN_OPERATOR
        return _OPERATOR if named or other else 0

    def _operator(self, strength: int, *, restricted: bool) -> bool:
        """Read an operator and what stands right of it; tell whether it may not be chained."""
        if strength == _IS:
            return self._is(restricted=restricted)
        if strength == _LIKE:
            return self._like()
        if strength in {_AT, _COLLATE, _CAST}:
            self._suffix()
            return False
        self.operator_name()
        if not (restricted or strength in _LOGIC) and self._quantified():
            return False
        if restricted:
            self.restricted_expression(strength)
        else:
            self.expression(strength)
        return strength == _COMPARISON

    def operator_name(self) -> None:
        """Read an operator, plain or as OPERATOR(schema.+)."""
        if not self.take("OPERATOR"):
            self.step()
            return
        self.need("(")
        while self.is_column_name():
            self.step()
            self.need(".")
        if self.now.kind != "operator" or self.now.text in _NOT_AN_OPERATOR:
            raise self.refusal()
        self.step()
        self.need(")")

    def _suffix(self) -> None:
        if self.take("::"):
            self.type_name()
        elif self.take("COLLATE"):
            self.column_name()
            self.dotted_rest()
        elif not self.take("AT", "LOCAL"):
            self.need("AT", "TIME", "ZONE")
            self.expression(_AT)

    def _quantified(self) -> bool:
        if not (self.sees_one_of(_QUANTIFIERS) and self.ahead(1).text == "("):
            return False
        self.step()
        if self.brackets() in _ROWS:
            raise self.refusal()
        return True

    def _is(self, *, restricted: bool) -> bool:
        if not self.take("IS"):
            self.step()  # ISNULL, NOTNULL
            return False
        self.take("NOT")
        if self.take("DISTINCT", "FROM"):
            if restricted:
                self.restricted_expression(_IS)
            else:
                self.expression(_IS)
            return True
        if self.take("JSON"):
            self.take_one_of(_JSON_TYPES)
        elif not self.take_one_of(_TRUTHS):
            raise self.refusal()
        return False

    def _like(self) -> bool:
        self.take("NOT")
        word = self.step().text
        if word == "IN":
            self.brackets()
            return False
        if word == "BETWEEN":
            self._between()
            return True
        if word == "SIMILAR":
            self.need("TO")
        elif self._quantified():
            return False
        self.expression(_LIKE)
        if self.take("ESCAPE"):
            self.expression(_LIKE)
        return True

    def _between(self) -> None:
        if not self.take("SYMMETRIC"):
            self.take("ASYMMETRIC")
        self.restricted_expression()
        self.need("AND")
        self.expression(_LIKE)

    def _operand(self, *, restricted: bool = False) -> Form:
        token = self.now
        if token.text == "NOT":
            self.step()
            self.expression(_NOT)
        elif token.kind == "operator" or self.sees("OPERATOR", "("):
            self._prefixed(restricted=restricted)
        elif token.text == "(":
            return self._after_brackets(self.brackets(), restricted=restricted)
        elif self.sees("ROW", "("):
            return self._after_brackets(self._row(), restricted=restricted)
        else:
            self._simple_operand()
        return Form.VALUE

    def _prefixed(self, *, restricted: bool) -> None:
        if self.now.text not in {"+", "-"} and self._plain_strength() != _OPERATOR:
            raise self.refusal()
        floor = _SIGN if self.now.text in {"+", "-"} else _OPERATOR
        self.operator_name()
        if restricted:
            self.restricted_expression(floor)
        else:
            self.expression(floor)

    def _simple_operand(self) -> None:
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

    def _after_brackets(self, form: Form, *, restricted: bool) -> Form:
        if form not in _ROWS:
            if self.now.text in {".", "["}:
                self.indirection()
                return Form.VALUE
            return form
        if restricted or not self.take("OVERLAPS"):
            return form
        other = self._row() if self.sees("ROW", "(") else self.brackets()
        if form is not Form.PAIR or other is not Form.PAIR:
            raise self.refusal()
        return Form.VALUE

    def _row(self) -> Form:
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
            if form is Form.QUERY and not self.sees(")"):
                self.query_tail()
            if form is Form.QUERY and self.sees(")"):
                return form
            form = self._operators(
                self._after_brackets(form, restricted=False), 0, restricted=False
            )
        else:
            form = self.expression()
        if self.take(","):
            return Form.PAIR if self.listed(self.expression) == 1 else Form.ROW
        return Form.VALUE
