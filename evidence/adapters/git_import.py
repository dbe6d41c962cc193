"""Write one commit into a repository: no work tree, no index, no ref."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from evidence.adapters.git_objects import Lookup, lookup
from evidence.adapters.git_pack import Made, store
from evidence.adapters.git_trees import Folder
from evidence.ports import Author

UNWANTED = re.compile(r"[<>\x00-\x1f\x7f\ud800-\udfff]+")


@dataclass(frozen=True, slots=True)
class People:
    """Who wrote a change and who put it into Git."""

    author: Author
    committer: Author


@dataclass(frozen=True, slots=True)
class Words:
    """What a commit says besides its files."""

    people: People
    at: datetime
    message: str


def write_commit(
    directory: Path,
    changes: Mapping[str, bytes | None],
    *,
    parent: str | None,
    words: Words,
) -> str:
    """Store a commit of full paths on `parent` and give its id; nothing points at it yet.

    Only the trees on the way to the changed files are read: the cost follows the change.
    """
    with lookup(directory) as objects:
        return write_on(directory, root_of(objects, parent), changes, parent=parent, words=words)


def root_of(objects: Lookup, commit: str | None) -> Folder:
    """Open the root folder of a commit, or an empty one for None. Raises `RepositoryBroken`."""
    if commit is None:
        return Folder(objects, None)
    first = objects.get(commit, "commit").partition(b"\n")[0]
    return Folder(objects, bytes.fromhex(first.removeprefix(b"tree ").decode()))


def write_on(
    directory: Path,
    root: Folder,
    changes: Mapping[str, bytes | None],
    *,
    parent: str | None,
    words: Words,
) -> str:
    """Store a commit of full paths on the root folder of `parent`, which changes by it."""
    blobs = {path: Made("blob", data) for path, data in changes.items() if data is not None}
    for path in changes.keys() - blobs.keys():
        root.remove(path)
    for path, blob in blobs.items():
        root.put(path, blob)
    trees = root.made()
    commit = Made("commit", _commit(trees[-1], parent, words))
    store(directory, (*blobs.values(), *trees, commit))
    return commit.id.hex()


def clean(message: str) -> str:
    """Give a commit message that Git stores as it is."""
    kept = message.replace("\0", "").encode("utf-8", "replace").decode()
    return kept.strip() + "\n"


def _commit(tree: Made, parent: str | None, words: Words) -> bytes:
    lines = [
        f"tree {tree.id.hex()}",
        *([f"parent {parent}"] if parent else []),
        f"author {_signature(words.people.author, words.at)}",
        f"committer {_signature(words.people.committer, words.at)}",
        "",
        clean(words.message),
    ]
    return "\n".join(lines).encode()


def _signature(author: Author, at: datetime) -> str:
    name = UNWANTED.sub(" ", author.name).strip() or "unknown"
    email = UNWANTED.sub("", author.email).strip()
    return f"{name} <{email}> {int(at.timestamp())} +0000"
