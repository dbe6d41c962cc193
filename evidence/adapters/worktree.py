"""A workspace folder in someone's Git work tree: is it safe, is it clean, change it as one."""

from __future__ import annotations

import fcntl
import os
import subprocess
import uuid
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path

from evidence.adapters import exchange, git_process
from evidence.adapters.cleanliness import differing_paths
from evidence.domain.paths import CURATED_FOLDER, SYMLINK_REFUSED
from evidence.domain.tree import MANIFEST_PATH, ChangeSet, EvidenceTree
from evidence.faults import CuratorFault, OperatorFault, OutsideFault
from evidence.messages import Message, gettext_noop
from evidence.reading import read_directory

AREA = "evidence-portal"
NAMED_PATHS = 3


class UnsafePath(CuratorFault):
    """The folder is not one that may be changed: a symlink, outside Git, or no folder at all."""

    code = "unsafe_path"
    hint = gettext_noop("Name a workspace folder inside a Git work tree by its real path.")


class DirtyCuratedState(CuratorFault):
    """Units or the manifest differ from the last commit, so an exchange could lose an edit."""

    code = "dirty_curated_state"
    hint = gettext_noop("Commit or restore `curated/` and `manifest.yaml` first.")


class WorkTreeBusy(OutsideFault):
    """Another `tht evidence` command is changing this work tree."""

    code = "work_tree_busy"
    hint = gettext_noop("Wait for the other command to end, then try again.")


class WorkTreeUnwritable(OperatorFault):
    """The operating system refused to write; the old set is in place."""

    code = "work_tree_unwritable"
    hint = gettext_noop("Check the permissions and the free space of the work tree.")


@dataclass(frozen=True, slots=True)
class WorkTree:
    """A workspace's folder `top / prefix` and the Git directory of the work tree it lies in."""

    top: Path
    prefix: str
    git_dir: Path
    swap: exchange.Swap = exchange.swap_at_once
    on_step: exchange.Step = exchange.no_step

    @property
    def root(self) -> Path:
        """Give the workspace folder."""
        return self.top / self.prefix

    @property
    def folder(self) -> str:
        """Give the evidence folder, relative to the top of the work tree."""
        return f"{self.prefix}evidence"

    def read(self) -> EvidenceTree:
        """Give the folder as one value. Raises what `read_directory` raises."""
        return read_directory(self.root)

    @contextmanager
    def alone(self) -> Iterator[None]:
        """Hold the work tree for this process, after completing or undoing an interrupted run.

        Raises `WorkTreeBusy`, `JournalUnreadable` or `WorkTreeUnwritable`.
        """
        with ExitStack() as held:
            try:
                held.enter_context(self._locked())
            except OSError as error:
                raise _unwritable(error) from error
            yield

    def heal(self) -> None:
        """Complete or undo an interrupted run, where there is one; else touch nothing."""
        area = self.git_dir / AREA
        if area.is_dir() and any(path.is_dir() for path in area.iterdir()):
            with self.alone():
                return

    def refuse_dirty(self) -> None:
        """Raise `DirtyCuratedState` unless `curated/` and the manifest are what HEAD holds.

        Content is compared, so untracked, ignored and assume-unchanged files count (spec 90, Git).
        A link is refused as one, committed or not: `UnsafePath`.
        """
        dirty = sorted(differing_paths(self.top, self.folder, self.git_dir))
        for path in dirty:
            if (self.top / path).is_symlink():
                message = Message(gettext_noop("%(path)s is a symbolic link."), path=path)
                raise UnsafePath(message, code=SYMLINK_REFUSED, path=path)
        if dirty:
            names = ", ".join(dirty[:NAMED_PATHS])
            template = gettext_noop("%(count)s files differ from the last commit: %(names)s")
            message = Message(template, count=len(dirty), names=names)
            raise DirtyCuratedState(message, path=dirty[0])

    def apply(self, change_set: ChangeSet, tree: EvidenceTree) -> None:
        """Make the folder say `change_set` applied to `tree`, the value it was computed from.

        Raises `DirtyCuratedState` when the folder says something else than `tree` by now,
        `OtherFileSystem` or `WorkTreeUnwritable`; then the old set is in place (spec 20).
        """
        if not change_set:
            return
        refuse_strangers(tree)

        def unchanged(old: Path) -> None:
            if _curated_files(old) != tree.under(
                CURATED_FOLDER
            ) or self._manifest() != _manifest_of(tree):
                message = gettext_noop("Units or the manifest were edited in the meantime.")
                raise DirtyCuratedState(message)

        replacement = exchange.Replacement(
            top=self.top,
            folder=self.folder,
            run=self.git_dir / AREA / uuid.uuid4().hex,
            swap=self.swap,
            on_step=self.on_step,
        )
        try:
            replacement.carry_out(_managed(change_set.apply(tree)), check=unchanged)
        except OSError as error:
            raise _unwritable(error) from error

    def _manifest(self) -> bytes | None:
        path = self.root / "evidence" / MANIFEST_PATH
        return path.read_bytes() if path.exists() else None

    @contextmanager
    def _locked(self) -> Iterator[None]:
        area = self.git_dir / AREA
        area.mkdir(exist_ok=True)
        with (area / "lock").open("w") as lock:
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError as error:
                raise WorkTreeBusy(gettext_noop("Another command is at work here.")) from error
            exchange.recover(self.top, area)
            yield


def open_work_tree(root: Path) -> WorkTree:
    """Give the work tree around a workspace folder. Raises `UnsafePath` (spec 20, Command line)."""
    absolute = Path.cwd() / root
    for path in (absolute, *absolute.parents, absolute / "evidence", absolute / "evidence/curated"):
        if path.is_symlink():
            raise _unsafe(gettext_noop("%(path)s is a symbolic link."), path)
    if not absolute.is_dir():
        raise _unsafe(gettext_noop("%(path)s is no folder."), absolute)
    resolved = absolute.resolve()
    top, git_dir = _git_directories(resolved)
    if not resolved.is_relative_to(top) or resolved.is_relative_to(git_dir):
        raise _unsafe(gettext_noop("%(path)s lies outside its Git work tree."), resolved)
    if (top / ".git").is_symlink():
        raise _unsafe(gettext_noop("%(path)s is a symbolic link."), top / ".git")
    prefix = resolved.relative_to(top).as_posix()
    return WorkTree(top=top, prefix="" if prefix == "." else f"{prefix}/", git_dir=git_dir)


def refuse_strangers(tree: EvidenceTree) -> None:
    """Raise `UnsafePath` for what a tree leaves out of `curated/`: an exchange would drop it."""
    for refused in tree.refused:
        if refused.path.startswith(CURATED_FOLDER) or refused.path == MANIFEST_PATH:
            template = gettext_noop("%(path)s may not lie there.")
            message = Message(template, path=refused.path)
            raise UnsafePath(message, code=refused.code, path=refused.path)


def _git_directories(folder: Path) -> tuple[Path, Path]:
    # Only reads, and hooks, file system monitors and transports are off, so whose folder it is
    # does not matter.
    command = ["git", "-c", "safe.directory=*", "-C", str(folder), "rev-parse"]
    command += ["--show-toplevel", "--absolute-git-dir"]
    environment = git_process.environment()
    try:
        done = subprocess.run(
            command, env=environment, capture_output=True, timeout=60, check=False
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        message = Message(gettext_noop("Git cannot be started: %(reason)s"), reason=error)
        raise WorkTreeUnwritable(message, hint=gettext_noop("Install Git.")) from error
    lines = os.fsdecode(done.stdout).splitlines()
    if done.returncode or len(lines) != 2:
        raise _unsafe(gettext_noop("%(path)s lies in no Git work tree."), folder)
    return Path(lines[0]), Path(lines[1])


def _managed(tree: EvidenceTree) -> dict[str, bytes]:
    return {
        path: data
        for path, data in tree.files.items()
        if path.startswith(CURATED_FOLDER) or path == MANIFEST_PATH
    }


def _manifest_of(tree: EvidenceTree) -> bytes | None:
    return tree.files.get(MANIFEST_PATH)


def _curated_files(folder: Path) -> dict[str, bytes]:
    return {
        f"{CURATED_FOLDER}{path.relative_to(folder).as_posix()}": path.read_bytes()
        for path in sorted(folder.rglob("*"))
        if path.is_file() or path.is_symlink()
    }


def _unsafe(template: str, path: Path) -> UnsafePath:
    return UnsafePath(Message(template, path=path), path=str(path))


def _unwritable(error: OSError) -> WorkTreeUnwritable:
    message = Message(gettext_noop("The work tree cannot be written: %(reason)s"), reason=error)
    return WorkTreeUnwritable(message, path=error.filename or "")
