"""Register a workspace: import or start its repository, find its folder, mirror it (spec 70)."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from django.db import IntegrityError, transaction

from evidence import conf, mirror, wiring
from evidence.domain.normalization import decode_utf8
from evidence.domain.paths import is_safe_name
from evidence.domain.tree import WORKSPACE_FILE
from evidence.domain.workspace import WorkspaceFile, parse_workspace
from evidence.faults import CuratorFault, OperatorFault
from evidence.messages import Message, gettext_noop
from evidence.mirror import SyncReport
from evidence.models import PortalCommit, Workspace
from evidence.ports import Actor


class RemoteUnsupported(OperatorFault):
    """Repositories behind a URL cannot be added yet."""

    code = "remote_unsupported"
    hint = gettext_noop("Clone it, and add the path of the clone.")


class FolderUndecided(OperatorFault):
    """The repository holds no workspace, or several of them, or none where it was said to be."""

    code = "workspace_folder_undecided"
    hint = gettext_noop("Name the folder that holds workspace.yaml with --folder.")


class AlreadyRegistered(CuratorFault):
    """A workspace with this slug, or a repository at its place, is there already."""

    code = "workspace_registered"


@dataclass(frozen=True, slots=True)
class _Found:
    """A workspace in an imported repository."""

    branch: str
    folder: str
    file: WorkspaceFile


def add(
    *, source: str, folder: str | None = None, branch: str | None = None, single_approver: bool
) -> SyncReport:
    """Import a local repository as a workspace and give the report of its first sync.

    The branch defaults to the current one, the folder to the only one with a `workspace.yaml`.
    Nothing is left behind after a failure. Raises `NothingToImport`, `FolderUndecided`,
    `WorkspaceInvalid`, `AlreadyRegistered`, `RemoteUnsupported`.
    """
    _refuse_remote(source)
    with _place_beside_the_others() as place:
        taken = wiring.import_branch(Path(source), place, branch=branch)
        found = _find(place, taken, folder)
        _register(place, found, single_approver=single_approver)
    return mirror.sync_workspace(found.file.slug)


def start(*, files: Mapping[str, bytes], author: Actor) -> SyncReport:
    """Start a workspace of its own with these files (`workspace.yaml`, `evidence/…`), one commit.

    Raises `FolderUndecided` without a `workspace.yaml`, `WorkspaceInvalid`, `AlreadyRegistered`.
    """
    message = "Start the workspace\n\nPortal-Action: start"
    with _place_beside_the_others() as place:
        branch = wiring.start_repository(place, files, author=author.author, message=message)
        found = _find(place, branch, "")
        _register(place, found, single_approver=False)
    report = mirror.sync_workspace(found.file.slug)
    PortalCommit.objects.create(
        workspace=Workspace.named(found.file.slug),
        commit=report.head,
        username=author.username,
        action="start",
    )
    return report


def _refuse_remote(source: str) -> None:
    if "://" in source or (not Path(source).exists() and ":" in source):
        raise RemoteUnsupported(gettext_noop("This portal takes the path of a local repository."))


@contextmanager
def _place_beside_the_others() -> Iterator[Path]:
    """Give a fresh folder on the file system of the repositories; what is left there is removed."""
    home = conf.current().repositories
    home.mkdir(parents=True, exist_ok=True)
    incoming = Path(tempfile.mkdtemp(prefix=".incoming-", dir=home))
    try:
        yield incoming / "repository.git"
    finally:
        shutil.rmtree(incoming, ignore_errors=True)


def _find(place: Path, branch: str, folder: str | None) -> _Found:
    head = wiring.repository_at(place).head(branch)
    listed = wiring.workspace_folders(place, head)
    folders = tuple(each for each in listed if not each or is_safe_name(each))
    chosen = _chosen(folders, folder)
    repository = wiring.repository_at(place, folder=chosen)
    entry = repository.entry(head, WORKSPACE_FILE)
    if entry is None:
        raise _undecided(folders)
    return _Found(
        branch, chosen, parse_workspace(decode_utf8(repository.blobs([entry.blob])[entry.blob]))
    )


def _chosen(folders: tuple[str, ...], wanted: str | None) -> str:
    if wanted is not None:
        named = wanted.strip("/").removeprefix("./")
        folder = "" if named == "." else named
        if folder in folders:
            return folder
    elif len(folders) == 1:
        return folders[0]
    raise _undecided(folders)


def _undecided(folders: tuple[str, ...]) -> FolderUndecided:
    if not folders:
        return FolderUndecided(gettext_noop("No workspace.yaml is in this repository."))
    listed = ", ".join(folder or "." for folder in folders[:20])
    message = gettext_noop("These folders hold a workspace.yaml: %(folders)s")
    return FolderUndecided(Message(message, folders=listed))


def _register(place: Path, found: _Found, *, single_approver: bool) -> None:
    """Insert the row and put the repository in its place: both, or neither."""
    slug = found.file.slug
    message = Message(gettext_noop("A workspace “%(slug)s” is registered already."), slug=slug)
    target = conf.current().repository_path(slug)
    if target.exists():
        raise AlreadyRegistered(message)
    try:
        with transaction.atomic():
            Workspace.objects.create(
                slug=slug,
                title=found.file.title,
                language=found.file.language,
                folder=found.folder,
                branch=found.branch,
                single_approver=single_approver,
            )
            place.rename(target)
    except IntegrityError as error:
        raise AlreadyRegistered(message) from error
