from __future__ import annotations

import os
from pathlib import Path

import pytest

from evidence import reading
from evidence.domain.findings import ERROR_CODES
from evidence.domain.manifest import ManifestInvalid
from evidence.domain.normalization import InvalidUtf8
from evidence.domain.tree import EvidenceTree, RefusedPath
from evidence.domain.units import UnitInvalid
from evidence.reading import (
    FolderUnreadable,
    NotAWorkspace,
    load_curated_tree,
    load_manifest,
    read_directory,
    validate_workspace_evidence,
)
from tests.evidence.domain.corpus import SOURCE, UNIT, WORKSPACE, a_tree


def written(root: Path, tree: EvidenceTree | None = None) -> Path:
    """Write a tree below a folder and give the folder."""
    tree = a_tree() if tree is None else tree
    (root / "workspace.yaml").write_bytes(tree.workspace_yaml or b"")
    for path, data in tree.files.items():
        place(root, path, data)
    return root


def place(root: Path, path: str, data: bytes = b"x") -> None:
    target = root / "evidence" / path
    target.parent.mkdir(parents=True, exist_ok=True)
    target.write_bytes(data)


def refused(root: Path) -> tuple[RefusedPath, ...]:
    return read_directory(root).refused


def test_a_folder_gives_the_very_tree_that_was_written(tmp_path: Path) -> None:
    tree = read_directory(written(tmp_path))
    assert tree == a_tree()
    assert tree.content_digest() == a_tree().content_digest()


def test_a_valid_folder_and_its_tree_give_the_same_report(tmp_path: Path) -> None:
    root = written(tmp_path)
    assert validate_workspace_evidence(root).publishable
    assert validate_workspace_evidence(str(root)) == validate_workspace_evidence(a_tree())


def test_a_folder_with_only_a_workspace_file_is_an_empty_workspace(tmp_path: Path) -> None:
    (tmp_path / "workspace.yaml").write_bytes(WORKSPACE)
    tree = read_directory(tmp_path)
    assert tree.workspace is not None
    assert (dict(tree.files), tree.refused) == ({}, ())


def test_a_folder_without_a_workspace_file_is_read_and_the_finding_says_so(tmp_path: Path) -> None:
    root = written(tmp_path)
    (root / "workspace.yaml").unlink()
    codes = {each.code for each in validate_workspace_evidence(root).findings}
    assert codes == {"workspace_missing"}


@pytest.mark.parametrize("name", ["missing", "."])
def test_a_folder_that_is_no_workspace_is_refused(tmp_path: Path, name: str) -> None:
    with pytest.raises(NotAWorkspace) as fault:
        read_directory(tmp_path / name)
    assert fault.value.code in ERROR_CODES


@pytest.mark.parametrize(
    "name",
    [
        "notes.txt",
        "other/a.md",
        "curated/formula/a.txt",
        "curated/formula/.a.md",
        "curated/.trash/a.md",
        "source/git~1/a.md",
        "source/zero\u200bwidth.md",
        "source/bidi\u202e.md",
        "source/control\x01.md",
        "source/new\nline.md",
        "source/back\\slash.md",
        "source/e\u0300.md",
    ],
)
def test_a_file_that_may_not_be_there_is_refused_and_left_out(tmp_path: Path, name: str) -> None:
    root = written(tmp_path)
    place(root, name)
    assert refused(root) == (RefusedPath(name, "path_refused"),)
    assert dict(read_directory(root).files) == a_tree().files


def test_a_name_that_is_not_utf8_is_refused_and_can_be_printed(tmp_path: Path) -> None:
    root = written(tmp_path)
    place(root, os.fsdecode(b"source/caff\xe8.md"))
    (only,) = refused(root)
    assert only.code == "path_refused"
    assert only.path.encode() == b"source/caff\\udce8.md"


def test_names_that_differ_only_in_case_are_both_refused(tmp_path: Path) -> None:
    root = written(tmp_path)
    place(root, "source/PAZIENTI.md")
    place(root, "source/Pazienti.md")
    assert {each.path for each in refused(root)} == {
        SOURCE,
        "source/PAZIENTI.md",
        "source/Pazienti.md",
    }
    assert SOURCE not in read_directory(root).files


def test_links_are_never_followed(tmp_path: Path) -> None:
    root = tmp_path / "w"
    root.mkdir()
    written(root)
    (tmp_path / "secret.md").write_text("secret")
    (root / "evidence/source/link.md").symlink_to(tmp_path / "secret.md")
    (root / "evidence/source/folder").symlink_to(tmp_path)
    (root / "evidence/curated/loop").symlink_to(root / "evidence")
    (root / "evidence/dangling.yaml").symlink_to(tmp_path / "nothing")
    assert refused(root) == tuple(
        RefusedPath(path, "symlink_refused")
        for path in ("curated/loop", "dangling.yaml", "source/folder", "source/link.md")
    )
    assert validate_workspace_evidence(root).errors == 4


def test_a_linked_workspace_file_or_evidence_folder_is_refused(tmp_path: Path) -> None:
    real = tmp_path / "real"
    real.mkdir()
    written(real)
    root = tmp_path / "root"
    root.mkdir()
    (root / "workspace.yaml").symlink_to(real / "workspace.yaml")
    (root / "evidence").symlink_to(real / "evidence")
    tree = read_directory(root)
    assert tree.workspace is None
    assert dict(tree.files) == {}
    assert {each.path for each in tree.refused} == {"workspace.yaml", "evidence"}


def test_a_repository_inside_the_folder_is_refused_and_not_read(tmp_path: Path) -> None:
    root = written(tmp_path)
    place(root, "source/.git/config")
    place(root, "source/nested/.git", b"gitdir: elsewhere")
    assert refused(root) == (
        RefusedPath("source/.git", "path_refused"),
        RefusedPath("source/nested/.git", "path_refused"),
    )


def test_a_pipe_is_refused_without_waiting_for_a_writer(tmp_path: Path) -> None:
    root = written(tmp_path)
    os.mkfifo(root / "evidence/source/pipe.md")
    assert refused(root) == (RefusedPath("source/pipe.md", "path_refused"),)


def test_hidden_files_under_source_count_in_the_digest_and_nowhere_else(tmp_path: Path) -> None:
    root = written(tmp_path)
    place(root, "source/.obsidian/app.json")
    place(root, "README.md")
    assert read_directory(root).content_digest() != a_tree().content_digest()
    assert validate_workspace_evidence(root).findings == ()


def test_above_the_limit_of_files_reading_stops_with_one_refusal(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(reading, "MAX_FILES", 5)
    root = written(tmp_path)
    for number in range(20):
        place(root, f"source/x{number:02}.md")
    tree = read_directory(root)
    assert len(tree.files) == 5
    assert tree.refused == (RefusedPath("source/x00.md", "path_refused"),)


def test_above_the_limit_of_bytes_reading_stops_with_one_refusal(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(reading, "MAX_BYTES", 10_000)
    root = written(tmp_path)
    place(root, "source/x.md", b"x" * 10_000)
    place(root, "source/y.md")
    assert refused(root) == (RefusedPath("source/x.md", "path_refused"),)


def test_a_folder_the_system_does_not_let_us_read_is_an_operators_fault(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    root = written(tmp_path)

    def denied(path: object) -> None:
        raise PermissionError(13, "Permission denied", str(path))

    monkeypatch.setattr(os, "scandir", denied)
    with pytest.raises(FolderUnreadable) as fault:
        read_directory(root)
    assert fault.value.path == str(root / "evidence")


def test_the_units_of_a_folder_come_in_path_order(tmp_path: Path) -> None:
    units = load_curated_tree(written(tmp_path))
    assert [unit.id for unit in units] == ["evidence:fascia-pediatrica", "evidence:ablazione"]


def test_a_broken_unit_is_raised_with_its_path(tmp_path: Path) -> None:
    root = written(tmp_path)
    place(root, UNIT, b"broken")
    with pytest.raises(UnitInvalid) as fault:
        load_curated_tree(root)
    assert fault.value.path == UNIT


def test_a_manifest_is_loaded_from_its_file(tmp_path: Path) -> None:
    root = written(tmp_path)
    assert load_manifest(root / "evidence/manifest.yaml").owners()["evidence:ablazione"] == SOURCE


@pytest.mark.parametrize(
    ("data", "fault"), [(b"- a list\n", ManifestInvalid), (b"\xff", InvalidUtf8)]
)
def test_a_broken_manifest_is_raised(tmp_path: Path, data: bytes, fault: type[Exception]) -> None:
    (tmp_path / "manifest.yaml").write_bytes(data)
    with pytest.raises(fault):
        load_manifest(tmp_path / "manifest.yaml")


def test_a_missing_manifest_is_an_operators_fault(tmp_path: Path) -> None:
    with pytest.raises(FolderUnreadable):
        load_manifest(tmp_path / "manifest.yaml")
