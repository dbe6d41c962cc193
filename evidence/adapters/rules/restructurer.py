"""The deterministic restructurer: rules in a fixed order, each speaking for the text it quotes."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from evidence.adapters.rules import (
    dbt,
    definitions,
    links,
    mappings,
    prose,
    replacements,
    sql_text,
    sql_values,
    value_lists,
)
from evidence.adapters.rules.contradictions import doubt_contradictions
from evidence.adapters.rules.drafts import Draft
from evidence.adapters.rules.note import Note
from evidence.adapters.rules.outline import Section
from evidence.adapters.rules.previous import keep_quoted, matched, unchanged
from evidence.adapters.rules.spans import Span
from evidence.ports import RestructureCandidate, RestructureRequest

Rule = Callable[[Section, Note], Iterator[Draft]]
Reader = Callable[[Span, Section, Note], Draft | None]


def _each_statement(read: Reader) -> Rule:
    """Turn a reader of one statement into a rule for a section."""

    def rule(section: Section, note: Note) -> Iterator[Draft]:
        for _, statement in list(note.free_statements(section)):
            draft = read(statement, section, note)
            if draft is not None:
                yield draft

    return rule


RULES: Sequence[Rule] = (
    sql_text.fenced_sql,
    sql_values.values_in_sql,
    dbt.accepted_values,
    value_lists.values_in_text,
    value_lists.tabled_values,
    mappings.mappings_in_tables,
    replacements.tabled_rules,
    definitions.definitions_in_tables,
    replacements.listed_rules,
    value_lists.listed_values,
    _each_statement(replacements.read_replacement),
    _each_statement(mappings.read_mapping),
    sql_text.inline_sql,
    links.references,
    definitions.defined_by_headings,
    _each_statement(definitions.read_definition),
    prose.left_over,
)
"""From the most telling shape to the least: an earlier rule keeps its text from later ones."""


class RulesRestructurer:
    """Recognises typed units by their shape, in Italian and English; never invents (spec 20)."""

    name = "rules"
    local = True
    model = ""
    skill_digest = ""

    def restructure(self, request: RestructureRequest) -> tuple[RestructureCandidate, ...]:
        """Give the candidates for one source.

        A previous unit whose excerpts all still occur comes back unchanged; new candidates are
        made only of text that no such unit quotes.
        """
        note = Note.read(request.normalized_text, request.language)
        kept = keep_quoted(request.previous_units, note, told=_told(request))
        lost = [unit for unit in request.previous_units if unit not in kept]
        drafts = doubt_contradictions(sorted(_drafts(note), key=lambda draft: draft.start))
        return (*map(unchanged, kept), *matched(drafts, lost, kept=kept, text=note.text))


def _told(request: RestructureRequest) -> frozenset[Span]:
    """Give the places that are quoted when a note is read as if it had no units yet."""
    if not request.previous_units:
        return frozenset()
    note = Note.read(request.normalized_text, request.language)
    return frozenset(place for draft in _drafts(note) for place in draft.places(note.text))


def _drafts(note: Note) -> Iterator[Draft]:
    for rule in RULES:
        for section in note.sections:
            for draft in rule(section, note):
                if draft.is_valid:
                    note.take(draft.spans)
                    yield draft
