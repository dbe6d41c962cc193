"""Replace `curated/` and the manifest as one: the old set or the new one, never a mixture.

Note "by inode": a rename keeps a directory's inode, so the journal names the staged directory by
it, and whoever finds the journal sees at which of its two places that directory lies now.
"""

from __future__ import annotations

import ctypes
import errno
import json
import os
import shutil
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path

from evidence.faults import Fault, OperatorFault
from evidence.messages import Message, gettext_noop

CURATED, MANIFEST, JOURNAL, ASIDE = "curated", "manifest.yaml", "journal.json", "aside"
AT_FDCWD, RENAME_EXCHANGE = -100, 2
NO_EXCHANGE = {errno.ENOSYS, errno.EINVAL, errno.ENOTSUP}

Step = Callable[[str], None]
Check = Callable[[Path], None]
Swap = Callable[[Path, Path, Path], None]


class JournalUnreadable(OperatorFault):
    """A journal was found that fits neither the old nor the new set."""

    code = "journal_unreadable"
    hint = gettext_noop("Compare the folder with `git status`, then delete the named directory.")


class OtherFileSystem(OperatorFault):
    """The Git directory and the work tree lie on two file systems, so nothing can be exchanged."""

    code = "other_file_system"
    hint = gettext_noop("Keep the work tree and its Git directory on one file system.")


@dataclass(frozen=True, slots=True)
class Journal:
    """What an interrupted replacement must be finished with; `staged` is an inode ("by inode")."""

    folder: str
    staged: int
    manifest: bool


def no_step(_: str) -> None:
    """Do nothing between two steps."""


def swap_at_once(one: Path, other: Path, aside: Path) -> None:
    """Exchange two directories in one system call, or in two renames where there is none."""
    library = ctypes.CDLL(None, use_errno=True)
    renameat2 = getattr(library, "renameat2", None)
    if renameat2 is not None:
        paths = (AT_FDCWD, os.fsencode(one), AT_FDCWD, os.fsencode(other))
        if renameat2(*paths, RENAME_EXCHANGE) == 0:
            return
        number = ctypes.get_errno()
        if number not in NO_EXCHANGE:
            raise OSError(number, os.strerror(number), str(one))
    swap_by_renames(one, other, aside)


def swap_by_renames(one: Path, other: Path, aside: Path) -> None:
    """Exchange two directories with renames; `aside` holds the second one for a moment."""
    other.rename(aside)
    one.rename(other)
    aside.rename(one)


@dataclass(frozen=True, slots=True)
class Replacement:
    """One replacement: `top / folder` is the evidence folder, `run` its staging directory."""

    top: Path
    folder: str
    run: Path
    swap: Swap = swap_at_once
    on_step: Step = no_step

    @property
    def evidence(self) -> Path:
        """Give the folder whose `curated/` and manifest are replaced."""
        return self.top / self.folder

    def carry_out(self, files: Mapping[str, bytes], *, check: Check) -> None:
        """Replace the set by `files` (paths under `evidence/`); `check` judges the old directory.

        Raises what `check` raises, `OtherFileSystem` or `OSError`; then the old set is in place.
        """
        try:
            self._stage(files)
            self._write_journal()
            self._exchange()
            check(self.run / CURATED)
            self.on_step("checked")
            self._replace_manifest()
        except (OSError, Fault):
            self.settle(undo=True)
            raise
        self.settle()

    def settle(self, *, undo: bool = False) -> None:
        """Complete, or undo, whatever was begun, and clear up. Raises `JournalUnreadable`."""
        journal = self._read_journal()
        if journal is not None:
            self._finish(journal, undo=undo)
            (self.run / JOURNAL).unlink()
        shutil.rmtree(self.run, ignore_errors=True)

    def _finish(self, journal: Journal, *, undo: bool) -> None:
        if not self._is_exchanged(journal):
            return
        too_late = journal.manifest and not (self.run / MANIFEST).exists()
        if undo and not too_late:
            self.swap(self.run / CURATED, self.evidence / CURATED, self.run / ASIDE)
        elif not too_late:
            self._replace_manifest()

    def _stage(self, files: Mapping[str, bytes]) -> None:
        (self.run / CURATED).mkdir(parents=True)
        (self.evidence / CURATED).mkdir(parents=True, exist_ok=True)
        if self.run.stat().st_dev != self.evidence.stat().st_dev:
            raise OtherFileSystem(
                gettext_noop("The Git directory lies on another file system than the work tree.")
            )
        for path, data in files.items():
            target = self.run / path
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_bytes(data)
            self.on_step("staging")
        self.on_step("staged")

    def _write_journal(self) -> None:
        journal = Journal(
            folder=self.folder,
            staged=(self.run / CURATED).stat().st_ino,
            manifest=(self.run / MANIFEST).exists(),
        )
        draft = self.run / f"{JOURNAL}.new"
        with draft.open("w") as file:
            json.dump(asdict(journal), file)
            file.flush()
            os.fsync(file.fileno())
        draft.replace(self.run / JOURNAL)
        self.on_step("journal written")

    def _exchange(self) -> None:
        self.swap(self.run / CURATED, self.evidence / CURATED, self.run / ASIDE)
        self.on_step("exchanged")

    def _replace_manifest(self) -> None:
        staged = self.run / MANIFEST
        if staged.exists():
            staged.replace(self.evidence / MANIFEST)
        self.on_step("manifest replaced")

    def _read_journal(self) -> Journal | None:
        try:
            return Journal(**json.loads((self.run / JOURNAL).read_text()))
        except FileNotFoundError:
            return None
        except (ValueError, TypeError) as error:
            raise self._unreadable() from error

    def _is_exchanged(self, journal: Journal) -> bool:
        staged, current, aside = self.run / CURATED, self.evidence / CURATED, self.run / ASIDE
        if _inode(current) == journal.staged:
            if aside.exists():  # before the last of the three renames
                aside.rename(staged)
            return True
        if _inode(staged) != journal.staged or (aside.exists() and current.exists()):
            raise self._unreadable()
        if aside.exists():  # after the first one
            aside.rename(current)
        return False

    def _unreadable(self) -> JournalUnreadable:
        message = Message(
            gettext_noop("An interrupted run cannot be completed: %(run)s"), run=str(self.run)
        )
        return JournalUnreadable(message, path=str(self.run))


def recover(top: Path, area: Path) -> None:
    """Complete or undo every run found in `area`. Raises `JournalUnreadable` or `OSError`."""
    for run in sorted(path for path in area.iterdir() if path.is_dir()):
        Replacement(top=top, folder=_folder_of(run), run=run).settle()


def _folder_of(run: Path) -> str:
    try:
        return str(json.loads((run / JOURNAL).read_text())["folder"])
    except FileNotFoundError:
        return ""
    except (ValueError, TypeError, KeyError) as error:
        raise JournalUnreadable(
            Message(gettext_noop("The journal in %(run)s cannot be read."), run=str(run)),
            path=str(run),
        ) from error


def _inode(path: Path) -> int | None:
    try:
        return path.lstat().st_ino
    except FileNotFoundError:
        return None
