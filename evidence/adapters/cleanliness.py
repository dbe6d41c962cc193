"""Which units of a work tree differ from the last commit, by content and not by what Git tracks.

Untracked, ignored and assume-unchanged files all count (spec 90, Git: `git status` misses some).
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterator, Mapping
from pathlib import Path

from evidence.adapters import git_process
from evidence.domain.tree import MANIFEST_PATH

SHA1_DIGITS = 40


def differing_paths(top: Path, folder: str, git_dir: Path) -> set[str]:
    """Give the paths below `curated/`, and the manifest's, that are not what HEAD holds.

    `folder` is the evidence folder relative to `top`, and so are the paths.
    """
    committed = _committed(folder, git_dir)
    present = set(_present(top, top / folder))
    return {path for path in committed.keys() | present if not _is_clean(top, path, committed)}


def blob_id(data: bytes, digits: int) -> str:
    """Give the id Git has for a file's content: SHA-1 of 40 digits, else SHA-256."""
    name = "sha1" if digits == SHA1_DIGITS else "sha256"
    digest = hashlib.new(name, b"blob %d\0" % len(data), usedforsecurity=False)
    digest.update(data)
    return digest.hexdigest()


def _is_clean(top: Path, path: str, committed: Mapping[str, str]) -> bool:
    file, blob = top / path, committed.get(path)
    if blob is None or file.is_symlink() or not file.is_file():
        return False
    data = file.read_bytes()
    # A checkout may have rewritten line ends; that is no edit.
    return blob in {blob_id(data, len(blob)), blob_id(data.replace(b"\r\n", b"\n"), len(blob))}


def _present(top: Path, evidence: Path) -> Iterator[str]:
    for directory, folders, names in os.walk(evidence / "curated"):
        links = [name for name in folders if (Path(directory) / name).is_symlink()]
        for name in (*names, *links):
            yield (Path(directory) / name).relative_to(top).as_posix()
    manifest = evidence / MANIFEST_PATH
    if manifest.is_symlink() or manifest.exists():
        yield manifest.relative_to(top).as_posix()


def _committed(folder: str, git_dir: Path) -> dict[str, str]:
    verify = ("rev-parse", "--verify", "--quiet", "--end-of-options", "HEAD^{commit}")
    head = git_process.run(git_dir, *verify)
    if head.code:  # no commit yet
        return {}
    wanted = (f"{folder}/curated", f"{folder}/{MANIFEST_PATH}")
    tree = ("ls-tree", "-r", "-z", "--full-tree", head.out.decode().strip(), "--", *wanted)
    lines = git_process.output(git_dir, *tree).split(b"\0")[:-1]
    return dict(_entry(line) for line in lines)


def _entry(line: bytes) -> tuple[str, str]:
    facts, _, name = line.partition(b"\t")
    return os.fsdecode(name), facts.split()[2].decode()
