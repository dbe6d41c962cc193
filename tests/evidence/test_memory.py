"""What is known of unchanged files shortens a report and never changes it."""

from __future__ import annotations

import errno
import json
import os
import random
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evidence.adapters import memory_file
from evidence.adapters.answer_cache import FileAnswerCache
from evidence.adapters.memory_file import FileMemories
from evidence.adapters.rules.restructurer import RulesRestructurer
from evidence.domain.memory import NOTHING_KNOWN, Memory
from evidence.domain.revalidation import revalidate
from evidence.domain.tree import EvidenceTree
from evidence.domain.validation import validate
from evidence.preparation import Terms, prepare
from tests.evidence.trees import a_tree

NOTES = {
    f"source/nota-{number}.md": (
        f"# Nota {number}\n\n**Termine {number % 4}**: la regola {number} del reparto vale.\n"
        f"\n- `0{number}`: valore {number % 2}\n\n`clinical.patient.age < 1{number}`\n"
    )
    for number in range(8)
}
SNIPPETS = (
    "",
    "kind",
    "\n\n**Termine 1**: tutt'altro.\n",
    "password = 'hunter2hunter2'",
    "<!-- nascosto -->",
    "mario.rossi@example.org",
    "\r\n",
    "\ufeff",
    "evidence:",
    "sha256:" + "0" * 64,
)


@pytest.fixture(scope="module")
def prepared() -> EvidenceTree:
    """Eight notes with their units and doubts, some of which contradict each other."""
    tree = a_tree(NOTES)
    return prepare(tree, RulesRestructurer()).change_set.apply(tree)


def edited(tree: EvidenceTree, chance: random.Random) -> EvidenceTree:
    """Change, remove, copy or break a few files."""
    files = dict(tree.files)
    for _ in range(chance.randrange(1, 4)):
        path = chance.choice(sorted(files))
        other = chance.choice(sorted(files))
        data, at = files[path], chance.randrange(len(files[path]) + 1)
        kind = chance.randrange(6)
        if kind == 0:
            del files[path]
        elif kind == 1:
            files[path.replace(".md", "-altro.md")] = data
        elif kind == 2:
            files[path] = files[other]
        elif kind == 3:
            files[path] = data[:at] + chance.choice([b"\xff", b"\0", b"", b"\n"]) + data[at + 1 :]
        else:
            files[path] = data[:at] + chance.choice(SNIPPETS).encode() + data[at:]
    return replace(tree, files={path: files[path] for path in sorted(files)})


@given(seed=st.integers(0, 2**32))
def test_a_report_made_with_a_memory_equals_the_one_made_of_the_files(
    prepared: EvidenceTree, seed: int
) -> None:
    chance, tree, known = random.Random(seed), prepared, revalidate(prepared).memory  # noqa: S311
    for _ in range(4):
        tree = edited(tree, chance)
        judged = revalidate(tree, known)
        assert judged.report == validate(tree)
        known = judged.memory


def test_a_preparation_with_a_memory_equals_one_without(prepared: EvidenceTree) -> None:
    known = prepare(prepared, RulesRestructurer()).memory
    files = dict(prepared.files)
    files["source/nota-3.md"] += b"\n**Altro**: una regola nuova.\n"
    after = replace(prepared, files=files)
    without = prepare(after, RulesRestructurer())
    made = prepare(after, RulesRestructurer(), terms=Terms(known=known))
    assert made.report.as_json() == without.report.as_json()
    assert made == without


def test_a_memory_of_another_workspace_file_counts_as_none(prepared: EvidenceTree) -> None:
    known = revalidate(prepared).memory
    assert known.units
    assert known.under("another") == Memory("another")


def test_a_kept_memory_comes_back_as_it_was(prepared: EvidenceTree, tmp_path: Path) -> None:
    broken = next(path for path in prepared.files if path.startswith("curated/"))
    files = {**prepared.files, broken: b"---\nid: x\nkind: [a\n---\n"}
    known = revalidate(replace(prepared, files=files)).memory
    FileMemories(tmp_path).put("a", known)
    read = FileMemories(tmp_path).get("a")
    assert read == known
    found = [each.message for unit in read.units.values() for each in unit.findings]
    assert found
    assert [(each.template, each.values) for each in found] == [
        (each.message.template, each.message.values)
        for unit in known.units.values()
        for each in unit.findings
    ]


@pytest.mark.parametrize(
    "damage", ["cut", "flipped", "other shape", "too deep", "a folder", "other rules"]
)
def test_a_damaged_memory_counts_as_none(
    prepared: EvidenceTree, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, damage: str
) -> None:
    memories = FileMemories(tmp_path)
    memories.put("a", revalidate(prepared).memory)
    (path,) = tmp_path.iterdir()
    data = path.read_bytes()
    if damage == "cut":
        path.write_bytes(data[:-20])
    elif damage == "flipped":
        path.write_bytes(data[:500] + bytes([data[500] ^ 1]) + data[501:])
    elif damage == "a folder":
        path.unlink()
        path.mkdir()
    elif damage == "too deep":
        body = b"[" * 200_000
        path.write_bytes(memory_file._digest(body).encode() + b"\n" + body)
    elif damage == "other shape":
        body = json.dumps({"rules": memory_file.rules_digest(), "units": []}).encode()
        path.write_bytes(memory_file._digest(body).encode() + b"\n" + body)
    else:
        monkeypatch.setattr(memory_file, "PACKAGE", tmp_path)
    assert memories.get("a") == NOTHING_KNOWN


def test_only_so_many_memories_are_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(memory_file, "MAX_KEPT", 3)
    for number in range(5):
        FileMemories(tmp_path).put(f"folder {number}", Memory("x"))
    assert len(list(tmp_path.iterdir())) == 3
    assert FileMemories(tmp_path).get("folder 4") == Memory("x")


def test_a_memory_is_kept_under_the_name_of_any_folder(tmp_path: Path) -> None:
    name = os.fsdecode(b"/home/anna/note-\xff")
    FileMemories(tmp_path).put(name, Memory("x"))
    assert FileMemories(tmp_path).get(name) == Memory("x")


def test_a_full_disk_leaves_no_draft_behind(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(_: Path, __: Path) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(Path, "replace", full)
    FileMemories(tmp_path).put("a", Memory("x"))
    FileAnswerCache(tmp_path).put("ab", ())
    assert [path for path in tmp_path.rglob("*") if path.is_file()] == []
