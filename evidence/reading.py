"""Folders and revisions become trees, read once and frozen (spec 30, Reading)."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from evidence.domain.codec import parse_curated_markdown
from evidence.domain.findings import ValidationReport
from evidence.domain.inspection import inspect_workspace
from evidence.domain.manifest import Manifest, parse_manifest
from evidence.domain.normalization import decode_utf8
from evidence.domain.paths import EVIDENCE_FOLDER, PATH_REFUSED, SYMLINK_REFUSED, is_allowed, twins
from evidence.domain.tree import MAX_BYTES, MAX_FILES, WORKSPACE_FILE, EvidenceTree, RefusedPath
from evidence.domain.units import CuratedEvidence
from evidence.domain.validation import validate
from evidence.faults import CuratorFault, OperatorFault
from evidence.messages import Message, gettext_noop
from evidence.ports import Repository
from evidence.surveying import survey

FOLDER = EVIDENCE_FOLDER.rstrip("/")


class NotAWorkspace(CuratorFault):
    """A folder or a revision without `workspace.yaml` and `evidence/`."""

    code = "workspace_missing"
    hint = gettext_noop("Name the folder that holds workspace.yaml.")


class FolderUnreadable(OperatorFault):
    """The operating system does not let us read a file or folder."""

    code = "folder_unreadable"


@dataclass(slots=True)
class _Reading:
    """What was read so far, and what was refused."""

    files: dict[str, bytes] = field(default_factory=dict)
    refused: list[RefusedPath] = field(default_factory=list)
    size: int = 0

    def refuse(self, path: str, code: str) -> None:
        self.refused.append(RefusedPath(path, code))

    def has_room(self, more: int) -> bool:
        return len(self.files) < MAX_FILES and self.size + more <= MAX_BYTES


def read_directory(root: Path | str) -> EvidenceTree:
    """Give the tree of a workspace folder as it is on disk; links are never followed.

    What may not be read is in `refused`; above the limits one entry says so and reading stops.
    Raises `NotAWorkspace`, `FolderUnreadable`.
    """
    folder = Path(root)
    reading = _Reading()
    try:
        if not folder.is_dir() or not any(
            _exists(folder / name) for name in (WORKSPACE_FILE, FOLDER)
        ):
            message = Message(gettext_noop("There is no workspace in %(path)s."), path=str(root))
            raise NotAWorkspace(message, path=str(root))
        workspace_yaml = _read_workspace_file(folder / WORKSPACE_FILE, reading)
        _read_evidence(folder / FOLDER, reading)
    except OSError as error:
        message = Message(gettext_noop("Cannot read: %(reason)s."), reason=error.strerror or "?")
        raise FolderUnreadable(message, path=str(error.filename or root)) from error
    _refuse_twins(reading)
    return EvidenceTree(
        workspace=inspect_workspace(workspace_yaml).workspace,
        workspace_yaml=workspace_yaml,
        files={path: reading.files[path] for path in sorted(reading.files)},
        refused=tuple(sorted(reading.refused, key=lambda refused: (refused.path, refused.code))),
    )


def read_revision(repository: Repository, commit: str) -> EvidenceTree:
    """Give the tree of a full commit id, without a checkout: one listing, one batch of blobs.

    Raises `RevisionUnknown`, `RepositoryBroken`.
    """
    found = survey(repository.entries(commit))
    wanted = [entry.blob for entry in found.files.values()]
    blobs = repository.blobs([*wanted, *([found.workspace.blob] if found.workspace else [])])
    workspace_yaml = blobs[found.workspace.blob] if found.workspace else None
    return EvidenceTree(
        workspace=inspect_workspace(workspace_yaml).workspace,
        workspace_yaml=workspace_yaml,
        files={path: blobs[entry.blob] for path, entry in found.files.items()},
        refused=found.refused,
    )


def load_curated_tree(root: Path | str) -> tuple[CuratedEvidence, ...]:
    """Give every unit of a workspace folder in path order.

    Raises the fault of the first file that cannot be used, or what `read_directory` raises.
    """
    files = read_directory(root).under("curated/")
    return tuple(
        parse_curated_markdown(decode_utf8(data, path=path), path=path)
        for path, data in files.items()
    )


def load_manifest(path: Path | str) -> Manifest:
    """Give the manifest in a file. Raises `ManifestInvalid`, `InvalidUtf8`, `FolderUnreadable`."""
    try:
        data = Path(path).read_bytes()
    except OSError as error:
        message = Message(gettext_noop("Cannot read: %(reason)s."), reason=error.strerror or "?")
        raise FolderUnreadable(message, path=str(path)) from error
    return parse_manifest(decode_utf8(data, path=str(path)))


def validate_workspace_evidence(root_or_tree: Path | str | EvidenceTree) -> ValidationReport:
    """Give the validation report of a workspace folder or of a tree (spec 20, Validation)."""
    if isinstance(root_or_tree, EvidenceTree):
        return validate(root_or_tree)
    return validate(read_directory(root_or_tree))


def _read_workspace_file(path: Path, reading: _Reading) -> bytes | None:
    if path.is_symlink():
        reading.refuse(WORKSPACE_FILE, SYMLINK_REFUSED)
        return None
    return _read_file(path) if path.is_file() else None


def _read_evidence(folder: Path, reading: _Reading) -> None:
    if folder.is_symlink():
        reading.refuse(FOLDER, SYMLINK_REFUSED)
    elif folder.is_dir():
        for entry, path in _walk(folder, "", reading):
            size = entry.stat(follow_symlinks=False).st_size
            if not reading.has_room(size):
                reading.refuse(path, PATH_REFUSED)
                return
            reading.files[path] = _read_file(Path(entry.path))
            reading.size += size


def _walk(folder: Path, prefix: str, reading: _Reading) -> Iterator[tuple[os.DirEntry[str], str]]:
    with os.scandir(folder) as listing:
        entries = sorted(listing, key=lambda entry: entry.name)
    for entry in entries:
        path = f"{prefix}{entry.name}"
        if entry.is_symlink():
            reading.refuse(_shown(path), SYMLINK_REFUSED)
        elif entry.is_dir(follow_symlinks=False) and entry.name.lower() != ".git":
            yield from _walk(Path(entry.path), f"{path}/", reading)
        elif entry.is_file(follow_symlinks=False) and is_allowed(path):
            yield entry, path
        else:
            reading.refuse(_shown(path), PATH_REFUSED)


def _read_file(path: Path) -> bytes:
    # The walk saw a plain file; should it have become a link since, opening it fails.
    handle = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
    with os.fdopen(handle, "rb") as file:
        if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
            raise OSError(None, "not a plain file", str(path))
        return file.read()


def _refuse_twins(reading: _Reading) -> None:
    for path in twins(reading.files):
        del reading.files[path]
        reading.refuse(path, PATH_REFUSED)


def _shown(path: str) -> str:
    """Give a name that is not UTF-8 in a form that can be printed and stored."""
    return path.encode("utf-8", "backslashreplace").decode("utf-8")


def _exists(path: Path) -> bool:
    return path.is_symlink() or path.exists()
