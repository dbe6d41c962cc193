"""The old store of formulas on disk, read once; links are never followed."""

from __future__ import annotations

from pathlib import Path

from evidence.domain.legacy_formulas import SUFFIXES
from evidence.faults import CuratorFault, OperatorFault
from evidence.messages import Message, gettext_noop

STORE = "concept_formulas"
MAX_FILES = 10_000
MAX_BYTES = 1024 * 1024


class NoLegacyStore(CuratorFault):
    """The folder is not the old store of formulas, or holds more than one may."""

    code = "legacy_store_missing"
    hint = gettext_noop("Name the folder that holds concept_formulas, or that folder itself.")


class LegacyStoreUnreadable(OperatorFault):
    """The operating system does not let us read the old store."""

    code = "legacy_store_unreadable"


def read_legacy_folder(root: Path) -> dict[str, bytes]:
    """Give the files of an old store by name. Raises `NoLegacyStore`, `LegacyStoreUnreadable`."""
    folder = root / STORE if (root / STORE).is_dir() else root
    if folder.is_symlink() or not folder.is_dir():
        raise _no_store(gettext_noop("There is no store of formulas in %(path)s."), root)
    try:
        found = sorted(path for path in folder.iterdir() if path.suffix in SUFFIXES)
        plain = [path for path in found if path.is_file() and not path.is_symlink()]
        if not plain:
            raise _no_store(gettext_noop("There are no formulas in %(path)s."), folder)
        if len(plain) > MAX_FILES or any(path.stat().st_size > MAX_BYTES for path in plain):
            raise _no_store(gettext_noop("There is too much in %(path)s."), folder)
        return {path.name: path.read_bytes() for path in plain}
    except OSError as error:
        message = Message(gettext_noop("Cannot read: %(reason)s."), reason=error.strerror or "?")
        raise LegacyStoreUnreadable(message, path=str(error.filename or root)) from error


def _no_store(template: str, path: Path) -> NoLegacyStore:
    return NoLegacyStore(Message(template, path=path), path=str(path))
