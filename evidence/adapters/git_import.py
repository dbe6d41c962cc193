"""Write one commit into a repository with `git fast-import`: no work tree, no index, no ref."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from evidence.adapters import git_process
from evidence.ports import Author


@dataclass(frozen=True, slots=True)
class People:
    """Who wrote a change and who put it into Git."""

    author: Author
    committer: Author


SCRATCH = b"refs/evidence/incoming"
"""Named in the stream and reset before it ends, so that fast-import never writes it."""

UNWANTED = re.compile(r"[<>\x00-\x1f\x7f\ud800-\udfff]+")


def write_commit(
    directory: Path,
    changes: Mapping[str, bytes | None],
    *,
    parent: str | None,
    people: People,
    at: datetime,
    message: str,
) -> str:
    """Store a commit of full paths on `parent` and give its id; nothing points at it yet.

    Only the trees on the way to the changed files are read: the cost follows the change.
    """
    text = clean(message).encode()
    lines = [
        b"commit " + SCRATCH,
        b"mark :1",
        b"author " + _signature(people.author, at),
        b"committer " + _signature(people.committer, at),
        b"data %d\n%s" % (len(text), text),
    ]
    if parent:
        lines.append(b"from " + parent.encode())
    lines += [_file(path, data) for path, data in changes.items()]
    lines += [b"", b"reset " + SCRATCH, b"", b"get-mark :1", b"done", b""]
    return (
        git_process.output(directory, "fast-import", "--quiet", "--done", stdin=b"\n".join(lines))
        .decode()
        .strip()
    )


def clean(message: str) -> str:
    """Give a commit message that Git stores as it is."""
    kept = message.replace("\0", "").encode("utf-8", "replace").decode()
    return kept.strip() + "\n"


def _signature(author: Author, at: datetime) -> bytes:
    name = UNWANTED.sub(" ", author.name).strip() or "unknown"
    email = UNWANTED.sub("", author.email).strip()
    return f"{name} <{email}> {int(at.timestamp())} +0000".encode()


def _file(path: str, data: bytes | None) -> bytes:
    quoted = _quote(path)
    if data is None:
        return b"D " + quoted
    return b"M 100644 inline %s\ndata %d\n%s" % (quoted, len(data), data)


def _quote(path: str) -> bytes:
    escaped = path.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
    return f'"{escaped}"'.encode("utf-8", "surrogateescape")
