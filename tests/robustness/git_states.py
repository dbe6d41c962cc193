"""States of a work tree and names in a revision that a curator or a forge may hand us (spec 90)."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Final

from evidence.adapters import git_process
from tests.evidence.trees import commit_all, git, put

UNIT: Final = "curated/glossary/termine-1.md"
NEW_NOTE: Final = {"source/nuova.md": "# Glossario\n\n**Termine 2**: altro significato di prova.\n"}

State = Callable[[Path], None]
"""Brings a clean, prepared workspace with one new note into a state."""


def _lock(name: str) -> State:
    def held(root: Path) -> None:
        (root.parent / ".git" / name).write_text("held by somebody")

    return held


def _detached(root: Path) -> None:
    git(root, "checkout", "-q", "--detach")


def _stopped(name: str, *how: str) -> State:
    """Stop a command of Git in the middle, over a conflict in this file."""

    def stopped(root: Path) -> None:
        path = root / name
        git(root, "checkout", "-q", "-b", "side")
        path.write_text("side\n")
        commit_all(root.parent)
        git(root, "checkout", "-q", "main")
        path.write_text("main\n")
        commit_all(root.parent)
        settings = ("-c", "user.name=Ada", "-c", "user.email=ada@example.org")
        subprocess.run(
            ["git", *settings, "-C", str(root), *how, "side"],
            env=git_process.environment() | {"GIT_EDITOR": "true"},
            check=False,
            capture_output=True,
        )

    return stopped


def _assume_unchanged(root: Path) -> None:
    path = root / "evidence" / UNIT
    git(root, "update-index", "--assume-unchanged", f"evidence/{UNIT}")
    path.write_text(path.read_text() + "Un'aggiunta.\n")


def _ignored(root: Path) -> None:
    (root.parent / ".git" / "info" / "exclude").write_text("*.md\n")
    put(root, {"curated/glossary/nascosta.md": "x\n"})


def _crlf(root: Path) -> None:
    git(root, "config", "core.autocrlf", "true")
    for path in (root / "evidence" / "curated").rglob("*.md"):
        path.write_bytes(path.read_bytes().replace(b"\n", b"\r\n"))


def _link(name: str) -> State:
    def linked(root: Path) -> None:
        (root / "evidence" / name).symlink_to(root / "workspace.yaml")
        commit_all(root.parent)

    return linked


def _linked_folder(root: Path) -> None:
    (root / "evidence" / "curated").rename(root.parent / "elsewhere")
    (root / "evidence" / "curated").symlink_to(root.parent / "elsewhere")


def _submodule(name: str) -> State:
    def nested(root: Path) -> None:
        put(root, {f"{name}/x.md": "x\n"})
        git(root / "evidence" / name, "init", "-q")

    return nested


def _named(name: str | bytes) -> State:
    def written(root: Path) -> None:
        path = root / "evidence" / os.fsdecode(name)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("# Nota\n")

    return written


STATES: Final[Mapping[str, tuple[State, str]]] = {
    "a clean tree": (lambda root: None, ""),
    "index.lock held": (_lock("index.lock"), ""),
    "HEAD.lock held": (_lock("HEAD.lock"), ""),
    "a branch lock held": (_lock("refs/heads/main.lock"), ""),
    "a detached head": (_detached, ""),
    "a merge stopped over a unit": (_stopped(f"evidence/{UNIT}", "merge"), "dirty_curated_state"),
    "a rebase stopped over a unit": (_stopped(f"evidence/{UNIT}", "rebase"), "dirty_curated_state"),
    "a cherry-pick stopped over a unit": (
        _stopped(f"evidence/{UNIT}", "cherry-pick"),
        "dirty_curated_state",
    ),
    "a merge stopped elsewhere": (_stopped("README", "merge"), ""),
    "a rebase stopped elsewhere": (_stopped("README", "rebase"), ""),
    "a cherry-pick stopped elsewhere": (_stopped("README", "cherry-pick"), ""),
    "an edit Git was told not to see": (_assume_unchanged, "dirty_curated_state"),
    "an ignored unit": (_ignored, "dirty_curated_state"),
    "line ends of Windows": (_crlf, ""),
    "a link among the notes": (_link("source/link.md"), "symlink_refused"),
    "a link among the units": (_link("curated/glossary/link.md"), "symlink_refused"),
    "a linked folder": (_linked_folder, "unsafe_path"),
    "a submodule among the notes": (_submodule("source/sub"), "path_refused"),
    "a submodule among the units": (_submodule("curated/sub"), "dirty_curated_state"),
    "a note called .git/x": (_named("source/.git/x.md"), "path_refused"),
    "a note called .GIT/x": (_named("source/.GIT/x.md"), "path_refused"),
    "a note called git~1/x": (_named("source/git~1/x.md"), "path_refused"),
    "a note with a backslash": (_named("source/a\\b.md"), "path_refused"),
    "a note with a zero-width letter": (_named("source/a\u200bb.md"), "path_refused"),
    "a note with a bidirectional mark": (_named("source/a\u202eb.md"), "path_refused"),
    "a note with a line end": (_named("source/a\nb.md"), "path_refused"),
    "a note called in NFD": (_named("source/e\u0300.md"), "path_refused"),
    "a twin in case": (_named("source/NUOVA.md"), "path_refused"),
    "a name that is no UTF-8": (_named(b"source/caff\xe8.md"), "path_refused"),
    "a note that begins with a dash": (_named("source/-x.md"), ""),
    "a file beside the manifest": (_named("notes.txt"), "path_refused"),
}
"""What a preparation decides in each state: the code of its refusal, "" when it goes on."""

NAMES: Final[Mapping[str, tuple[bytes, ...]]] = {
    ".git/x": (b"source", b".git", b"x.md"),
    ".GIT/x": (b"source", b".GIT", b"x.md"),
    "git~1/x": (b"source", b"git~1", b"x.md"),
    "../x": (b"source", b"..", b"x.md"),
    "/x": (b"source", b"/x.md"),
    "./x": (b"source", b".", b"x.md"),
    "a backslash": (b"source", b"a\\b.md"),
    "a zero-width letter": (b"source", "a\u200bb.md".encode()),
    "NFD": (b"source", "e\u0300.md".encode()),
    "no UTF-8": (b"source", b"caff\xe8.md"),
    "a control character": (b"source", b"a\x01b.md"),
}
"""Parts of names that no checkout makes, and that a tree in Git may well have."""


def revision_with(repository: Path, parts: tuple[bytes, ...]) -> str:
    """Write a commit that holds a file of this name below `evidence/`, behind Git's own checks."""
    blob = _written(repository, "blob", b"# Nota\n")
    node, mode = blob, b"100644"
    for part in reversed(parts):
        node = _written(repository, "tree", mode + b" " + part + b"\0" + bytes.fromhex(node))
        mode = b"40000"
    yaml = git(repository, "rev-parse", "main:workspace.yaml")
    entries = b"40000 evidence\0" + bytes.fromhex(node)
    entries += b"100644 workspace.yaml\0" + bytes.fromhex(yaml)
    tree = _written(repository, "tree", entries)
    return git(repository, "commit-tree", tree, "-m", "x")


def _written(repository: Path, kind: str, data: bytes) -> str:
    command = ["hash-object", "-w", "--literally", "-t", kind, "--stdin"]
    return git_process.output(repository, *command, stdin=data).decode().strip()
