"""How spellings are made one: “A becomes B”, “write B instead of A”, lists and tables of rules."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from evidence.adapters.rules.drafts import Draft, doubts_where
from evidence.adapters.rules.names import bare, scope_of
from evidence.adapters.rules.note import Note, column_about, column_for, lead_in, lists_of
from evidence.adapters.rules.outline import Block, Section, Shape
from evidence.adapters.rules.spans import Span
from evidence.adapters.rules.words import RULES_HEADING
from evidence.domain.units import EvidenceKind

_OPEN, _CLOSE = "[\"'`«“]", "[\"'`»”]"
_MATCH = rf"{_OPEN}(?P<match>[^\"`«»“”\n]{{1,100}}?){_CLOSE}"
_REPLACEMENT = rf"{_OPEN}(?P<replacement>[^\"`«»“”\n]{{1,200}}?){_CLOSE}"
_BECOMES = re.compile(
    rf"{_MATCH}\s+(?:diventa|va\s+(?:scritto|letto|normalizzato|sostituito|riscritto)"
    r"(?:\s+(?:come|con|in))?|si\s+(?:scrive|legge)|sta per|→|->|=>|becomes|stands\s+for|"
    r"is\s+(?:replaced|rewritten)\s+(?:by|with|as|to)|should\s+be\s+written(?:\s+as)?)"
    rf"\s+{_REPLACEMENT}",
    re.IGNORECASE,
)
_REPLACE = re.compile(
    rf"(?:sostitui(?:re|sci|amo)|rimpiazza(?:re)?|replace|substitute)\s+{_MATCH}\s+"
    rf"(?:con|by|with)\s+{_REPLACEMENT}",
    re.IGNORECASE,
)
_INSTEAD = re.compile(
    rf"(?:scriv(?:ere|i|iamo)|usa(?:re)?|write|use)\s+{_REPLACEMENT}\s+(?:invece\s+di|anziché|"
    rf"al\s+posto\s+di|e\s+non|instead\s+of|rather\s+than|not)\s+{_MATCH}",
    re.IGNORECASE,
)
_ENTRY = re.compile(
    r"[\"'`«“*]*(?P<match>[^\"`«»“”*:=\n→]{1,100}?)[\"'`»”*]*\s*(?:→|->|=>|=|:|diventa|becomes)\s*"
    r"[\"'`«“*]*(?P<replacement>[^\"`«»“”\n]{1,200}?)[\"'`»”*.;]*"
)
_FOR = re.compile(
    r"(?:quando si (?:cerca|scrive)|nel(?:la)? (?:campo|colonna)|per|for|in the (?:field|column))"
    r"\s+(?:(?:il|lo|la|i|gli|le|the)\s+|l['’])?(?P<target>[\w.]+)",
    re.IGNORECASE,
)
_MATCH_HEAD = re.compile(
    r"(?:scritto|variant[ei]|abbreviazion[ei]|sigl[ae]|grafi[ae]|da|trovato|written|variants?|"
    r"abbreviations?|from|match|found)\b",
    re.IGNORECASE,
)
_REPLACEMENT_HEAD = re.compile(
    r"(?:sostituzion[ei]|sostituit[oa] (?:con|da)|replacements?|replaced (?:by|with))\b",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class Rule:
    """One replacement, and the place that says so."""

    match: str
    replacement: str
    span: Span


def listed_rules(section: Section, note: Note) -> Iterator[Draft]:
    """Give one draft per list of replacements: called so before it, or plainly so."""
    for run in lists_of(section):
        lead = lead_in(section, run[0], note.text)
        hinted = RULES_HEADING.search(" ".join((section.title, lead.text if lead else "")))
        found = [(block.span, _of_item(block.span.text, hinted=bool(hinted))) for block in run]
        rules = [_rule(match, span) for span, match in found if match and note.is_free(span)]
        if rules and (hinted or 2 * sum(match is not None for _, match in found) > len(run)):
            yield _draft(rules, section, note, lead=lead, block=run[0])


def tabled_rules(section: Section, note: Note) -> Iterator[Draft]:
    """Give one draft per table of replacements that its heading or header calls so."""
    hinted = any(map(RULES_HEADING.search, section.path))
    for block in section.blocks:
        if block.shape is Shape.TABLE:
            header = [bare(cell) for cell in block.rows[0].cells]
            if _is_of_rules(header, hinted=hinted):
                rules = list(_rows(block, note))
                if rules:
                    lead = lead_in(section, block, note.text)
                    yield _draft(rules, section, note, lead=lead, block=block)


def _is_of_rules(header: Sequence[str], *, hinted: bool) -> bool:
    return (
        len(header) >= 2
        and bool(_MATCH_HEAD.match(header[0]))
        and (hinted or bool(_REPLACEMENT_HEAD.match(header[1])))
    )


def read_replacement(statement: Span, section: Section, note: Note) -> Draft | None:
    """Give the normalization draft of a statement that says what is written for what, or None."""
    rules = [
        _rule(match, statement)
        for pattern in (_BECOMES, _REPLACE, _INSTEAD)
        for match in pattern.finditer(statement.text)
    ]
    return _draft(rules, section, note, lead=statement) if rules else None


def _of_item(text: str, *, hinted: bool) -> re.Match[str] | None:
    plain = (pattern.search(text) for pattern in (_BECOMES, _REPLACE, _INSTEAD))
    return next(filter(None, plain), None) or (_ENTRY.fullmatch(text) if hinted else None)


def _rows(block: Block, note: Note) -> Iterator[Rule]:
    for row in block.rows[1:]:
        if len(row.cells) >= 2 and bare(row.cells[0]) and note.is_free(row.span):
            yield Rule(bare(row.cells[0]), bare(row.cells[1]), row.span)


def _rule(match: re.Match[str], span: Span) -> Rule:
    return Rule(match["match"].strip(), match["replacement"].strip(), span)


def _draft(
    rules: Sequence[Rule],
    section: Section,
    note: Note,
    *,
    lead: Span | None,
    block: Block | None = None,
) -> Draft:
    column, said = column_about(section, block, lead) if block else (column_for(section, lead), ())
    named = _FOR.search(lead.text) if lead else None
    target = column or (named["target"] if named else bare(note.topic(section)))
    distinct = {rule.match: rule.replacement for rule in reversed(rules)}
    contradicted = any(distinct[rule.match] != rule.replacement for rule in rules)
    spans = {rule.span: None for rule in rules} | ({lead: None} if lead else {})
    first = rules[0]
    title = f"{first.match} → {first.replacement}"
    if len(distinct) > 1:
        title = bare(note.topic(section))
    return Draft(
        kind=EvidenceKind.NORMALIZATION,
        title=title,
        payload={
            "target": target,
            "rules": tuple(
                {"match": match, "replacement": distinct[match]}
                for match in dict.fromkeys(rule.match for rule in rules)
            ),
        },
        spans=tuple(spans),
        context=said,
        scope=scope_of(" ".join(span.text for span in spans), concepts=() if column else (target,)),
        doubts=doubts_where(
            column_unknown=not (column or named), source_contradicts_itself=contradicted
        ),
    )
