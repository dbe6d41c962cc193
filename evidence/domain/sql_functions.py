"""Operands that begin with a keyword (`gram.y`: func_expr_common_subexpr, case_expr, …)."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from evidence.domain.sql_calls import CallGrammar
from evidence.domain.sql_types import TYPE_WORDS
from evidence.domain.sql_words import EXTRACT_FIELDS

_CONSTANTS = frozenset({"TRUE", "FALSE", "NULL", "CURRENT_DATE", "CURRENT_ROLE", "CURRENT_USER"})
_PEOPLE = frozenset({"SESSION_USER", "SYSTEM_USER", "USER", "CURRENT_CATALOG"})
_CLOCKS = frozenset({"CURRENT_TIME", "CURRENT_TIMESTAMP", "LOCALTIME", "LOCALTIMESTAMP"})
_TRIM_SIDES = frozenset({"BOTH", "LEADING", "TRAILING"})
_FORMS = frozenset({"NFC", "NFD", "NFKC", "NFKD"})


class FunctionGrammar(CallGrammar):
    """Reads CASE, ARRAY, EXISTS, CAST, typed constants and the like."""

    def restricted_expression(self, floor: int = 0) -> None:
        """Read a `b_expr`; the grammar of expressions knows how."""
        raise NotImplementedError

    def query_in_brackets(self) -> None:
        """Read a query with its brackets; the grammar of queries knows how."""
        raise NotImplementedError

    def keyword_operand(self) -> bool:
        """Read an operand that begins with a keyword of its own, if one comes next."""
        word = self.now.text
        if word in _CONSTANTS or word in _PEOPLE:
            self.step()
        elif word in _CLOCKS:
            self.step()
            self.size()
        elif word == "CASE":
            self._case()
        elif word == "ARRAY":
            self._array()
        elif word in _SPECIAL_CALLS and self.ahead(1).text == "(":
            self.step()
            _SPECIAL_CALLS[word](self)
        else:
            return self._current_schema()
        return True

    def _current_schema(self) -> bool:
        return self.ahead(1).text != "(" and self.take("CURRENT_SCHEMA")

    def typed_constant(self) -> bool:
        """Read `date '…'`-like constants whose type is a keyword, if one comes next."""
        word = self.now.text
        double = self.sees("DOUBLE", "PRECISION")
        if not double and not (word in TYPE_WORDS and self._is_constant_type()):
            return False
        if word == "INTERVAL":
            self.step()
            sized = self.sees("(")
            self.size()
            self.string()
            if not sized:
                self.interval_fields()
            return True
        self.type_of_words()
        self.string()
        return True

    def _is_constant_type(self) -> bool:
        follower = self.ahead(1)
        return (
            follower.kind in {"string", "dollar"}
            or follower.text in {"(", "VARYING"}
            or (self.now.text == "NATIONAL" and follower.text in {"CHAR", "CHARACTER"})
            or (follower.text in {"WITH", "WITHOUT"} and self.ahead(2).text == "TIME")
        )

    def _case(self) -> None:
        self.need("CASE")
        if not self.sees("WHEN"):
            self.expression()
        self.need("WHEN")
        self._when()
        while self.take("WHEN"):
            self._when()
        if self.take("ELSE"):
            self.expression()
        self.need("END")

    def _when(self) -> None:
        self.expression()
        self.need("THEN")
        self.expression()

    def _array(self) -> None:
        self.need("ARRAY")
        if self.sees("("):
            self.query_in_brackets()
        else:
            self._array_items()

    def _array_items(self) -> None:
        self.need("[")
        if self.sees("["):
            self.listed(self._array_items)
        elif not self.sees("]"):
            self.listed(self.expression)
        self.need("]")

    def some(self) -> None:
        """Read `(a, b, …)`."""
        self.enclosed(lambda: self.listed(self.expression))

    def two(self) -> None:
        """Read `(a, b)`."""
        self.need("(")
        self.expression()
        self.need(",")
        self.expression()
        self.need(")")

    def cast(self) -> None:
        """Read `(a AS type)`."""
        self.need("(")
        self.expression()
        self.need("AS")
        self.type_name()
        self.need(")")

    def extract(self) -> None:
        """Read `(year FROM a)`."""
        self.need("(")
        if not self.take_one_of(EXTRACT_FIELDS):
            self.string()
        self.need("FROM")
        self.expression()
        self.need(")")

    def position(self) -> None:
        """Read `(a IN b)`."""
        self.need("(")
        self.restricted_expression()
        self.need("IN")
        self.restricted_expression()
        self.need(")")

    def normalize(self) -> None:
        """Read `(a, NFC)`."""
        self.need("(")
        self.expression()
        if self.take(",") and not self.take_one_of(_FORMS):
            raise self.refusal()
        self.need(")")

    def substring(self) -> None:
        """Read `(a FROM b FOR c)`, or arguments."""
        self.need("(")
        if self.take(")"):
            return
        named = self.argument()
        if not named and self.take("FROM"):
            self._then("FOR")
        elif not named and self.take("FOR"):
            self._then("FROM")
        else:
            self.more_arguments()
        self.need(")")

    def overlay(self) -> None:
        """Read `(a PLACING b FROM c FOR d)`, or arguments."""
        self.need("(")
        if self.take(")"):
            return
        named = self.argument()
        if not named and self.take("PLACING"):
            self.expression()
            self.need("FROM")
            self._then("FOR")
        else:
            self.more_arguments()
        self.need(")")

    def _then(self, word: str) -> None:
        self.expression()
        if self.take(word):
            self.expression()

    def trim(self) -> None:
        """Read `(BOTH a FROM b)`."""
        self.need("(")
        self.take_one_of(_TRIM_SIDES)
        if not self.take("FROM"):
            self.expression()
            if self.take(","):
                self.listed(self.expression)
                self.need(")")
                return
            if not self.take("FROM"):
                self.need(")")
                return
        self.listed(self.expression)
        self.need(")")

    def exists(self) -> None:
        """Read `(SELECT …)`."""
        self.query_in_brackets()


_SPECIAL_CALLS: Mapping[str, Callable[[FunctionGrammar], None]] = {
    "CAST": FunctionGrammar.cast,
    "TREAT": FunctionGrammar.cast,
    "COALESCE": FunctionGrammar.some,
    "GREATEST": FunctionGrammar.some,
    "LEAST": FunctionGrammar.some,
    "GROUPING": FunctionGrammar.some,
    "NULLIF": FunctionGrammar.two,
    "EXTRACT": FunctionGrammar.extract,
    "NORMALIZE": FunctionGrammar.normalize,
    "OVERLAY": FunctionGrammar.overlay,
    "POSITION": FunctionGrammar.position,
    "SUBSTRING": FunctionGrammar.substring,
    "TRIM": FunctionGrammar.trim,
    "EXISTS": FunctionGrammar.exists,
}
