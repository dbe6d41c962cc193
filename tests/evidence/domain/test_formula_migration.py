"""The old store of formulas: what is read of it, and what becomes of each formula."""

from __future__ import annotations

from collections.abc import Mapping

import pytest

from evidence.domain.codec import parse_curated_markdown
from evidence.domain.differences import diff_of
from evidence.domain.formula_migration import Migration, MigrationRefused, migrate
from evidence.domain.legacy_formulas import LegacyFormula, read_store
from evidence.domain.payloads import FormulaPayload
from evidence.domain.tree import ChangeSet, EvidenceTree
from evidence.domain.units import CuratedEvidence
from evidence.domain.validation import validate
from tests.evidence.trees import a_tree, the_manifest

SQL = "age(clinical.admission.admitted_at, clinical.patient.birth_date) < interval '18 years'"
PAIR = {
    "fascia_pediatrica.yaml": """\
concept: fascia pediatrica
columns:
- clinical.admission.admitted_at
- clinical.patient.birth_date
status: reviewed
sources: [pazienti.md, regole/età.md]
description: Meno di 18 anni al ricovero.
limitations: Non alla dimissione.
reviewed_by: Paola
""",
    "fascia_pediatrica.sql": f"{SQL};\n",
}
MARKDOWN = f"""\
---
concept: Fascia neonatale
columns: [clinical.admission.admitted_at, clinical.patient.birth_date]
sql: "{SQL.replace("18 years", "28 days")}"
status: reviewed
sources: [neonati.md]
---
Sono neonati i pazienti nei primi 28 giorni.
"""
EVALUATION = "schema_version: 1\nqueries:\n" + "".join(
    f"- id: {profile}\n  query: x\n  profile: {profile}\n  purpose: sql_generation\n"
    "  expected: [evidence:fascia-neonatale]\n"
    for profile in ("lexical", "semantic", "mixed")
)


def migrated(files: Mapping[str, str], tree: EvidenceTree | None = None) -> Migration:
    store = read_store({name: text.encode() for name, text in files.items()})
    return migrate(a_tree({}) if tree is None else tree, store)


def formula(files: Mapping[str, str]) -> LegacyFormula:
    (only,) = read_store({name: text.encode() for name, text in files.items()}).formulas
    return only


def unit_in(migration: Migration, path: str) -> CuratedEvidence:
    data = migration.change_set.changes[path]
    assert data is not None
    return parse_curated_markdown(data.decode(), path=path)


def refusals(migration: Migration) -> dict[str, str]:
    return {fault.path: str(fault.message) for fault in migration.refused}


def test_a_reviewed_formula_becomes_a_note_a_unit_that_quotes_it_and_a_listing() -> None:
    migration = migrated(PAIR)
    tree = migration.change_set.apply(a_tree({}))
    note = tree.files["source/legacy/fascia-pediatrica.md"].decode()
    assert note == (
        "# fascia pediatrica\n\nMeno di 18 anni al ricovero.\n\n"
        f"```sql\n{SQL}\n```\n\nNon alla dimissione.\n\n```yaml\nreviewed_by: Paola\n```\n\n"
        "# Fonti precedenti\n\n- pazienti.md\n- regole/età.md\n"
    )
    unit = unit_in(migration, "curated/formula/fascia-pediatrica.md")
    assert unit.payload == FormulaPayload(
        concept="fascia pediatrica",
        columns=("clinical.admission.admitted_at", "clinical.patient.birth_date"),
        sql=SQL,
        limitations="Non alla dimissione.",
    )
    assert (unit.id, unit.body) == ("evidence:fascia-pediatrica", "Meno di 18 anni al ricovero.")
    assert unit.scope.tables == ("clinical.admission", "clinical.patient")
    assert unit.provenance.supporting_excerpts == (
        SQL,
        "Non alla dimissione.",
        "- pazienti.md\n- regole/età.md",
    )
    listed = the_manifest(tree).sources["source/legacy/fascia-pediatrica.md"]
    assert listed.units == (unit.id,)


def test_what_was_taken_over_is_valid_and_publishable() -> None:
    both = PAIR | {"fascia_neonatale.md": MARKDOWN}
    tree = a_tree({"evaluation.yaml": EVALUATION})
    report = validate(migrated(both, tree).change_set.apply(tree))
    assert (report.publishable, report.findings) == (True, ())


def test_the_words_below_the_front_matter_are_the_units_notes() -> None:
    unit = unit_in(
        migrated({"fascia_neonatale.md": MARKDOWN}), "curated/formula/fascia-neonatale.md"
    )
    assert unit.body == "Sono neonati i pazienti nei primi 28 giorni."


def test_running_again_changes_nothing_even_after_curators_worked_on_the_result() -> None:
    tree = migrated(PAIR).change_set.apply(a_tree({}))
    path = "curated/formula/fascia-pediatrica.md"
    edited = tree.files[path].replace(b"title: fascia pediatrica", b"title: Fascia d'eta")
    tree = ChangeSet({path: edited}).apply(tree)
    again = migrated(PAIR, tree)
    assert not again.change_set
    assert again.kept == ("source/legacy/fascia-pediatrica.md",)
    assert not migrated(PAIR, ChangeSet({path: None}).apply(tree)).change_set


def test_a_run_that_ended_between_note_and_unit_is_completed() -> None:
    whole = migrated(PAIR).change_set
    note = "source/legacy/fascia-pediatrica.md"
    tree = ChangeSet({note: whole.changes[note]}).apply(a_tree({}))
    assert migrated(PAIR, tree).change_set.apply(tree) == whole.apply(a_tree({}))


@pytest.mark.parametrize("status", ["status: draft", "status: auto", "x: y"])
def test_what_was_never_reviewed_is_a_proposal_and_no_unit(status: str) -> None:
    files = PAIR | {
        "fascia_pediatrica.yaml": PAIR["fascia_pediatrica.yaml"].replace("status: reviewed", status)
    }
    migration = migrated(files)
    assert not migration.change_set
    assert [each.concept for each in migration.proposals] == ["fascia pediatrica"]


def test_a_lone_sql_file_is_a_draft_named_after_its_file() -> None:
    only = formula({"bmi.sql": "a.b.weight / a.b.height ^ 2\n"})
    assert (only.concept, only.status, only.sql) == ("bmi", "draft", "a.b.weight / a.b.height ^ 2")


def test_ids_that_are_taken_get_a_number_and_stay_the_same_from_run_to_run() -> None:
    tree = a_tree({"curated/glossary/fascia-pediatrica.md": "anything"})
    first, second = migrated(PAIR, tree), migrated(PAIR, tree)
    assert [each.evidence_id for each in first.migrated] == ["evidence:fascia-pediatrica-2"]
    assert first == second


BROKEN: list[tuple[dict[str, str], str, str]] = [
    ({"a.yaml": "status: [reviewed\n", "a.sql": "1"}, "a.yaml", "YAML"),
    ({"a.yaml": "status: reviewed\nstatus: draft\n", "a.sql": "1"}, "a.yaml", "twice"),
    ({"a.yaml": "status: final\n", "a.sql": "1"}, "a", "no status"),
    ({"a.yaml": "status: reviewed\n"}, "a", "no SQL"),
    ({"a.yaml": "status: reviewed\nsql: '1'\n", "a.sql": "2"}, "a", "different SQL"),
    ({"a.yaml": "sql: '1'\n", "a.md": MARKDOWN}, "a", "Several files"),
    ({"a.yaml": "status: reviewed\ncolumns: {a: b}\nsql: '1'\n"}, "a", "list of names"),
    ({"a.yaml": "status: reviewed\ncolumns: [[a]]\nsql: '1'\n"}, "a", "list of names"),
    ({"a.yaml": "status: reviewed\nconcept: [a]\nsql: '1'\n"}, "a", "must be text"),
    ({"a.md": "no front matter"}, "a.md", "front matter"),
    ({"a.yaml": "status: reviewed\nsql: SELECT 1\n"}, "a", "complete query"),
    ({"a.yaml": "status: reviewed\nsql: a.b.c > 1\n"}, "a", "not declared"),
    ({"a.yaml": "status: reviewed\ncolumns: [b.c]\nsql: a > 1\n"}, "a", "schema.table.column"),
    ({"a.yaml": "status: reviewed\nsql: drop table x\n"}, "a", ""),
    ({"a.yaml": f"status: reviewed\nconcept: {'x' * 300}\nsql: '1'\n"}, "a", "200"),
]


@pytest.mark.parametrize(("files", "path", "words"), BROKEN)
def test_a_formula_that_cannot_be_taken_over_is_named_and_keeps_no_other_back(
    files: dict[str, str], path: str, words: str
) -> None:
    migration = migrated(files | {"neonati.md": MARKDOWN})
    assert words in refusals(migration)[path]
    assert [each.concept for each in migration.migrated] == ["Fascia neonatale"]
    assert migration.as_json()["refused"]


def test_a_file_that_is_not_utf_8_is_named() -> None:
    store = read_store({"a.sql": b"perch\xe9", "b.md": MARKDOWN.encode()})
    assert [fault.path for fault in store.refused] == ["a.sql"]
    assert len(store.formulas) == 1


def test_two_files_that_would_become_one_note_are_not_mixed_in_any_run() -> None:
    twins = {"età.md": MARKDOWN, "eta.md": MARKDOWN.replace("neonatale", "seconda")}
    first = migrated(twins)
    assert list(refusals(first)) == ["età"]
    tree = first.change_set.apply(a_tree({}))
    assert list(refusals(migrated(twins, tree))) == ["età"]


def test_another_note_at_the_same_place_is_never_overwritten() -> None:
    tree = a_tree({"source/legacy/fascia-pediatrica.md": "Mia.\n"})
    migration = migrated(PAIR, tree)
    assert not migration.change_set
    assert "another note" in refusals(migration)["fascia_pediatrica"]


def test_a_workspace_that_takes_no_such_notes_refuses_them() -> None:
    workspace = "schema_version: 1\nslug: a\ntitle: A\nlanguage: en\nevidence:\n"
    tree = a_tree({}, workspace=f"{workspace}  source_formats: [txt]\n")
    assert "takes no notes" in refusals(migrated(PAIR, tree))["fascia_pediatrica"]
    broken = EvidenceTree(None, b"x", {})
    with pytest.raises(MigrationRefused):
        migrated(PAIR, broken)


def test_long_sql_is_quoted_by_its_beginning() -> None:
    lines = "\n+ ".join(["1"] * 600)
    files = {"somma.yaml": "status: reviewed\n", "somma.sql": lines}
    migration = migrated(files)
    (quote,) = unit_in(migration, "curated/formula/somma.md").provenance.supporting_excerpts
    assert 900 < len(quote) <= 1_000
    codes = {found.code for found in validate(migration.change_set.apply(a_tree({}))).findings}
    assert codes == {"evaluation_missing"}


def test_the_difference_of_a_change_set_is_a_diff_that_git_understands() -> None:
    tree = a_tree({"source/a.md": "uno\ndue\n", "source/b.md": "via"})
    changes = ChangeSet(
        {"source/a.md": b"uno\ntre\n", "source/b.md": None, "source/c.md": b"nuova\n"}
    )
    assert diff_of(changes, tree) == (
        "--- a/evidence/source/a.md\n+++ b/evidence/source/a.md\n@@ -1,2 +1,2 @@\n"
        " uno\n-due\n+tre\n"
        "--- a/evidence/source/b.md\n+++ /dev/null\n@@ -1 +0,0 @@\n"
        "-via\n\\ No newline at end of file\n"
        "--- /dev/null\n+++ b/evidence/source/c.md\n@@ -0,0 +1 @@\n+nuova\n"
    )
    assert diff_of(ChangeSet({"source/a.md": b"uno\ndue\n"}), tree) == ""
