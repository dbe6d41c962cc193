"""Makers of workspace trees, candidates and work trees for the tests of authoring."""

from __future__ import annotations

import subprocess
from collections.abc import Mapping
from pathlib import Path

from evidence.adapters import git_process
from evidence.domain.manifest import Manifest, parse_manifest
from evidence.domain.tree import MANIFEST_PATH, EvidenceTree
from evidence.domain.units import EvidenceKind, EvidencePurpose, EvidenceScope
from evidence.domain.workspace import parse_workspace
from evidence.ports import RestructureCandidate

WORKSPACE_YAML = "schema_version: 1\nslug: clinica\ntitle: Clinica\nlanguage: it\n"
NOTE = "# Età\n\nSono pediatrici i pazienti con meno di 18 anni.\n"
EXCERPT = "Sono pediatrici i pazienti con meno di 18 anni."


def a_tree(files: Mapping[str, str | bytes], *, workspace: str = WORKSPACE_YAML) -> EvidenceTree:
    """Give a tree of these files, by path relative to `evidence/`."""
    return EvidenceTree(
        workspace=parse_workspace(workspace),
        workspace_yaml=workspace.encode(),
        files={
            path: data if isinstance(data, bytes) else data.encode() for path, data in files.items()
        },
    )


def a_candidate(title: str = "Paziente pediatrico", **fields: object) -> RestructureCandidate:
    """Give a glossary candidate that quotes `EXCERPT`."""
    values: dict[str, object] = {
        "kind": EvidenceKind.GLOSSARY,
        "title": title,
        "purposes": (EvidencePurpose.DISAMBIGUATION,),
        "scope": EvidenceScope(),
        "excerpts": (EXCERPT,),
        "payload": {"term": title, "definition": "Paziente con meno di 18 anni."},
    }
    return RestructureCandidate(**(values | fields))  # type: ignore[arg-type]


def the_manifest(tree: EvidenceTree) -> Manifest:
    """Give the manifest of a tree."""
    return parse_manifest(tree.files[MANIFEST_PATH].decode())


def git(folder: Path, *arguments: str) -> str:
    """Run plain Git in a folder as an oracle of its own and give what it prints."""
    settings = ("-c", "user.name=Ada", "-c", "user.email=ada@example.org")
    done = subprocess.run(
        ["git", "-c", "safe.directory=*", *settings, "-C", str(folder), *arguments],
        check=True,
        capture_output=True,
        env=git_process.environment(),
    )
    return done.stdout.decode().strip()


def commit_all(folder: Path) -> None:
    """Commit everything in a work tree, ignored files excepted."""
    git(folder, "add", "-A")
    git(folder, "commit", "-q", "--allow-empty", "-m", "Commit")


def a_work_tree(top: Path, files: Mapping[str, str | bytes], *, folder: str = "kb") -> Path:
    """Make a Git work tree with one workspace, all committed, and give the workspace's folder."""
    root = top / folder
    (root / "evidence").mkdir(parents=True)
    (root / "workspace.yaml").write_text(WORKSPACE_YAML)
    put(root, files)
    git(top, "init", "-q", "-b", "main")
    commit_all(top)
    return root


def put(root: Path, files: Mapping[str, str | bytes]) -> None:
    """Write files of `evidence/` in a workspace's folder."""
    for path, data in files.items():
        target = root / "evidence" / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(data if isinstance(data, bytes) else data.encode())


def bytes_below(root: Path) -> dict[str, bytes]:
    """Give every file of `evidence/` with its bytes."""
    evidence = root / "evidence"
    return {
        path.relative_to(evidence).as_posix(): path.read_bytes()
        for path in sorted(evidence.rglob("*"))
        if path.is_file()
    }
