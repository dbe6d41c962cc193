"""Read what Git prints: file listings, differences and commits, all separated by NUL."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime

from evidence.ports import Author, Commit, Entry, PathChange

LOG_FORMAT = "--format=tformat:%H%x00%P%x00%an%x00%ae%x00%cn%x00%ce%x00%at%x00%B"
LOG_FIELDS = 8
DATE_FORMAT = "--format=tformat:>%at"
COMMIT_FORMAT = "--format=tformat:>%H"
"""No path is like them: below the folder of a workspace each has a slash."""
NOTHING = "000000"
LATEST_S = 253_402_300_799
"""The last second of the year 9999: a forged date must not break a page."""


def text_of(raw: bytes) -> str:
    """Give a name as text; bytes that are not UTF-8 stay visible as lone surrogates."""
    return raw.decode("utf-8", "surrogateescape")


def read_entries(out: bytes, folder: str) -> Iterator[Entry]:
    """Read `git ls-tree -r -z -l`."""
    for line in out.split(b"\0")[:-1]:
        meta, _, path = line.partition(b"\t")
        mode, _, blob, size = meta.split()
        yield Entry(
            path=text_of(path)[len(folder) :],
            mode=mode.decode(),
            blob=blob.decode(),
            size=int(size) if size.isdigit() else 0,
        )


def read_changes(out: bytes, folder: str) -> Iterator[PathChange]:
    """Read `git diff-tree -r -z --raw --no-renames`."""
    fields = out.split(b"\0")[:-1]
    for meta, raw in zip(fields[::2], fields[1::2], strict=True):
        mode_before, mode_after, before, after, _ = meta.decode().removeprefix(":").split()
        path = text_of(raw)[len(folder) :]
        yield PathChange(
            path=path,
            before=_entry(path, mode_before, before),
            after=_entry(path, mode_after, after),
        )


def read_log(out: bytes) -> Iterator[Commit]:
    """Read `git log -z` in `LOG_FORMAT`."""
    fields = [field.decode("utf-8", "replace") for field in out.split(b"\0")[:-1]]
    for start in range(0, len(fields), LOG_FIELDS):
        commit, parents, *people, at, message = fields[start : start + LOG_FIELDS]
        yield Commit(
            id=commit,
            parents=tuple(parents.split()),
            author=Author(name=people[0], email=people[1]),
            committer=Author(name=people[2], email=people[3]),
            at=_instant(at),
            message=message.strip(),
        )


def read_last_changes(out: bytes, folder: str) -> dict[str, datetime]:
    """Read `git log -z --name-only` in `DATE_FORMAT`: the newest date of each path."""
    found: dict[str, datetime] = {}
    at = _instant("")
    for field in out.split(b"\0")[:-1]:
        if field.startswith(b">") and b"/" not in field:
            at = _instant(field[1:].decode())
        else:
            found.setdefault(text_of(field.removeprefix(b"\n"))[len(folder) :], at)
    return found


def read_touched(out: bytes, folder: str) -> dict[str, tuple[str, ...]]:
    """Read `git log -z --name-only` in `COMMIT_FORMAT`: the paths of each commit, in its order."""
    found: dict[str, list[str]] = {}
    commit = ""
    for field in out.split(b"\0")[:-1]:
        if field.startswith(b">") and b"/" not in field:
            commit = field[1:].decode()
        else:
            # A merge that changed nothing itself is followed by an empty field.
            path = text_of(field.removeprefix(b"\n"))
            found.setdefault(commit, []).extend([path[len(folder) :]] if path else [])
    return {commit: tuple(paths) for commit, paths in found.items() if paths}


def _entry(path: str, mode: str, blob: str) -> Entry | None:
    return None if mode == NOTHING else Entry(path=path, mode=mode, blob=blob)


def _instant(seconds: str) -> datetime:
    number = int(seconds) if seconds.isdigit() else 0
    return datetime.fromtimestamp(min(number, LATEST_S), UTC)
