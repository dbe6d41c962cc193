"""SQL in a note: an expression is a formula, a query is an example, and a promise is neither."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace

from evidence.adapters.rules.drafts import Draft
from evidence.adapters.rules.names import (
    bare,
    columns_in,
    scope_of,
    without_article,
    without_literals,
)
from evidence.adapters.rules.note import Note, lead_in
from evidence.adapters.rules.outline import Block, Section, Shape
from evidence.adapters.rules.spans import Span
from evidence.adapters.rules.words import ANNOUNCED, FOREIGN_SQL, GENERIC_HEADING, LABEL, LIMITS
from evidence.domain.sql import SqlRefused, check_expression, check_query
from evidence.domain.units import EvidenceKind

SQL_NAMES = frozenset({"", "sql", "postgres", "postgresql", "psql", "pgsql"})
_QUERY_WORD = re.compile(r"\s*(?:--[^\n]*\n\s*)*(?:select|with)\b", re.IGNORECASE)
_CODE = re.compile(r"``?(?P<sql>[^`\n]{3,2000})``?")
_CUT = re.compile(r";[ \t]*(?:\n|$)")
_COMMENT = re.compile(r"\s*--[ \t]*(?P<words>[^\n]+)\n")
_COMPUTES = re.compile(
    r"[<>=+*/%(]|-\s|::|(?<!\w)(?:is|between|in|like|ilike|case|and|or|not)(?!\w)", re.I
)
_ASIDE = re.compile(r"\s*\([^()]*\)\s*:?\s*$")
_SAYS_FORMULA = re.compile(
    r"^(?:la\s+)?(?:formula|calcolo|espressione|the\s+formula|expression)\s+"
    r"(?:di|del(?:la|l['’])?|per|for|of)\s+|"
    r"\s+(?:si calcola|è calcolat[oa]|viene calcolat[oa]|is computed|is calculated)"
    r"(?:\s+(?:con|come|così|as|with|by))?\s*:?$",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class Found:
    """A piece of SQL: the words that name it, what limits it, and the places that say all this."""

    sql: str
    label: str
    spans: tuple[Span, ...]
    limits: str = ""

    @property
    def doubts(self) -> tuple[str, ...]:
        """Give the doubt about its dialect, if there is one."""
        foreign = FOREIGN_SQL.search(without_literals(self.sql))
        return ("dialect_uncertain",) if foreign else ()


def fenced_sql(section: Section, note: Note) -> Iterator[Draft]:
    """Give the drafts of a section's fenced SQL: one per expression or query."""
    for block in section.blocks:
        if block.shape is Shape.FENCE and block.info in SQL_NAMES:
            lead = lead_in(section, block, note.text)
            for piece in _pieces(block):
                draft = _of_piece(piece, lead, section, note) if note.is_free(piece) else None
                if draft is not None:
                    yield draft


def inline_sql(section: Section, note: Note) -> Iterator[Draft]:
    """Give the drafts of expressions and queries that stand in backticks within prose."""
    for block in section.blocks:
        statements = [each for each in block.statements if note.is_free(each)]
        for at, statement in enumerate(statements):
            match = _CODE.search(statement.text)
            if match and _is_formula(match["sql"]):
                yield _formula(_inline(match, statements, at, section, note))
            elif match and _is_query(match["sql"]):
                yield _inline_example(match, statements, at, section, note)


def announced_only(statement: Span, section: Section) -> bool:
    """Tell whether a statement promises SQL that the note does not hold."""
    if not ANNOUNCED.search(statement.text) or "`" in statement.text:
        return False
    following = _following(section, statement)
    return following is None or following.shape is not Shape.FENCE


def _inline(
    match: re.Match[str], statements: Sequence[Span], at: int, section: Section, note: Note
) -> Found:
    statement = statements[at]
    label, spans = statement.text[: match.start()], [statement]
    if not bare(label) and at:
        spans.insert(0, statements[at - 1])
        label = spans[0].text
    limits = statement.text[match.end() :].lstrip(" .;,:—–-\n").rstrip()
    if not limits and at + 1 < len(statements) and not _CODE.search(statements[at + 1].text):
        spans.append(statements[at + 1])
        limits = spans[-1].text
    return Found(match["sql"].strip(), _concept(label, section, note), tuple(spans), limits)


def _inline_example(
    match: re.Match[str], statements: Sequence[Span], at: int, section: Section, note: Note
) -> Draft:
    """Give the example of a query in backticks; its question stands before it, or it has none."""
    words = statements[at].text[: match.start()]
    spans: tuple[Span, ...] = (statements[at],)
    if not bare(words) and at and statements[at - 1].text.endswith("?"):
        spans = (statements[at - 1], *spans)
        words = spans[0].text
    return _example(Found(match["sql"].strip(), _question(words, section, note), spans))


def _pieces(block: Block) -> Iterator[Span]:
    start = 0
    for match in _CUT.finditer(block.span.text):
        yield block.span.part(start, match.start())
        start = match.end()
    rest = block.span.part(start, len(block.span.text))
    if rest.text:
        yield rest


def _of_piece(piece: Span, lead: Span | None, section: Section, note: Note) -> Draft | None:
    comment = _COMMENT.match(piece.text)
    words = comment["words"] if comment else lead.text if lead else ""
    spans = (piece,) if lead is None else (lead, piece)
    if _passes(check_query, piece.text):
        return _example(Found(piece.text, _question(words, section, note), spans))
    if _is_formula(piece.text):
        limits = _limits_below(section, piece)
        found = Found(piece.text, _concept(words, section, note), (*spans, *limits))
        return _formula(replace(found, limits=limits[0].text if limits else ""))
    if _QUERY_WORD.match(piece.text):
        return _unreadable(Found(piece.text, _concept(words, section, note), spans))
    return None


def _formula(found: Found) -> Draft:
    columns = columns_in(without_literals(found.sql))
    payload: dict[str, object] = {"concept": found.label, "columns": columns, "sql": found.sql}
    if found.limits:
        payload["limitations"] = " ".join(found.limits.split())
    return Draft(
        kind=EvidenceKind.FORMULA,
        title=found.label,
        payload=payload,
        spans=found.spans,
        scope=scope_of(without_literals(found.sql), concepts=(found.label,)),
        doubts=(*found.doubts, *(() if columns else ("column_unknown",))),
    )


def _example(found: Found) -> Draft:
    return Draft(
        kind=EvidenceKind.EXAMPLE,
        title=found.label,
        payload={"question": found.label, "sql": found.sql},
        spans=found.spans,
        scope=scope_of(without_literals(found.sql)),
        doubts=(*found.doubts, *(() if "?" in found.label else ("kind_inferred",))),
    )


def _unreadable(found: Found) -> Draft:
    """Keep SQL that is no PostgreSQL as knowledge in words: nothing may run it."""
    return Draft(
        kind=EvidenceKind.DOMAIN,
        title=found.label,
        payload={"topic": found.label},
        spans=found.spans,
        scope=scope_of(without_literals(found.sql)),
        body=f"```sql\n{found.sql}\n```",
        doubts=("kind_inferred", "dialect_uncertain"),
    )


def _concept(words: str, section: Section, note: Note) -> str:
    """Give what a formula computes, from the words before it, else from the headings."""
    last = words.strip().rpartition("\n")[2]
    label = without_article(_SAYS_FORMULA.sub("", _ASIDE.sub("", bare(last))))
    if not label or LABEL.fullmatch(label) or GENERIC_HEADING.fullmatch(label):
        label = without_article(note.topic(section))
    return label


def _question(words: str, section: Section, note: Note) -> str:
    label = bare(words)
    is_generic = not label or LABEL.fullmatch(label) or GENERIC_HEADING.fullmatch(label)
    return bare(note.topic(section)) if is_generic else label


def _limits_below(section: Section, piece: Span) -> tuple[Span, ...]:
    following = _following(section, piece)
    first = following.statements[:1] if following else ()
    return first if first and LIMITS.match(first[0].text.strip("*_ ")) else ()


def _following(section: Section, span: Span) -> Block | None:
    at = bisect_left(section.blocks, span.end, key=lambda block: block.span.start)
    return section.blocks[at] if at < len(section.blocks) else None


def _is_formula(sql: str) -> bool:
    return bool(_COMPUTES.search(without_literals(sql))) and _passes(check_expression, sql)


def _is_query(sql: str) -> bool:
    return bool(_QUERY_WORD.match(sql)) and _passes(check_query, sql)


def _passes(check: Callable[[str], None], sql: str) -> bool:
    try:
        check(sql)
    except SqlRefused:
        return False
    return True
