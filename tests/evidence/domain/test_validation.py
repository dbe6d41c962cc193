from __future__ import annotations

import random
from collections.abc import Mapping
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evidence.domain.findings import (
    BLOCKING_CODES,
    ERROR_CODES,
    MAX_FINDINGS,
    WARNING_CODES,
    Severity,
    ValidationFinding,
)
from evidence.domain.tree import ChangeSet, EvidenceTree, RefusedPath
from evidence.domain.validation import inspect, relate, validate
from tests.evidence.domain.corpus import (
    EVALUATION,
    GLOSSARY,
    PAYLOADS,
    SOURCE,
    SOURCE_TEXT,
    UNIT,
    WORKSPACE,
    a_tree,
    manifest_file,
    unit_file,
)

BOTH = ("evidence:ablazione", "evidence:fascia-pediatrica")
OTHER = "source/altro.md"
SECRET = "hunter2sEcret9"
PROVENANCE = {
    "source_file": SOURCE,
    "source_sha256": "sha256:" + "0" * 64,
    "supporting_excerpts": ["Sono pediatrici"],
}
FORMULA = dict(PAYLOADS["formula"])
BIG_SQL = " + ".join(["clinical.patient.birth_date"] * 150)
BIG_FORMULA = {"concept": "x", "columns": ["clinical.patient.birth_date"], "sql": BIG_SQL}
MULTIPLE = manifest_file(*BOTH).replace(
    b"orphans: []",
    b"  source/b.md:\n    sha256: sha256:" + b"0" * 64 + b"\n    units:\n"
    b"    - evidence:ablazione\norphans: []",
)


def edited(data: bytes, old: str, new: str) -> bytes:
    """Replace text that must be there."""
    assert old.encode() in data
    return data.replace(old.encode(), new.encode())


def with_second(kind: str, payload: Mapping[str, Any], **fields: Any) -> dict[str, bytes | None]:
    """Give the files of one more unit, listed in the manifest."""
    told: dict[str, Any] = {"id": "evidence:seconda", "title": "Seconda", "payload": payload}
    return {
        f"curated/{kind}/seconda.md": unit_file(kind, **(told | fields)),
        "manifest.yaml": manifest_file(*BOTH, "evidence:seconda"),
    }


FAULTS: list[tuple[str, str, EvidenceTree]] = [
    ("workspace_missing", "workspace.yaml", a_tree(workspace_yaml=None)),
    ("workspace_invalid", "workspace.yaml", a_tree(workspace_yaml=WORKSPACE + b"surprise: 1\n")),
    ("unit_invalid", UNIT, a_tree({UNIT: edited(unit_file(), "concept:", "konzept:")})),
    (
        "unit_path_mismatch",
        "curated/formula/other.md",
        a_tree({UNIT: None, "curated/formula/other.md": unit_file()}),
    ),
    (
        "unit_path_mismatch",
        "curated/formula/deep/fascia-pediatrica.md",
        a_tree({UNIT: None, "curated/formula/deep/fascia-pediatrica.md": unit_file()}),
    ),
    ("unit_too_large", UNIT, a_tree({UNIT: unit_file() + b"x" * 65_536})),
    ("invalid_utf8", UNIT, a_tree({UNIT: unit_file() + "perch\u00e9".encode("latin-1")})),
    ("invalid_utf8", SOURCE, a_tree({SOURCE: "perch\u00e9 no".encode("latin-1")})),
    ("invalid_utf8", "manifest.yaml", a_tree({"manifest.yaml": b"\xff"})),
    (
        "kind_directory_mismatch",
        "curated/mapping/fascia-pediatrica.md",
        a_tree({UNIT: None, "curated/mapping/fascia-pediatrica.md": unit_file()}),
    ),
    (
        "duplicate_id",
        "curated/formula/deep/fascia-pediatrica.md",
        a_tree({"curated/formula/deep/fascia-pediatrica.md": unit_file()}),
    ),
    ("multiple_sources", "manifest.yaml", a_tree({"manifest.yaml": MULTIPLE})),
    (
        "unit_not_in_manifest",
        GLOSSARY,
        a_tree({"manifest.yaml": manifest_file("evidence:fascia-pediatrica")}),
    ),
    ("manifest_missing", "manifest.yaml", a_tree({"manifest.yaml": None})),
    ("manifest_invalid", "manifest.yaml", a_tree({"manifest.yaml": b"schema_version: 2\n"})),
    (
        "manifest_invalid",
        GLOSSARY,
        a_tree(
            {
                OTHER: SOURCE_TEXT.encode(),
                GLOSSARY: unit_file(
                    "glossary",
                    id="evidence:ablazione",
                    title="Ablazione",
                    provenance=PROVENANCE | {"source_file": OTHER},
                ),
            }
        ),
    ),
    (
        "manifest_unit_missing",
        "manifest.yaml",
        a_tree({"manifest.yaml": manifest_file(*BOTH, "evidence:gone")}),
    ),
    (
        "pipeline_version_mismatch",
        "manifest.yaml",
        a_tree({"manifest.yaml": edited(manifest_file(*BOTH), "authoring-v1", "authoring-v0")}),
    ),
    ("source_missing", SOURCE, a_tree({SOURCE: None})),
    ("source_missing", UNIT, a_tree({SOURCE: None})),
    (
        "source_missing",
        UNIT,
        a_tree(workspace_yaml=WORKSPACE + b"evidence:\n  exclude: ['*.md']\n"),
    ),
    ("source_hash_mismatch", UNIT, a_tree({UNIT: unit_file(provenance=PROVENANCE)})),
    ("source_hash_mismatch", SOURCE, a_tree({SOURCE: SOURCE_TEXT.encode() + b"More.\n"})),
    ("source_not_prepared", OTHER, a_tree({OTHER: b"New.\n"})),
    ("source_type_unsupported", "source/a.docx", a_tree({"source/a.docx": b"PK"})),
    ("source_too_large", OTHER, a_tree({OTHER: b"x" * (1024 * 1024 + 1)})),
    (
        "source_unreadable",
        "source/a.json",
        a_tree(
            {"source/a.json": b"{"},
            workspace_yaml=WORKSPACE + b"evidence:\n  source_formats: [md, json]\n",
        ),
    ),
    ("excerpt_not_found", UNIT, a_tree({SOURCE: b"Something else.\n"})),
    ("credential_detected", UNIT, a_tree({UNIT: unit_file(body=f"password: {SECRET}")})),
    (
        "credential_detected",
        SOURCE,
        a_tree({SOURCE: f"{SOURCE_TEXT}postgres://ada:{SECRET}@db/x\n".encode()}),
    ),
    (
        "credential_detected",
        "workspace.yaml",
        a_tree(workspace_yaml=WORKSPACE + f"# token: {SECRET}\n".encode()),
    ),
    ("atomic_content_too_large", UNIT, a_tree({UNIT: unit_file(payload=BIG_FORMULA)})),
    ("evaluation_missing", "evaluation.yaml", a_tree({"evaluation.yaml": None})),
    (
        "evaluation_invalid",
        "evaluation.yaml",
        a_tree({"evaluation.yaml": edited(EVALUATION, "mixed", "lexical")}),
    ),
    (
        "evaluation_unknown_id",
        "evaluation.yaml",
        a_tree({"evaluation.yaml": edited(EVALUATION, "evidence:ablazione", "evidence:gone")}),
    ),
    (
        "symlink_refused",
        "curated/link.md",
        a_tree(refused=(RefusedPath("curated/link.md", "symlink_refused"),)),
    ),
    ("path_refused", "notes.txt", a_tree(refused=(RefusedPath("notes.txt", "path_refused"),))),
    ("path_refused", "curated/formula/x.txt", a_tree({"curated/formula/x.txt": b"x"})),
]
BLOCKING: list[tuple[str, str, EvidenceTree]] = [
    (
        "review_item_open",
        UNIT,
        a_tree({UNIT: unit_file(review_items=[{"code": "kind_inferred", "message": "Davvero?"}])}),
    ),
    (
        "orphaned_unit",
        GLOSSARY,
        a_tree(
            {
                "manifest.yaml": manifest_file(
                    "evidence:fascia-pediatrica", orphans=("evidence:ablazione",)
                )
            }
        ),
    ),
]
WARNINGS: list[tuple[str, str, EvidenceTree]] = [
    ("hidden_text", UNIT, a_tree({UNIT: unit_file(body="Testo <!-- nascosto -->")})),
    ("personal_data_suspected", UNIT, a_tree({UNIT: unit_file(body="Scrivi a ada@example.org")})),
    (
        "dialect_uncertain",
        UNIT,
        a_tree({UNIT: unit_file(payload=FORMULA | {"sql": "nvl(clinical.patient.birth_date, 1)"})}),
    ),
    ("dismissals_invalid", "dismissals.yaml", a_tree({"dismissals.yaml": b"- x\n"})),
    ("near_duplicate", UNIT, a_tree(with_second("formula", FORMULA, title="Fascia pediatrica"))),
    (
        "conflicting_formula",
        UNIT,
        a_tree(with_second("formula", FORMULA | {"sql": "clinical.patient.birth_date > now()"})),
    ),
    (
        "conflicting_term",
        GLOSSARY,
        a_tree(with_second("glossary", {"term": "Ablazione", "definition": "Un esame."})),
    ),
    (
        "conflicting_enum",
        "curated/enum/uno.md",
        a_tree(
            {
                "manifest.yaml": manifest_file(*BOTH, "evidence:uno", "evidence:due"),
                "curated/enum/uno.md": unit_file("enum", id="evidence:uno", title="Sesso"),
                "curated/enum/due.md": unit_file(
                    "enum",
                    id="evidence:due",
                    title="Genere",
                    payload={
                        "column": "clinical.patient.sex",
                        "values": [{"value": "F", "meaning": "fratello"}],
                    },
                ),
            }
        ),
    ),
]


def found(tree: EvidenceTree) -> set[tuple[str, str, Severity]]:
    return {(each.code, each.path, each.severity) for each in validate(tree).findings}


def test_a_sound_tree_is_publishable_and_says_nothing() -> None:
    report = validate(a_tree())
    assert report.as_json() == {
        "publishable": True,
        "findings": [],
        "omitted": 0,
        "open_review_items": 0,
        "orphans": 0,
    }


@pytest.mark.parametrize(("code", "path", "tree"), FAULTS)
def test_each_error_has_its_code_and_path_and_blocks(
    code: str, path: str, tree: EvidenceTree
) -> None:
    assert (code, path, Severity.ERROR) in found(tree)
    assert not validate(tree).publishable


@pytest.mark.parametrize(("code", "path", "tree"), BLOCKING)
def test_open_items_and_orphans_block_without_being_errors(
    code: str, path: str, tree: EvidenceTree
) -> None:
    report = validate(tree)
    assert found(tree) == {(code, path, Severity.WARNING)}
    assert (report.errors, report.publishable) == (0, False)
    assert report.open_review_items + report.orphans == 1


@pytest.mark.parametrize(("code", "path", "tree"), WARNINGS)
def test_a_warning_never_blocks(code: str, path: str, tree: EvidenceTree) -> None:
    assert (code, path, Severity.WARNING) in found(tree)
    assert {other for other, _, _ in found(tree)} == {code}
    assert validate(tree).publishable


def test_every_code_of_the_specification_has_a_case() -> None:
    assert {code for code, _, _ in FAULTS} == ERROR_CODES
    assert {code for code, _, _ in BLOCKING} == BLOCKING_CODES
    assert {code for code, _, _ in WARNINGS} == WARNING_CODES


@pytest.mark.parametrize(("code", "path", "tree"), [*FAULTS, *BLOCKING, *WARNINGS])
def test_no_message_is_long_or_repeats_a_secret(code: str, path: str, tree: EvidenceTree) -> None:
    for each in validate(tree).findings:
        assert 0 < len(each.message) <= 500
        assert SECRET not in each.message


def test_a_secret_in_an_excerpt_or_a_review_item_is_not_repeated_either() -> None:
    doubtful = unit_file(
        review_items=[{"code": "doubt", "message": f"La password: {SECRET} va tolta?"}],
        provenance=PROVENANCE | {"supporting_excerpts": [f"password: {SECRET}"]},
    )
    report = validate(a_tree({UNIT: doubtful}))
    codes = {each.code for each in report.findings}
    assert {"excerpt_not_found", "review_item_open", "credential_detected"} <= codes
    assert SECRET not in str(report.as_json())


def test_a_broken_unit_is_one_fault_and_not_also_missing_from_manifest_or_exam() -> None:
    tree = a_tree({UNIT: b"nothing of a unit"})
    assert {(code, path) for code, path, _ in found(tree)} == {("unit_invalid", UNIT)}


def test_a_broken_unit_names_every_field_and_the_line_of_the_first() -> None:
    broken = edited(edited(unit_file(), "sql_generation", "dancing"), "concept:", "konzept:")
    messages = [str(each.message) for each in validate(a_tree({UNIT: broken})).findings]
    assert any(message.startswith("Line ") and "purposes" in message for message in messages)
    assert any("payload" in message for message in messages)


def test_without_a_manifest_one_finding_says_so_and_not_one_a_unit() -> None:
    assert {code for code, _, _ in found(a_tree({"manifest.yaml": None}))} == {"manifest_missing"}


def test_an_orphan_is_not_also_accused_of_its_missing_source() -> None:
    empty = manifest_file(orphans=BOTH)
    tree = a_tree({"manifest.yaml": empty.replace(SOURCE.encode(), b"source/z.md"), SOURCE: None})
    codes = [each.code for each in validate(tree).findings if each.path in {UNIT, GLOSSARY}]
    assert codes == ["orphaned_unit", "orphaned_unit"]


def test_hidden_and_excluded_sources_and_a_readme_are_passed_over() -> None:
    extra = {"source/.obsidian/x.md": b"x", "source/archivio/a.docx": b"x", "README.md": b"Hello"}
    exclude = WORKSPACE + b"evidence:\n  exclude: ['**/archivio/**']\n"
    assert validate(a_tree(extra, workspace_yaml=exclude)).findings == ()


def test_crlf_and_a_byte_order_mark_change_nothing() -> None:
    tree = a_tree()
    windows = {
        path: b"\xef\xbb\xbf" + data.replace(b"\n", b"\r\n") for path, data in tree.files.items()
    }
    assert validate(a_tree(windows)).findings == ()


def test_of_thousands_of_findings_a_thousand_are_kept_errors_first() -> None:
    notes = {f"source/{number:05}.md": b"<!-- x -->\n" for number in range(1_200)}
    report = validate(a_tree(notes))
    assert (len(report.findings), report.omitted) == (MAX_FINDINGS, 1_400)
    assert {each.code for each in report.findings} == {"source_not_prepared"}
    assert report.errors == 1_200


def remembered(tree: EvidenceTree) -> Mapping[str, set[ValidationFinding]]:
    corpus = inspect(tree)
    by_path: dict[str, set[ValidationFinding]] = {}
    for each in (*corpus.findings(), *relate(corpus)):
        by_path.setdefault(each.path, set()).add(each)
    return by_path


def test_findings_of_paths_no_change_reaches_stay_as_they_were() -> None:
    """What the module's table promises to whoever keeps findings by key."""
    cases = [tree for _, _, tree in (*FAULTS, *BLOCKING, *WARNINGS)]
    chance = random.Random(7)  # noqa: S311
    for _ in range(40):
        before, donor = chance.sample(cases, 2)
        after = ChangeSet({UNIT: donor.files.get(UNIT)}).apply(before)
        old, new = remembered(before), remembered(after)
        reached = {UNIT, "manifest.yaml", "evaluation.yaml"}
        reached |= {path for path in {*old, *new} if path.endswith("fascia-pediatrica.md")}
        reached.add("curated/formula/other.md")
        for path in {*old, *new} - reached:
            assert old.get(path) == new.get(path)


JUNK: tuple[bytes, ...] = (
    b"\x00",
    b"\xff",
    b"---\n",
    b": ",
    b"- ",
    b'"',
    b"{",
    b"&a ",
    b"*a",
    b"!!x ",
    b"\t",
    b"%(x)s",
)
JUNK += (b"\xe2\x80\xae", b"\xed\xa0\x80", b"e\xcc\x80", b"$$", b"/*", b"https://a:b1c2d3@x/")


@given(st.data())
def test_no_content_makes_validation_raise(data: st.DataObject) -> None:
    tree = a_tree()
    path = data.draw(st.sampled_from(sorted(tree.files)))
    content = tree.files[path]
    at = data.draw(st.integers(0, len(content)))
    skipped = data.draw(st.integers(0, 30))
    piece = data.draw(st.sampled_from(JUNK) | st.binary(max_size=4))
    broken = content[:at] + piece + content[at + skipped :]
    report = validate(a_tree({path: broken}, workspace_yaml=WORKSPACE))
    assert all(0 < len(each.message) <= 500 for each in report.findings)
    assert report.publishable is (report.errors == 0)
