"""Terms and what they mean: definition lines, bold lead-ins, “by X we mean Y”, tables."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from evidence.adapters.rules.drafts import Draft
from evidence.adapters.rules.names import URL, bare, scope_of, without_article
from evidence.adapters.rules.note import Note
from evidence.adapters.rules.outline import Block, Section, Shape
from evidence.adapters.rules.spans import Span
from evidence.adapters.rules.sql_text import announced_only
from evidence.adapters.rules.words import GLOSSARY_HEADING, LABEL
from evidence.domain.units import EvidenceKind

_BOLD = re.compile(
    r"\*\*(?P<term>[^*\n]{1,80}?):?\*\*(?P<aside>\s*\([^()]{1,120}\))?\s*[:=—–-]?\s+(?P<meaning>.+)",
    re.DOTALL,
)
_LINE = re.compile(
    r"(?P<term>[^:=\n.?!|()]{2,60}?)(?P<aside>\s*\([^()\n]{1,120}\))?\s*(?::|=|\s[—–])\s+(?P<meaning>.+)",
    re.DOTALL,
)
_INTENDED = re.compile(
    r"(?:per|con(?: il termine)?|by)\s+(?P<term>.{2,60}?)\s+(?:si intend[eo](?:no)?|intendiamo|"
    r"we mean|is meant)\s+(?P<meaning>.+)",
    re.IGNORECASE | re.DOTALL,
)
_COPULA = re.compile(
    r"(?P<term>[^.:;,?!\n]{2,60}?)\s+(?P<meaning>(?:"
    r"significa|si definisce|viene definit[oa]|sta per|"
    r"sono (?:quell[ie] (?:che|con|di|in)|i pazienti|tutt[ie] (?:i|gli|le|quell[ie]))|"
    r"(?:è|e')\s+(?:un[oa]?\b|un['’]|quell[oa]\b)|"
    r"means|is defined as|stands for|(?:is|are) (?:an?|those|the ones)\b).+)",
    re.IGNORECASE | re.DOTALL,
)
_ALSO = (
    r"(?:dett[oaie] anche|chiamat[oaie] anche|anche|sinonim[io]\s*:?|abbreviato|abbr\.|"
    r"a\.?k\.?a\.?|also(?: called| known as)?|synonyms?\s*:?)\s+(?P<names>[^()\n.;]{1,120})"
)
_SYNONYMS = re.compile(_ALSO, re.IGNORECASE)
_ASIDE_IN = re.compile(rf"\({_ALSO}\)", re.IGNORECASE)
_TERM_HEAD = re.compile(r"(?:termine|concetto|voce|sigla|acronimo|term|concept|acronym)\b", re.I)
_MEANING_HEAD = re.compile(
    r"(?:significato|definizione|descrizione|spiegazione|meaning|definition|description)\b", re.I
)
_CLAUSE = re.compile(r"`|(?<!\w)(?:che|quando|dove|that|which|who|when|where)(?!\w)", re.IGNORECASE)
MAX_TERM_WORDS = 7


def read_definition(statement: Span, section: Section, note: Note) -> Draft | None:
    """Give the glossary draft of a statement that defines a term, or None."""
    if announced_only(statement, section):
        return None
    in_glossary = any(GLOSSARY_HEADING.search(heading) for heading in section.path)
    for pattern in (_BOLD, _INTENDED, _LINE, _COPULA):
        match = pattern.fullmatch(statement.text)
        if match and _is_term(match["term"]) and _is_meaning(match["meaning"]):
            sure = in_glossary or pattern in {_BOLD, _INTENDED}
            draft = _draft(match, statement)
            return draft if sure else draft.doubting("kind_inferred")
    return None


def definitions_in_tables(section: Section, note: Note) -> Iterator[Draft]:
    """Give one glossary draft per row of a table whose header says term and meaning."""
    for block in section.blocks:
        if block.shape is Shape.TABLE:
            header = block.rows[0].cells
            term, meaning = _position(_TERM_HEAD, header), _position(_MEANING_HEAD, header)
            if term is not None and meaning is not None:
                yield from _rows(block, note, term, meaning)


def defined_by_headings(section: Section, note: Note) -> Iterator[Draft]:
    """Give the draft of a heading below a glossary's that is defined by the paragraph under it."""
    parents = section.path[:-1]
    if not any(GLOSSARY_HEADING.search(parent) for parent in parents) or not section.blocks:
        return
    first = section.blocks[0]
    if first.shape is Shape.PARAGRAPH and note.is_free(first.span) and _is_term(section.title):
        payload = {"term": bare(section.title), "definition": first.span.text}
        yield _glossary(payload, first.span)


def _rows(block: Block, note: Note, term: int, meaning: int) -> Iterator[Draft]:
    for row in block.rows[1:]:
        cells = (*row.cells, *[""] * len(block.rows[0].cells))
        if note.is_free(row.span) and cells[term] and cells[meaning]:
            yield _glossary({"term": bare(cells[term]), "definition": cells[meaning]}, row.span)


def _draft(match: re.Match[str], statement: Span) -> Draft:
    aside = match.groupdict().get("aside") or ""
    meaning = f"{match['meaning'].strip()}"
    synonyms = _SYNONYMS.search(aside) or _ASIDE_IN.search(meaning)
    payload: dict[str, object] = {
        "term": without_article(match["term"]),
        "definition": " ".join(meaning.split()),
    }
    if synonyms:
        names = re.split(r",|/|\s(?:o|e|or|and)\s", synonyms["names"])
        payload["synonyms"] = tuple(dict.fromkeys(filter(None, map(bare, names))))
    return _glossary(payload, statement)


def _glossary(payload: Mapping[str, object], span: Span) -> Draft:
    term = str(payload["term"])
    return Draft(
        kind=EvidenceKind.GLOSSARY,
        title=term,
        payload=payload,
        spans=(span,),
        scope=scope_of(span.text, concepts=(term,)),
    )


def _is_term(text: str) -> bool:
    words = bare(text)
    return (
        0 < len(words.split()) <= MAX_TERM_WORDS
        and not LABEL.fullmatch(words)
        and not _CLAUSE.search(text)
        and not URL.search(text)
        and any(letter.isalpha() for letter in words)
    )


def _is_meaning(text: str) -> bool:
    is_question = bare(text).endswith("?")
    return len(text.split()) > 1 and not is_question and not URL.match(text.strip())


def _position(pattern: re.Pattern[str], cells: tuple[str, ...]) -> int | None:
    return next((at for at, cell in enumerate(cells) if pattern.match(bare(cell))), None)
