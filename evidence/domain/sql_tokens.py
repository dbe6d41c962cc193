"""SQL text cut into tokens by PostgreSQL's own lexical rules, before any parser sees it.

sqlglot reads eleven dialects and sees comments, quotes and numbers where PostgreSQL does not
(`{# #}`, back-ticks, `1abc`), and a deep or long text makes it slow or kills it. What this lexer
lets through is bounded, and means the same to both (spec 10, SQL; spec 90, sqlglot).
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import pairwise

from evidence.faults import CuratorFault
from evidence.messages import Message, gettext_noop

MAX_LENGTH = 20_000
MAX_NESTING = 40
MAX_TOKENS = 5_000

_SCANNER = re.compile(
    r"""
    (?P<space>   [ \t\n\r\f\v]+ )
  | (?P<line>    --[^\n\r]* )
  | (?P<block>   /\* )
  | (?P<string>  [eE]'(?:[^'\\]|\\.|'')*' | (?:[uU]&)?'(?:[^']|'')*' )
  | (?P<bits>    [bB]'[01]*' | [xX]'[0-9A-Fa-f]*' )
  | (?P<dollar>  \$(?P<tag>[A-Za-z_]*)\$ .*? \$(?P=tag)\$ )
  | (?P<quoted>  "(?:[^"]|"")+" )
  | (?P<word>    [^\W\d][\w$]* )
  | (?P<number>  (?:0[xX][0-9A-Fa-f]+ | (?:\d+(?:\.(?!\.)\d*)?|\.\d+)(?:[eE][-+]?\d+)?) (?![\w$]) )
  | (?P<operator>(?:(?!--|/\*)[-+*/<>=~!@\#%^&|?])+ | :: | := )
  | (?P<mark>    [()\[\],.:] )
    """,
    re.VERBOSE | re.DOTALL,
)
_SPECIAL_OPERATOR = re.compile(r"[~!@#%^&|?]")
_COMMENT_ENDS = re.compile(r"/\*|\*/")
_OPENERS = frozenset({"(", "[", "CASE"})
_CLOSERS = frozenset({")", "]", "END"})
_STRINGS = frozenset({"string", "dollar"})
_PREFIXES = frozenset({"NOT", "+", "-", "~", "@"})


class SqlRefused(CuratorFault):
    """The text is not the SQL that was asked for; `offset` is a character position, if known."""

    code = "sql_refused"

    def __init__(self, message: Message, *, offset: int | None = None) -> None:
        """Take the reason and the place, counted in characters from 0."""
        super().__init__(message)
        self.offset = offset


@dataclass(frozen=True, slots=True)
class SqlToken:
    """A token that is neither white space nor comment; `text` is `raw` with bare words raised."""

    kind: str
    text: str
    start: int
    raw: str
    on_new_line: bool = False


def tokens_of(text: str) -> list[SqlToken]:
    """Give the tokens of a bounded text.

    Raises `SqlRefused` for text that is empty, over 20,000 characters or 5,000 tokens, nested more
    than 40 deep, ends in a line comment, or holds a semicolon, a parameter or what PostgreSQL's
    lexer refuses.
    """
    if len(text) > MAX_LENGTH:
        template = gettext_noop("The SQL has %(length)s characters; at most %(limit)s are allowed.")
        raise SqlRefused(Message(template, length=len(text), limit=MAX_LENGTH))
    tokens: list[SqlToken] = []
    for token, depth in nesting_of(_scan(text)):
        tokens.append(token)
        _refuse_excess(token, depth=depth, count=len(tokens))
    if not tokens:
        raise SqlRefused(Message(gettext_noop("There is no SQL here.")))
    _refuse_split_strings(tokens)
    return tokens


def nesting_of(tokens: Iterable[SqlToken]) -> Iterator[tuple[SqlToken, int]]:
    """Give each token with its depth: brackets, CASE … END, and runs of prefix operators."""
    depth, run = 0, 0
    for token in tokens:
        depth += (token.text in _OPENERS) - (token.text in _CLOSERS)
        run = run + 1 if token.text in _PREFIXES else 0
        yield token, depth + run


def _refuse_excess(token: SqlToken, *, depth: int, count: int) -> None:
    if depth > MAX_NESTING:
        template = gettext_noop("The SQL is nested more than %(limit)s deep.")
        raise _refused_at(token.start, template, limit=MAX_NESTING)
    if count > MAX_TOKENS:
        template = gettext_noop("The SQL has more than %(limit)s parts.")
        raise _refused_at(token.start, template, limit=MAX_TOKENS)


def _refuse_split_strings(tokens: list[SqlToken]) -> None:
    # 'a' 'b' is one string to sqlglot, and to PostgreSQL only across a line end.
    for first, second in pairwise(tokens):
        if first.kind in _STRINGS and second.kind in _STRINGS and not second.on_new_line:
            raise _refused_at(second.start, gettext_noop("Two texts follow one another."))


def _scan(text: str) -> Iterator[SqlToken]:
    position, kind, on_new_line = 0, "", False
    while position < len(text):
        found = _SCANNER.match(text, position)
        if found is None:
            raise _unreadable(text, position)
        end = found.end()
        if found.lastgroup == "space":
            on_new_line = on_new_line or "\n" in found[0]
            position = end
            continue
        kind = str(found.lastgroup)
        if kind == "block":
            end = _end_of_comment(text, position)
        elif kind != "line":
            end = position + len(_operator(found[0])) if kind == "operator" else end
            raw = text[position:end]
            # Only ASCII folds: to PostgreSQL a long s makes no SELECT.
            folded = raw.upper() if kind == "word" and raw.isascii() else raw
            yield SqlToken(kind, folded, position, raw, on_new_line)
            on_new_line = False
        position = end
    if kind == "line":
        template = gettext_noop(
            "The SQL may not end in a comment that runs to the end of the line."
        )
        raise _refused_at(len(text), template)


def _operator(run: str) -> str:
    """Cut a run of operator characters as `scan.l` does: `=-` is two operators, `@-` is one."""
    if run[0] == ":" or _SPECIAL_OPERATOR.search(run):
        return run
    cut = run.rstrip("+-")
    return run if len(run) == 1 else cut or run[0]


def _end_of_comment(text: str, start: int) -> int:
    depth = 0
    for found in _COMMENT_ENDS.finditer(text, start):
        depth += 1 if found[0] == "/*" else -1
        if depth == 0:
            return found.end()
    raise _refused_at(start, gettext_noop("A comment is not closed."))


def _unreadable(text: str, position: int) -> SqlRefused:
    letter = text[position]
    if letter == ";":
        return _refused_at(
            position, gettext_noop("A semicolon is not allowed: one piece of SQL only.")
        )
    if letter in "'\"$":
        return _refused_at(position, gettext_noop("A quotation is not closed, or is a parameter."))
    template = gettext_noop("“%(letter)s” means nothing in PostgreSQL here.")
    return _refused_at(position, template, letter=letter)


def _refused_at(position: int, template: str, **values: object) -> SqlRefused:
    return SqlRefused(Message(template, **values), offset=position)
