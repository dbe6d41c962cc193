"""Where a term is stored: “X is stored in schema.table.column”, “X: …”, tables of columns."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from evidence.adapters.rules.drafts import Draft
from evidence.adapters.rules.names import (
    COLUMN,
    bare,
    columns_in,
    scope_of,
    without_article,
    without_literals,
)
from evidence.adapters.rules.note import Note
from evidence.adapters.rules.outline import Section, Shape
from evidence.adapters.rules.spans import Span
from evidence.domain.units import EvidenceKind

_STORED = (
    r"(?:(?:(?:è|e'|sono|viene|vengono)\s+)?"
    r"(?:memorizzat|registrat|salvat|conservat|contenut|indicat|riportat|scritt|codificat)[oaie]"
    r"\s+(?:solo\s+)?(?:in|nel(?:l[aoe]|l['’])?|nei|negli|nelle|con|da|su)"
    r"|si\s+(?:trova(?:no)?|legg(?:e|ono)|ricava(?:no)?|prend(?:e|ono))"
    r"\s+(?:in|da(?:l|lla|ll['’])?|nel(?:la)?)"
    r"|(?:sta|stanno|vive|vivono)\s+(?:in|nel(?:la)?)|corrispond(?:e|ono)\s+a(?:l|lla)?|equivale\s+a|significa"
    r"|(?:(?:is|are)\s+)?(?:stored|recorded|kept|held|found|saved)\s+(?:in|at|as|under)"
    r"|means|maps?\s+to|comes?\s+from|lives?\s+in|:|=|→|->)"
)
_STATEMENT = re.compile(
    rf"(?P<term>[^.:;=?!\n]{{2,80}}?)\s*{_STORED}\s*"
    r"(?:(?:la|il|the)\s+)?(?:(?:colonna|campo|column|field)\s+)?"
    rf"(?P<place>`?{COLUMN}.*)",
    re.IGNORECASE | re.DOTALL,
)
_TARGET = re.compile(
    rf"(?P<no>\b(?:non|not|mai|never)\s+(?:in|da|su|nel(?:la)?|from)?\s*)?`?(?P<column>{COLUMN})`?"
    r"(?:\s*(?:=|con (?:il )?valore|uguale a|pari a|vale|valorizzat[oa] (?:a|con)|"
    r"with (?:the )?value|equal to)"
    r"\s*(?:['\"`«](?P<quoted>[^'\"`»\n]{1,100})['\"`»]|(?P<word>[\w.-]{1,40}\w|\d)))?",
    re.IGNORECASE,
)
_CONDITION = re.compile(rf"`(?P<sql>[^`\n]*{COLUMN}[^`\n]*)`")
_TERM_HEAD = re.compile(r"(?:termin[ei]|concett[oi]|voc[ei]|nome|terms?|concepts?|names?)\b", re.I)
_COLUMN_HEAD = re.compile(r"(?:colonn[ae]|camp[oi]|columns?|fields?)\b", re.I)
_OPERATOR = re.compile(r"[<>(]|!=|(?<!\w)(?:in|is|like|ilike|between|and|or)(?!\w)", re.IGNORECASE)
_CONTRAST = re.compile(r"(?<!\w)(?:quell[oaie]|invece|mentre|while|whereas|the one)(?!\w)", re.I)
_ARITHMETIC = re.compile(r"[+*/]|\s-\s|::|\w\(")
MAX_TERM_WORDS = 10


def read_mapping(statement: Span, section: Section, note: Note) -> Draft | None:
    """Give the mapping draft of a statement that says where a term is stored, or None."""
    match = _STATEMENT.fullmatch(statement.text)
    if match is None:
        return None
    term = without_article(match["term"])
    if _computes(statement.text):
        return None
    targets = _targets(match["place"])
    if not targets or not 0 < len(term.split()) <= MAX_TERM_WORDS or columns_in(match["term"]):
        return None
    draft = _draft(term, targets, (statement,))
    is_mixed = len(targets) > 1 and _CONTRAST.search(match["place"])
    return draft.doubting("ambiguous_statement") if is_mixed else draft


def mappings_in_tables(section: Section, note: Note) -> Iterator[Draft]:
    """Give one draft per term of a table whose header says term and column."""
    for block in section.blocks:
        if block.shape is not Shape.TABLE:
            continue
        header = [bare(cell) for cell in block.rows[0].cells]
        term = next((at for at, cell in enumerate(header) if _TERM_HEAD.match(cell)), None)
        place = next((at for at, cell in enumerate(header) if _COLUMN_HEAD.match(cell)), None)
        if term is None or place is None:
            continue
        for row in block.rows[1:]:
            targets = _targets(" ".join(row.cells[place : place + 1]))
            if targets and note.is_free(row.span) and bare(row.cells[term]):
                yield _draft(bare(row.cells[term]), targets, (row.span,))


def _draft(term: str, targets: Sequence[dict[str, str]], spans: tuple[Span, ...]) -> Draft:
    return Draft(
        kind=EvidenceKind.MAPPING,
        title=term,
        payload={"term": term, "targets": tuple(targets)},
        spans=spans,
        scope=scope_of(" ".join(target["column"] for target in targets), concepts=(term,)),
    )


def _computes(text: str) -> bool:
    """Tell whether code in a statement is more than a column, or a column and its value."""
    return any(
        _ARITHMETIC.search(without_literals(match["sql"])) or len(columns_in(match["sql"])) > 1
        for match in _CONDITION.finditer(text)
    )


def _targets(text: str) -> list[dict[str, str]]:
    conditions = {
        columns[0]: match["sql"].strip()
        for match in _CONDITION.finditer(text)
        if (columns := columns_in(match["sql"])) and _OPERATOR.search(match["sql"])
    }
    targets: dict[str, dict[str, str]] = {}
    for match in _TARGET.finditer(text):
        columns = columns_in(match["column"])
        if not columns or match["no"]:
            continue
        target = {"column": columns[0]}
        value = match["quoted"] or match["word"]
        if columns[0] in conditions:
            target["condition"] = conditions[columns[0]]
        elif value:
            target["value"] = value
        targets.setdefault(columns[0], target)
    return list(targets.values())
