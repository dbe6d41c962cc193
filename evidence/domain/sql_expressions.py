"""One expression in PostgreSQL's grammar (`gram.y`: a_expr, b_expr, c_expr) with its precedences.

sqlglot takes a great deal that PostgreSQL refuses (`a = b = c`, `f(x)[1]`, `. 5`, words of ten
other dialects) and needs exponential time for some of it. These rules are PostgreSQL's own, read
in one pass; only after them does sqlglot see the text (spec 10, SQL).
"""

from __future__ import annotations

from evidence.domain.sql_operands import ROWS, Form, OperandGrammar

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


class ExpressionGrammar(OperandGrammar):
    """Reads expressions by operator precedence."""

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

    def continued(self, form: Form) -> Form:
        """Read the operators behind an operand that was already read."""
        return self._operators(form, 0, restricted=False)

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
        if self.brackets() in ROWS:
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
            return self.after_brackets(self.brackets(), restricted=restricted)
        elif self.sees("ROW", "("):
            return self.after_brackets(self.row(), restricted=restricted)
        else:
            self.simple_operand()
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
