"""A place in a list of SQL tokens, and the names PostgreSQL allows there."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from evidence.domain.sql_tokens import SqlRefused, SqlToken
from evidence.domain.sql_words import COLUMN_NAMES, FUNCTION_NAMES, LABELS_AFTER_AS, RESERVED
from evidence.messages import Message, gettext_noop

# Words that PostgreSQL's lexer reads as one with the word behind them (`parser.c`).
_JOINED_WITH = {
    "NULLS": frozenset({"FIRST", "LAST"}),
    "WITHOUT": frozenset({"TIME"}),
    "FORMAT": frozenset({"JSON"}),
}
_NOWHERE = SqlToken("end", "", -1, "")


@dataclass(frozen=True, slots=True)
class ColumnUse:
    """A dotted column name as it was written, and where."""

    name: str
    start: int


class Cursor:
    """Reads tokens one by one; every refusal names the token it met."""

    def __init__(self, tokens: Sequence[SqlToken]) -> None:
        """Start before the first token."""
        self._tokens = tokens
        self._at = 0
        self.columns: list[ColumnUse] = []

    @property
    def now(self) -> SqlToken:
        """The token that comes next; its text is empty at the end."""
        return self.ahead(0)

    def ahead(self, distance: int) -> SqlToken:
        """Look further without moving."""
        place = self._at + distance
        return self._tokens[place] if place < len(self._tokens) else _NOWHERE

    def sees(self, *texts: str) -> bool:
        """Tell whether these very texts come next, one after the other."""
        return all(self.ahead(distance).text == text for distance, text in enumerate(texts))

    def sees_one_of(self, texts: frozenset[str]) -> bool:
        """Tell whether the next text is one of these."""
        return self.now.text in texts

    def step(self) -> SqlToken:
        """Move past the next token and give it."""
        token = self.now
        self._at += 1
        return token

    def take(self, *texts: str) -> bool:
        """Move past these texts if they come next."""
        if not self.sees(*texts):
            return False
        self._at += len(texts)
        return True

    def take_one_of(self, texts: frozenset[str]) -> bool:
        """Move past the next text if it is one of these."""
        if self.now.text not in texts:
            return False
        self._at += 1
        return True

    def need(self, *texts: str) -> None:
        """Move past these texts, or refuse."""
        if not self.take(*texts):
            raise self.refusal()

    def refusal(self) -> SqlRefused:
        """Give the fault for the token that comes next."""
        token = self.now
        if token.kind == "end":
            return SqlRefused(Message(gettext_noop("The SQL ends too early.")))
        template = gettext_noop("“%(text)s” is not expected here by PostgreSQL.")
        return SqlRefused(Message(template, text=token.raw[:40]), offset=token.start)

    def is_column_name(self, distance: int = 0) -> bool:
        """Tell whether a `ColId` of PostgreSQL's grammar comes next."""
        return self._is_name(distance, but_not=RESERVED | FUNCTION_NAMES)

    def is_function_name(self, distance: int = 0) -> bool:
        """Tell whether a `type_function_name` comes next."""
        return self._is_name(distance, but_not=RESERVED | COLUMN_NAMES)

    def is_label(self) -> bool:
        """Tell whether a `BareColLabel` comes next."""
        return self._is_name(0, but_not=LABELS_AFTER_AS)

    def _is_name(self, distance: int, *, but_not: frozenset[str]) -> bool:
        token = self.ahead(distance)
        if token.kind != "word":
            return token.kind == "quoted"
        joined = self.ahead(distance + 1).text in _JOINED_WITH.get(token.text, ())
        return token.text not in but_not and not joined

    def column_name(self) -> str:
        """Take a `ColId` and give it as written, or refuse."""
        if not self.is_column_name():
            raise self.refusal()
        return self.step().raw

    def any_name(self) -> str:
        """Take a `ColLabel`, any word at all, and give it as written, or refuse."""
        if self.now.kind not in {"word", "quoted"}:
            raise self.refusal()
        return self.step().raw

    def dotted_rest(self) -> list[str]:
        """Take `.name.name…` and give the names; stops before `.*`."""
        names = []
        while self.now.text == "." and self.ahead(1).kind in {"word", "quoted"}:
            self.step()
            names.append(self.step().raw)
        return names

    def listed(self, one: Callable[[], object]) -> int:
        """Read one or more things with commas between them; tell how many."""
        one()
        count = 1
        while self.take(","):
            one()
            count += 1
        return count

    def enclosed(self, inside: Callable[[], object]) -> None:
        """Read something between round brackets."""
        self.need("(")
        inside()
        self.need(")")

    def whole_number(self) -> None:
        """Take an integer, or refuse."""
        if self.now.kind != "number" or not self.now.text.isdecimal():
            raise self.refusal()
        self.step()

    def string(self) -> None:
        """Take a text, which may go on in a next line, or refuse."""
        if not self.sees_string():
            raise self.refusal()
        while self.sees_string():
            self.step()

    def sees_string(self) -> bool:
        """Tell whether a quoted text comes next."""
        return self.now.kind in {"string", "dollar"}
