"""What a change set would change, as a unified diff that people and `git apply` read."""

from __future__ import annotations

from collections.abc import Iterator
from difflib import unified_diff

from evidence.domain.paths import EVIDENCE_FOLDER
from evidence.domain.tree import ChangeSet, EvidenceTree

NOWHERE = "/dev/null"


def diff_of(change_set: ChangeSet, tree: EvidenceTree, *, folder: str = EVIDENCE_FOLDER) -> str:
    """Give the difference a change set makes to a tree, file by file in path order."""
    return "".join(
        line
        for path, after in change_set.without_no_ops(tree).changes.items()
        for line in _of_file(folder + path, tree.files.get(path), after)
    )


def _of_file(path: str, before: bytes | None, after: bytes | None) -> Iterator[str]:
    lines = unified_diff(
        _lines(before),
        _lines(after),
        NOWHERE if before is None else f"a/{path}",
        NOWHERE if after is None else f"b/{path}",
    )
    for line in lines:
        yield line if line.endswith("\n") else f"{line}\n\\ No newline at end of file\n"


def _lines(data: bytes | None) -> list[str]:
    text = "" if data is None else data.decode("utf-8", "replace")
    # Only LF ends a line: `splitlines` would also cut at a form feed inside one.
    return [f"{line}\n" for line in text.split("\n")[:-1]] + [
        last for last in text.split("\n")[-1:] if last
    ]
