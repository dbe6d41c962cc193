"""What the fields of each kind are called, and what helps to fill them in."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final, Literal

from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _

from evidence.domain.typed_units import field_names
from evidence.domain.units import EvidenceKind

Text = str | Promise
Shape = Literal["line", "text", "list", "table", "expression", "query", "markdown", "ticks"]


@dataclass(frozen=True, slots=True)
class Wording:
    """One field as its form shows it; `names` says what it is completed with, if anything.

    `sql_cell` is the place of the cell of a table that holds SQL.
    """

    label: Text
    shape: Shape = "text"
    help_text: Text = ""
    headers: tuple[Text, ...] = ()
    names: Literal["", "concepts", "tables", "columns"] = ""
    sql_cell: int | None = None


_ROWS: Final = _("Rows that you copied in a spreadsheet can be pasted as they are.")
_SQL: Final = _("One PostgreSQL expression, without SELECT around it.")

_EVERY_KIND: Final[Mapping[str, Wording]] = {
    "title": Wording(_("Title"), "line", _("What people will look for. The unit's id stays.")),
    "purposes": Wording(_("Used for"), "ticks", _("At least one.")),
    "body": Wording(_("Notes"), "markdown", _("Optional. Markdown, without images.")),
    "scope_concepts": Wording(_("Concepts"), "list", names="concepts"),
    "scope_tables": Wording(_("Tables"), "list", _("Written schema.table."), names="tables"),
    "scope_columns": Wording(
        _("Columns"), "list", _("Written schema.table.column."), names="columns"
    ),
}
_COLUMN: Final = Wording(_("Column"), "line", _("Written schema.table.column."), names="columns")
_BY_KIND: Final[Mapping[EvidenceKind, Mapping[str, Wording]]] = {
    EvidenceKind.GLOSSARY: {
        "payload_term": Wording(_("Term")),
        "payload_definition": Wording(_("Definition")),
        "payload_synonyms": Wording(_("Also called"), "list"),
    },
    EvidenceKind.DOMAIN: {
        "payload_topic": Wording(_("Topic")),
        "body": Wording(
            _("Text"),
            "markdown",
            _("This is the content. Begin each section with a heading such as ## Admission."),
        ),
    },
    EvidenceKind.ENUM: {
        "payload_column": _COLUMN,
        "payload_values": Wording(
            _("Values"), "table", _ROWS, headers=(_("Stored value"), _("Meaning"))
        ),
    },
    EvidenceKind.EXAMPLE: {
        "payload_question": Wording(_("Question")),
        "payload_sql": Wording(_("SQL query"), "query", _("One query that only reads.")),
        "payload_explanation": Wording(_("Explanation"), "text", _("Optional.")),
    },
    EvidenceKind.MAPPING: {
        "payload_term": Wording(_("Term")),
        "payload_targets": Wording(
            _("Where it is stored"),
            "table",
            _ROWS,
            headers=(_("Column"), _("Value"), _("Condition")),
            sql_cell=2,
        ),
    },
    EvidenceKind.NORMALIZATION: {
        "payload_target": Wording(
            _("Applies to"), "text", _("A column or a concept."), names="columns"
        ),
        "payload_rules": Wording(
            _("Rules"), "table", _ROWS, headers=(_("Written as"), _("Read as"))
        ),
    },
    EvidenceKind.FORMULA: {
        "payload_concept": Wording(_("Concept")),
        "payload_columns": Wording(
            _("Columns it uses"),
            "list",
            _("Every column that the expression names in full."),
            names="columns",
        ),
        "payload_sql": Wording(_("SQL expression"), "expression", _SQL),
        "payload_limitations": Wording(_("Limits"), "text", _("Optional.")),
    },
    EvidenceKind.REFERENCE: {
        "payload_label": Wording(_("Label")),
        "payload_url": Wording(
            _("Address"), "line", _("http or https. The portal never opens it.")
        ),
        "payload_description": Wording(_("Description")),
    },
}


def wordings(kind: EvidenceKind) -> dict[str, Wording]:
    """Give the fields of a kind's form by name, in reading order."""
    known = {**_EVERY_KIND, **_BY_KIND[kind]}
    return {name: known[name] for name in field_names(kind)}
