"""A unit by hand: its file, a note that holds its excerpt, and its listing, as one change."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from evidence.domain.formats import is_accepted
from evidence.domain.identifiers import evidence_id_for, identifier_parts, slug_of
from evidence.domain.manifest import ManifestSource, dump_manifest, manifest_of
from evidence.domain.normalization import normalize_source, source_hash
from evidence.domain.sections import Section, sectioned
from evidence.domain.tree import MANIFEST_PATH, ChangeSet, EvidenceTree
from evidence.domain.unit_files import UnitFiles
from evidence.domain.units import CuratedEvidence, build_unit
from evidence.faults import CuratorFault
from evidence.messages import Message, gettext_noop

FOLDER = "source/proposals/"
MAX_EXCERPT = 1_000
MAX_TITLE = 200
UNDECIDED = "proposed_in_session"
"""The review item of a formula that a session proposed: it blocks until a person decides."""


class DraftRefused(CuratorFault):
    """A unit cannot be drafted in this workspace; says why."""

    code = "draft_refused"


@dataclass(frozen=True, slots=True)
class FormulaDraft:
    """A formula as somebody proposed it, in their words."""

    concept: str
    sql: str
    columns: tuple[str, ...]
    rationale: str


@dataclass(frozen=True, slots=True)
class Draft:
    """The unit, the note it rests on, and the change that adds both."""

    unit: CuratedEvidence
    source: str
    change_set: ChangeSet


def draft_formula(tree: EvidenceTree, formula: FormulaDraft) -> Draft:
    """Give the change that adds a formula with an open review item (spec 40, A unit by hand).

    Pure. Raises `DraftRefused`, `UnitInvalid`, `UnitTooLarge`, `ManifestInvalid`.
    """
    manifest, files = manifest_of(tree), UnitFiles.of(tree)
    title = " ".join(formula.concept.split())[:MAX_TITLE]
    evidence_id = evidence_id_for(title, {*files.paths, *manifest.owners()})
    path = _free_path(tree, title)
    note = normalize_source(_note(formula).encode())
    unit = build_unit(_fields(formula, evidence_id, title, (path, source_hash(note))))
    mine = ManifestSource(sha256=source_hash(note), units=(unit.id,))
    listed = {**manifest.sources, path: mine}
    changed = manifest.model_copy(update={"sources": listed})
    changes: dict[str, bytes | None] = {path: note.encode(), **files.writing(unit)}
    changes[MANIFEST_PATH] = dump_manifest(changed).encode()
    return Draft(unit=unit, source=path, change_set=ChangeSet(changes))


def _free_path(tree: EvidenceTree, title: str) -> str:
    slug, number = slug_of(title), 1
    path = f"{FOLDER}{slug}.md"
    while path in tree.files:
        number += 1
        path = f"{FOLDER}{slug}-{number}.md"
    if not is_accepted(path, tree.workspace):
        message = gettext_noop("This workspace takes no notes at %(path)s.")
        raise DraftRefused(Message(message, path=path))
    return path


def _note(formula: FormulaDraft) -> str:
    return sectioned([Section(formula.concept, (formula.rationale,), formula.sql, "sql")])


def _fields(
    formula: FormulaDraft, evidence_id: str, title: str, source: tuple[str, str]
) -> dict[str, object]:
    parts = (identifier_parts(column) for column in formula.columns)
    tables = dict.fromkeys(".".join(names[:2]) for names in parts if len(names) == 3)
    return {
        "schema_version": 1,
        "id": evidence_id,
        "kind": "formula",
        "title": title,
        "purposes": ["sql_generation"],
        "scope": {
            "concepts": [formula.concept],
            "tables": list(tables),
            "columns": list(formula.columns),
        },
        "provenance": {
            "source_file": source[0],
            "source_sha256": source[1],
            "supporting_excerpts": _excerpts(formula.sql),
        },
        "payload": {
            "concept": formula.concept,
            "columns": list(formula.columns),
            "sql": formula.sql,
        },
        "review_items": [
            {
                "code": UNDECIDED,
                "message": gettext_noop(
                    "A session proposed this formula: compare concept, SQL and columns."
                ),
                "field": "payload.sql",
            }
        ],
    }


def _excerpts(sql: str) -> Sequence[str]:
    """Give what the unit quotes: the SQL, or as many of its first lines as fit."""
    text = sql.strip("\n")
    start = text[:MAX_EXCERPT]
    return [start if start == text else start.rpartition("\n")[0] or start]
