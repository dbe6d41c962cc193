"""Bad text and bad names, end to end: a code, the path, the line, and nothing is written."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path

import pytest

from evidence.domain.codec import dump_curated_markdown, parse_curated_markdown
from evidence.domain.units import EvidenceKind, build_unit
from tests.acceptance.ways import RULES
from tests.evidence.domain.test_codec import FILE
from tests.evidence.domain.test_payloads import REQUIRED, VALID
from tests.evidence.trees import a_work_tree, bytes_below, commit_all, git, put

UNIT = "curated/formula/fascia-pediatrica.md"
SOURCE = "source/domain/pazienti.md"
NOTE = "# Età\n\nSono pediatrici i pazienti con meno di 18 anni al ricovero.\n"
MANIFEST = f"""schema_version: 1
pipeline_version: evidence-authoring-v1
sources:
  {SOURCE}:
    sha256: sha256:{"0f3c" * 16}
    units:
    - evidence:fascia-pediatrica
orphans: []
"""
TEXTS: Mapping[str, tuple[str, str, int]] = {
    "a field twice": ("language: it", "title: Doppio", 6),
    "an anchor": ("title: Fascia", "title: &a Fascia", 5),
    "a tag": ("title: Fascia", "title: !!str Fascia", 5),
    "a merge key": ("language: it", "<<: *a", 6),
    "a tab that indents": ("language: it", "\tlanguage: it", 6),
    "an open quote": ("language: it", "language: 'it", 28),
    "a second document": ("language: it", "--- more: documents", 6),
    "a bell": ("language: it", "language: \u0007it", 6),
    "a C1 control": ("language: it", "language: \u0085it", 6),
    "an unknown field": ("language: it", "language: it\nstatus: approved", 7),
    "an unknown kind": ("kind: formula", "kind: formulas", 4),
    "an impossible version": ("schema_version: 1", "schema_version: 2024-02-31", 2),
    "a query for an expression": (
        "sql: |-\n    age(clinical.admission.admitted_at, clinical.patient.birth_date)\n"
        "      < interval '18 years'",
        "sql: SELECT 1",
        26,
    ),
    "a missing field": ("title: Fascia pediatrica\n", "", 1),
}
"""What is replaced in a sound file by what, and the line that the refusal must name."""
WHOLE: Mapping[str, tuple[str | bytes, int | None]] = {
    "a list": ("---\n- a\n- b\n---\n", 2),
    "no front matter": ("Solo testo.\n", 1),
    "no end": ("---\nid: x\n", 1),
    "nothing": ("", 1),
    "a NUL": (FILE.replace("Note del", "Note\0 del"), None),
    "no UTF-8": (b"---\nid: \xff\xfe\n---\n", None),
    "more than 64 KiB": (FILE + "x" * 70_000, None),
}


def a_workspace(tmp_path: Path, text: str | bytes) -> Path:
    """Give a committed workspace whose one unit has this file, and whose note waits."""
    files = {SOURCE: NOTE, UNIT: text, "manifest.yaml": MANIFEST}
    return a_work_tree(tmp_path / "top", files)


def assert_decided(root: Path, code: str, line: int | None) -> None:
    """Both commands name code, path and line; nothing is written, in Git neither."""
    before, head = bytes_below(root), git(root, "rev-parse", "HEAD")
    exit_code, report = RULES.tht("validate", root)
    assert exit_code == 1
    (found,) = (
        each for each in report["findings"] if each["path"] == UNIT and each["severity"] == "error"
    )
    exit_code, refused = RULES.tht("prepare", root)
    assert exit_code == 1
    for told in (found, refused["error"]):
        assert (told["code"], told["path"]) == (code, UNIT)
        if line is not None:
            assert told["message"].startswith(f"Line {line}: ")
    assert bytes_below(root) == before
    assert git(root, "rev-parse", "HEAD") == head
    assert git(root, "status", "--short") == ""


@pytest.mark.parametrize("name", TEXTS)
def test_a_bad_text_is_refused_with_code_path_and_line(name: str, tmp_path: Path) -> None:
    old, new, line = TEXTS[name]
    assert old in FILE
    assert_decided(a_workspace(tmp_path, FILE.replace(old, new, 1)), "unit_invalid", line)


@pytest.mark.parametrize("name", WHOLE)
def test_a_bad_file_is_refused_with_code_and_path(name: str, tmp_path: Path) -> None:
    text, line = WHOLE[name]
    codes = {
        "no UTF-8": "invalid_utf8",
        "a NUL": "invalid_utf8",
        "more than 64 KiB": "unit_too_large",
    }
    assert_decided(a_workspace(tmp_path, text), codes.get(name, "unit_invalid"), line)


@pytest.mark.parametrize(
    "text",
    [
        FILE.replace("Note del curatore.", "Prima\n\n---\n\n```yaml\n---\na: b\n---\n```\n---"),
        FILE.replace("Età al", "|-\n    sopra\n    ---\n    sotto\n    Età al"),
        "\ufeff" + FILE,
        FILE.replace("\n", "\r\n"),
        FILE.replace("Note del", "Note\u2028del"),
    ],
    ids=["hyphens in the body", "in a block", "a byte order mark", "CRLF", "U+2028"],
)
def test_what_only_looks_odd_is_taken(text: str, tmp_path: Path) -> None:
    root = a_workspace(tmp_path, text)
    _, report = RULES.tht("validate", root)
    assert "unit_invalid" not in {each["code"] for each in report["findings"]}


@pytest.mark.parametrize(("letter", "name"), [("\u202e", "U+202E"), ("\u200b", "U+200B")])
def test_a_letter_nobody_sees_is_named_with_its_line(
    letter: str, name: str, tmp_path: Path
) -> None:
    root = a_workspace(tmp_path, FILE.replace("Note del", f"Note{letter}del"))
    _, report = RULES.tht("validate", root)
    (found,) = (each for each in report["findings"] if each["code"] == "hidden_text")
    assert found["path"] == UNIT
    assert f"line 31 on, this text hides something: {name}" in found["message"]
    assert letter not in found["message"]


@pytest.mark.parametrize("kind", EvidenceKind)
def test_each_kind_is_taken_and_refused_without_what_it_must_say(
    kind: EvidenceKind, tmp_path: Path
) -> None:
    sound = parse_curated_markdown(FILE).model_dump(mode="json", exclude={"body"})
    fields = sound | {"schema_version": "1", "kind": str(kind), "payload": VALID[kind]}
    unit = build_unit(fields | {"body": "Testo."})
    path = f"curated/{kind}/fascia-pediatrica.md"
    root = a_work_tree(tmp_path / "top", {SOURCE: NOTE, path: dump_curated_markdown(unit)})
    _, report = RULES.tht("validate", root)
    assert "unit_invalid" not in {each["code"] for each in report["findings"]}
    missing = REQUIRED[kind][0]
    text = dump_curated_markdown(unit)
    put(root, {path: re.sub(rf"(?m)^  {missing}:.*\n(?:  [- ].*\n)*", "", text)})
    commit_all(root.parent)
    _, report = RULES.tht("validate", root)
    (found,) = (each for each in report["findings"] if each["code"] == "unit_invalid")
    assert found["path"] == path
    assert missing in found["message"] or "payload" in found["message"]
    assert found["message"].startswith("Line ")


@pytest.mark.parametrize(
    "name",
    ["source/.git/x.md", "source/.GIT/x.md", "source/git~1/x.md", "source/a\\b.md",
     "source/a\u200bb.md", "source/e\u0300.md", "source/domain/PAZIENTI.md", "altro/x.md"],
)  # fmt: skip
def test_a_bad_name_is_refused_with_its_code_and_nothing_is_written(
    name: str, tmp_path: Path
) -> None:
    root = a_work_tree(tmp_path / "top", {SOURCE: NOTE})
    put(root, {name: NOTE})
    before = bytes_below(root)
    exit_code, refused = RULES.tht("prepare", root)
    assert exit_code == 2
    assert refused["error"]["code"] == "path_refused"
    assert refused["error"]["path"]
    assert bytes_below(root) == before
    _, report = RULES.tht("validate", root)
    assert "path_refused" in {each["code"] for each in report["findings"]}
