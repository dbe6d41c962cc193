"""Every state and every name is decided with a code, and changes no byte (spec 90, Figures)."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
from typer.testing import CliRunner

from evidence.adapters.git import GitRepository
from evidence.adapters.rules.restructurer import RulesRestructurer
from evidence.commands import evidence_app
from evidence.domain.tree import ChangeSet
from evidence.domain.validation import validate
from evidence.faults import Fault
from evidence.ports import Author, RepositoryBroken, RepositoryBusy
from evidence.preparation import prepare
from evidence.reading import read_revision
from tests.evidence.trees import WORKSPACE_YAML, a_work_tree, bytes_below, commit_all, git, put
from tests.makers import a_repository
from tests.robustness.figures import Figures
from tests.robustness.git_states import NAMES, NEW_NOTE, STATES, revision_with

GUARANTEE = "repository states and names"
NOTE = "# Glossario\n\n**Termine 1**: significato di prova.\n"
MANAGED = ("curated/", "manifest.yaml")

Preparing = Callable[[Path], str]
"""Prepares a folder and gives the code of its refusal, "" when it went on."""


@pytest.fixture(scope="module")
def prepared(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A workspace whose first note is prepared and committed, to be copied."""
    top = tmp_path_factory.mktemp("states") / "top"
    root = a_work_tree(top, {"source/prima.md": NOTE})
    assert as_the_command_does(root) == ""
    (root / "README").write_text("readme\n")
    commit_all(top)
    return top


def as_the_command_does(root: Path) -> str:
    """Run `tht evidence prepare`."""
    done = CliRunner().invoke(evidence_app, ["prepare", str(root), "--json"])
    if done.exit_code in {0, 3}:
        return ""
    return str(json.loads(done.stdout)["error"]["code"])


def everything(root: Path) -> dict[str, bytes]:
    """Give what is not the preparation's to write: notes, and all that Git keeps."""
    evidence = {
        path: data for path, data in bytes_below(root).items() if not path.startswith(MANAGED)
    }
    kept = root.parent / ".git"
    files = (path for path in kept.rglob("*") if path.is_file() and not path.is_symlink())
    names = {str(path.relative_to(kept)): path for path in files}
    ours = "evidence-portal/"
    return evidence | {
        name: path.read_bytes() for name, path in names.items() if not name.startswith(ours)
    }


def units_of(root: Path) -> dict[str, bytes]:
    return {path: data for path, data in bytes_below(root).items() if path.startswith(MANAGED)}


def wrongly_decided(preparing: Preparing, prepared: Path, folder: Path) -> list[str]:
    """Name the states that are decided otherwise than they should be, or that cost a byte."""
    wrong = []
    for number, (name, (bring_about, code)) in enumerate(STATES.items()):
        top = folder / str(number)
        shutil.copytree(prepared, top, symlinks=True)
        root = top / "kb"
        bring_about(root)
        put(root, NEW_NOTE)
        before, units = everything(root), units_of(root)
        decided = preparing(root)
        kept = everything(root) == before and (not code or units_of(root) == units)
        if decided != code or not kept:
            wrong.append(f"{name}: {decided or 'goes on'}")
    return wrong


def test_every_state_of_a_work_tree_is_decided_with_a_code(
    prepared: Path, tmp_path: Path, figures: Figures
) -> None:
    wrong = wrongly_decided(as_the_command_does, prepared, tmp_path)
    refused = sum(bool(code) for _, code in STATES.values())
    words = f"{len(STATES)} states: {refused} refused with a code, 0 bytes changed"
    figures.measured(GUARANTEE, "; ".join(wrong) or words, holds=not wrong)


def trusting_git_status(root: Path) -> str:
    """Prepare unless `git status` tells of a difference: the seeded bug."""
    dirty = git(root, "status", "--short", "--", "evidence/curated", "evidence/manifest.yaml")
    return "dirty_curated_state" if dirty else ""


def test_trusting_git_status_would_be_noticed(
    prepared: Path, tmp_path: Path, figures: Figures
) -> None:
    wrong = wrongly_decided(trusting_git_status, prepared, tmp_path)
    noticed = any(each.startswith("an edit Git was told not to see") for each in wrong)
    figures.caught(GUARANTEE, f"trusting git status: {len(wrong)} states wrong", noticed=noticed)


@pytest.fixture
def repository(tmp_path: Path) -> GitRepository:
    return a_repository(
        tmp_path / "r.git",
        {"workspace.yaml": WORKSPACE_YAML.encode(), "evidence/source/a.md": NOTE.encode()},
    )


def test_every_name_in_a_revision_is_decided_with_a_code(
    repository: GitRepository, figures: Figures
) -> None:
    let_in, refs = [], git(repository.path, "for-each-ref")
    for name, parts in NAMES.items():
        tree = read_revision(repository, revision_with(repository.path, parts))
        codes = {each.code for each in validate(tree).findings}
        with pytest.raises(Fault) as refused:
            prepare(tree, RulesRestructurer())
        if tree.files or "path_refused" not in codes or refused.value.code != "path_refused":
            let_in.append(name)
    holds = not let_in and git(repository.path, "for-each-ref") == refs
    words = f"{len(NAMES)} names in revisions refused, 0 let in"
    figures.measured(GUARANTEE, ", ".join(let_in) or words, holds=holds)


def test_a_tree_that_git_itself_cannot_list_is_a_fault_with_a_code(
    repository: GitRepository,
) -> None:
    broken = revision_with(repository.path, (b"source", b"", b"x.md"))
    with pytest.raises(RepositoryBroken, match="empty filename"):
        read_revision(repository, broken)


@pytest.mark.parametrize("name", ["-x", "--upload-pack=x", "-", "--all"])
def test_a_name_that_begins_with_a_dash_is_no_option(repository: GitRepository, name: str) -> None:
    refs = git(repository.path, "for-each-ref")
    for asked in (repository.head, repository.resolve):
        with pytest.raises(Fault) as refused:
            asked(name)
        assert refused.value.code == "revision_unknown"
    assert repository.entry(repository.head("main"), name) is None
    assert git(repository.path, "for-each-ref") == refs


def test_a_lock_that_somebody_holds_is_never_deleted_and_ends_as_busy(
    repository: GitRepository, figures: Figures
) -> None:
    lock = repository.path / "refs" / "heads" / "main.lock"
    lock.write_text("held by somebody")
    refs = git(repository.path, "for-each-ref")
    change = ChangeSet({"source/a.md": b"altro\n"})
    with pytest.raises(RepositoryBusy):
        repository.commit("main", change, Author("x", "x@x"), "x", repository.head("main"))
    holds = lock.read_text() == "held by somebody"
    holds = holds and git(repository.path, "for-each-ref") == refs
    figures.measured(GUARANTEE, "a lock of the branch in the portal: busy, kept", holds=holds)
