"""The names of types in PostgreSQL's grammar (`gram.y`: Typename, opt_interval)."""

from __future__ import annotations

from evidence.domain.sql_cursor import Cursor

_PLAIN = frozenset({"INT", "INTEGER", "SMALLINT", "BIGINT", "REAL", "BOOLEAN", "JSON"})
_LISTED = frozenset({"DECIMAL", "DEC", "NUMERIC", "BIT"})
_SIZED = frozenset({"FLOAT", "CHARACTER", "CHAR", "NCHAR", "VARCHAR", "NATIONAL"})
_CLOCK = frozenset({"TIMESTAMP", "TIME"})
_VARYING = frozenset({"BIT", "CHARACTER", "CHAR", "NCHAR", "NATIONAL"})
TYPE_WORDS = _PLAIN | _LISTED | _SIZED | _CLOCK | {"INTERVAL"}
"""Words that are types by themselves; any other name is a type too."""

_FIELDS_WITHIN = {
    "YEAR": frozenset({"MONTH"}),
    "MONTH": frozenset[str](),
    "DAY": frozenset({"HOUR", "MINUTE", "SECOND"}),
    "HOUR": frozenset({"MINUTE", "SECOND"}),
    "MINUTE": frozenset({"SECOND"}),
    "SECOND": frozenset[str](),
}


class TypeGrammar(Cursor):
    """Reads the name of a type."""

    def expression(self, floor: int = 0) -> object:
        """Read one expression; the grammar of expressions knows how."""
        raise NotImplementedError

    def type_name(self) -> None:
        """Read a type, with its modifiers and array bounds, or refuse."""
        if self.sees_one_of(TYPE_WORDS) or self.sees("DOUBLE", "PRECISION"):
            self.type_of_words()
        elif self.is_function_name():
            self.step()
            self.dotted_rest()
            self._modifiers()
        else:
            raise self.refusal()
        self._bounds()

    def type_of_words(self) -> None:
        """Read a type that is spelt with keywords, without array bounds."""
        word = self.step().text
        if word == "DOUBLE":
            self.need("PRECISION")
        elif word == "INTERVAL":
            self._interval_type()
        elif word in _CLOCK:
            self.size()
            self._time_zone()
        elif word not in _PLAIN:
            self._sized(word)

    def _sized(self, word: str) -> None:
        if word == "NATIONAL" and not (self.take("CHARACTER") or self.take("CHAR")):
            raise self.refusal()
        if word in _VARYING:
            self.take("VARYING")
        if word in _LISTED:
            self._modifiers()
        else:
            self.size()

    def size(self) -> None:
        """Read `(3)`, if it is there."""
        if self.sees("("):
            self.enclosed(self.whole_number)

    def _modifiers(self) -> None:
        if self.sees("("):
            self.enclosed(lambda: self.listed(self.expression))

    def _time_zone(self) -> None:
        if not self.take("WITH", "TIME", "ZONE"):
            self.take("WITHOUT", "TIME", "ZONE")

    def _interval_type(self) -> None:
        if self.sees("("):
            self.size()
        else:
            self.interval_fields()

    def interval_fields(self) -> None:
        """Read YEAR TO MONTH and the like, if it is there."""
        first = self.now.text
        if first not in _FIELDS_WITHIN:
            return
        last = self.step().text
        if _FIELDS_WITHIN[first] and self.take("TO"):
            if not self.sees_one_of(_FIELDS_WITHIN[first]):
                raise self.refusal()
            last = self.step().text
        if last == "SECOND":
            self.size()

    def _bounds(self) -> None:
        if self.take("ARRAY"):
            if self.take("["):
                self.whole_number()
                self.need("]")
            return
        while self.take("["):
            if not self.sees("]"):
                self.whole_number()
            self.need("]")
