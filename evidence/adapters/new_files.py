"""New files in a workspace's folder: written whole, never over another and never through a link."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path

from evidence.adapters.worktree import UnsafePath, WorkTreeUnwritable
from evidence.messages import Message, gettext_noop


def write_new_files(root: Path, files: Mapping[str, bytes]) -> None:
    """Write files by path relative to `root`, where they must not be yet; one that equals is fine.

    Each appears under its name only when it is whole. Raises `UnsafePath`, `WorkTreeUnwritable`.
    """
    try:
        for path, data in files.items():
            _refuse_links(root, path)
            _write(root / path, data)
    except OSError as error:
        message = Message(gettext_noop("The work tree cannot be written: %(reason)s"), reason=error)
        raise WorkTreeUnwritable(message, path=error.filename or "") from error


def _refuse_links(root: Path, path: str) -> None:
    target = root / path
    for folder in (target, *target.parents):
        if folder == root:
            return
        if folder.is_symlink():
            message = Message(gettext_noop("%(path)s is a symbolic link."), path=folder)
            raise UnsafePath(message, path=path)


def _write(target: Path, data: bytes) -> None:
    if target.exists() and target.read_bytes() == data:
        return
    target.parent.mkdir(parents=True, exist_ok=True)
    draft = target.with_name(f".{target.name}.new")
    draft.write_bytes(data)
    try:
        os.link(draft, target)  # unlike a renaming, this fails where a file is
    finally:
        draft.unlink()
