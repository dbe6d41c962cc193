"""Makers of what tests work on: repositories, workspaces, units and sources, all real."""

from __future__ import annotations

import subprocess
from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from evidence import conf
from evidence.adapters import git_creation, git_import, git_process
from evidence.adapters.git import COMMITTER, GitRepository
from evidence.domain.codec import dump_curated_markdown
from evidence.domain.identifiers import unit_path
from evidence.domain.manifest import Manifest, ManifestSource, dump_manifest
from evidence.domain.normalization import source_hash
from evidence.domain.units import CuratedEvidence, build_unit
from evidence.models import Workspace
from evidence.ports import Actor, Author

SOMEBODY = Author("Ada Lovelace", "ada@example.org")
CURATOR = Actor(username="curatrice", name="Ada Lovelace", email="ada@example.org")
NOON = datetime(2026, 1, 2, 12, 0, tzinfo=UTC)


def git(directory: Path, *arguments: str) -> str:
    """Run plain Git as an oracle of its own and give what it prints."""
    done = subprocess.run(
        ["git", f"--git-dir={directory}", *arguments],
        check=True,
        capture_output=True,
        env=git_process.environment(),
    )
    return done.stdout.decode().strip()


def put(
    path: Path,
    files: Mapping[str, bytes | None],
    *,
    message: str = "Commit",
    author: Author = SOMEBODY,
    branch: str = "main",
) -> str:
    """Commit full paths on a branch behind the portal's back, as an outside push does."""
    parent = (
        subprocess.run(
            [
                "git",
                f"--git-dir={path}",
                "rev-parse",
                "--verify",
                "--quiet",
                f"refs/heads/{branch}",
            ],
            capture_output=True,
            check=False,
        )
        .stdout.decode()
        .strip()
    )
    commit = git_import.write_commit(
        path,
        files,
        parent=parent or None,
        words=git_import.Words(git_import.People(author, COMMITTER), NOON, message),
    )
    git(path, "update-ref", f"refs/heads/{branch}", commit)
    return commit


def put_link(path: Path, name: str, *, mode: str, target: str) -> str:
    """Commit a symlink (mode 120000) or a submodule (160000) that no writer of ours would make."""
    stream = f"M {mode} {target} {name}\n" if mode == "160000" else _inline(mode, target, name)
    head = git(path, "rev-parse", "refs/heads/main")
    who = f"{SOMEBODY.name} <{SOMEBODY.email}> {int(NOON.timestamp())} +0000"
    text = f"commit refs/heads/main\ncommitter {who}\ndata 1\nx\nfrom {head}\n{stream}\ndone\n"
    git_process.output(path, "fast-import", "--quiet", "--done", stdin=text.encode())
    return git(path, "rev-parse", "refs/heads/main")


def _inline(mode: str, target: str, name: str) -> str:
    return f"M {mode} inline {name}\ndata {len(target.encode())}\n{target}\n"


def a_repository(path: Path, files: Mapping[str, bytes], *, folder: str = "") -> GitRepository:
    """Give a bare repository whose branch `main` holds these full paths in one commit."""
    git_creation.create(path)
    put(path, files, message="Begin")
    return GitRepository(path, folder=folder, clock=lambda: NOON)


def yaml_of_workspace(slug: str = "clinica", **settings: str) -> bytes:
    """Give a small `workspace.yaml`; more top-level sections may follow as YAML text."""
    head = f"schema_version: 1\nslug: {slug}\ntitle: Clinica\nlanguage: it\n"
    return (head + "".join(f"{name}:\n{text}" for name, text in settings.items())).encode()


def a_unit(
    evidence_id: str = "evidence:fascia-pediatrica",
    *,
    source: str = "source/pazienti.md",
    text: str = "Sono pediatrici i pazienti con meno di 18 anni.\n",
    **fields: object,
) -> CuratedEvidence:
    """Give a valid glossary unit that quotes the first line of its source's text."""
    data: dict[str, object] = {
        "schema_version": "1",
        "id": evidence_id,
        "kind": "glossary",
        "title": evidence_id.removeprefix("evidence:").replace("-", " ").capitalize(),
        "purposes": ["disambiguation"],
        "provenance": {
            "source_file": source,
            "source_sha256": source_hash(text),
            "supporting_excerpts": [text.partition("\n")[0]],
        },
        "payload": {"term": evidence_id, "definition": "Meno di 18 anni."},
    }
    return build_unit(data | fields)


def unit_file(unit: CuratedEvidence) -> tuple[str, bytes]:
    """Give where a unit lies, relative to `evidence/`, and its bytes."""
    return unit_path(unit.kind, unit.id), dump_curated_markdown(unit).encode()


def an_evaluation(*expected: str) -> bytes:
    """Give an exam of three questions that expect these ids."""
    ids = "".join(f"  - {each}\n" for each in expected)
    return (
        "schema_version: 1\nqueries:\n"
        + "".join(
            f"- id: {profile}\n  query: Chi è pediatrico?\n  profile: {profile}\n"
            f"  purpose: disambiguation\n  expected:\n{ids}"
            for profile in ("lexical", "semantic", "mixed")
        )
    ).encode()


def a_corpus(units: int = 1, *, slug: str = "clinica", units_a_source: int = 1) -> dict[str, bytes]:
    """Give the full paths of a publishable workspace: sources, units, manifest, evaluation."""
    files: dict[str, bytes] = {"workspace.yaml": yaml_of_workspace(slug)}
    sources: dict[str, ManifestSource] = {}
    for first in range(0, units, units_a_source):
        numbers = range(first, min(first + units_a_source, units))
        path = f"source/nota-{first // units_a_source}.md"
        text = "".join(sentence(number) for number in numbers)
        made = [a_numbered_unit(number, source=path, text=text) for number in numbers]
        files[f"evidence/{path}"] = text.encode()
        files |= {f"evidence/{where}": data for where, data in map(unit_file, made)}
        sources[path] = ManifestSource(
            sha256=source_hash(text), units=tuple(unit.id for unit in made)
        )
    files["evidence/manifest.yaml"] = dump_manifest(Manifest(sources=sources)).encode()
    files["evidence/evaluation.yaml"] = an_evaluation("evidence:regola-0")
    return files


def sentence(number: int) -> str:
    """Give the line of a note that the unit of this number quotes."""
    return f"La regola {number} vale per i pediatrici.\n"


def a_numbered_unit(number: int, *, source: str, text: str, **fields: Any) -> CuratedEvidence:
    """Give the unit of `a_corpus` that bears this number."""
    provenance = {
        "source_file": source,
        "source_sha256": source_hash(text),
        "supporting_excerpts": [sentence(number).strip()],
    }
    return a_unit(f"evidence:regola-{number}", provenance=provenance, **fields)


def a_workspace(
    files: Mapping[str, bytes] | None = None, *, slug: str = "clinica", folder: str = ""
) -> Workspace:
    """Register a workspace over a new repository in the portal's home; nothing is mirrored yet.

    The test must use the `portal_home` and `db` fixtures.
    """
    prefix = f"{folder}/" if folder else ""
    corpus = a_corpus(slug=slug) if files is None else files
    path = conf.current().repository_path(slug)
    a_repository(path, {prefix + name: data for name, data in corpus.items()}, folder=folder)
    return Workspace.objects.create(slug=slug, title=slug, language="it", folder=folder)
