"""The repository of a workspace: a bare Git repository, driven by plain `git` processes."""

from __future__ import annotations

import re
import tempfile
from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import IO

from evidence.adapters import git_commit, git_import, git_listing, git_packing, git_process
from evidence.adapters.git_commit import Wanted, unknown
from evidence.adapters.git_import import People, Words
from evidence.domain.paths import EVIDENCE_FOLDER, PROPOSAL_PREFIX
from evidence.domain.tree import WORKSPACE_FILE, ChangeSet
from evidence.messages import gettext_noop
from evidence.ports import (
    Author,
    Check,
    Commit,
    Entry,
    PathChange,
    RepositoryBroken,
)

FULL_ID = re.compile(r"^[0-9a-f]{40}$")
ABBREVIATED_ID = re.compile(r"^[0-9a-f]{7,40}$")
FOLDER = "040000"
COMMITTER = Author("Evidence Portal", "evidence-portal@localhost")


def now() -> datetime:
    """Give the present instant."""
    return datetime.now(UTC)


class GitRepository:
    """A bare repository that holds one workspace's folder (spec 30).

    Paths of entries and changes are relative to `folder`, those of a change set to `evidence/`.
    """

    def __init__(
        self,
        path: Path,
        *,
        folder: str = "",
        committer: Author = COMMITTER,
        clock: Callable[[], datetime] = now,
    ) -> None:
        """Take the bare repository's place and the workspace's folder inside it."""
        self.path = path
        self.folder = folder.strip("/")
        self._prefix = f"{self.folder}/" if self.folder else ""
        self._committer = committer
        self._clock = clock

    def head(self, branch: str) -> str:
        """Give the commit a branch points at. Raises `RevisionUnknown`."""
        answer = git_process.run(
            self.path, "show-ref", "--verify", "--hash", "--", f"refs/heads/{branch}"
        )
        if answer.code:
            if not (self.path / "HEAD").exists():
                raise RepositoryBroken(gettext_noop("The repository is not there."))
            raise unknown(branch)
        return answer.out.decode().strip()

    def resolve(self, revision: str) -> str:
        """Give the full id behind a branch or an abbreviated id. Raises `RevisionUnknown`."""
        if not ABBREVIATED_ID.match(revision):
            return self.head(revision)
        answer = git_process.run(
            self.path,
            "rev-parse",
            "--verify",
            "--quiet",
            "--end-of-options",
            f"{revision}^{{commit}}",
        )
        if answer.code:
            raise unknown(revision)
        return answer.out.decode().strip()

    def history(
        self, commit: str, *, after: str | None = None, limit: int | None = None
    ) -> Sequence[Commit]:
        """Give the first-parent commits back to, and without, `after`; newest first."""
        bound = () if limit is None else (f"--max-count={limit}",)
        return self._log("--first-parent", *bound, after=after, upto=commit)

    def last_changes(self, commit: str, *, after: str | None = None) -> Mapping[str, datetime]:
        """Give when each unit's path was last touched in the first-parent history."""
        bounds = [full(commit)] if after is None else [full(commit), f"^{full(after)}"]
        out = git_process.output(
            self.path,
            *("log", "-z", git_listing.DATE_FORMAT, "--first-parent", "-m"),
            *("--name-only", "--no-renames", "--end-of-options", *bounds),
            *("--", f"{self._prefix}{EVIDENCE_FOLDER}curated"),
        )
        return git_listing.read_last_changes(out, f"{self._prefix}{EVIDENCE_FOLDER}")

    def between(self, after: str | None, upto: str) -> Sequence[Commit]:
        """Give every commit reachable from `upto` and not from `after` (all parents)."""
        return self._log(after=after, upto=upto)

    def touched(self, after: str | None, upto: str) -> Mapping[str, Sequence[str]]:
        """Give the paths of units that each such commit changed itself, newest commit first."""
        bounds = [full(upto)] if after is None else [full(upto), f"^{full(after)}"]
        out = git_process.output(
            self.path,
            *("log", "-z", git_listing.COMMIT_FORMAT, "--full-history", "-c"),
            *("--name-only", "--no-renames", "--end-of-options", *bounds),
            *("--", f"{self._prefix}{EVIDENCE_FOLDER}curated"),
        )
        return git_listing.read_touched(out, f"{self._prefix}{EVIDENCE_FOLDER}")

    def _log(self, *options: str, after: str | None, upto: str) -> Sequence[Commit]:
        bounds = [full(upto)] if after is None else [full(upto), f"^{full(after)}"]
        out = git_process.output(
            self.path,
            "log",
            "-z",
            git_listing.LOG_FORMAT,
            *options,
            "--end-of-options",
            *bounds,
            "--",
        )
        return tuple(git_listing.read_log(out))

    def entries(
        self, commit: str, paths: Iterable[str] = (WORKSPACE_FILE, "evidence")
    ) -> Sequence[Entry]:
        """List these files and folders (by default all), symlinks and submodules included."""
        wanted = [self._prefix + path for path in paths]
        out = git_process.output(
            self.path, "ls-tree", "-r", "-z", "-l", "--full-tree", full(commit), "--", *wanted
        )
        return tuple(git_listing.read_entries(out, self._prefix))

    def entry(self, commit: str, path: str) -> Entry | None:
        """Give one file of a revision, or None; `path` is relative to the workspace folder."""
        out = git_process.output(
            self.path, "ls-tree", "-z", "-l", "--full-tree", full(commit), "--", self._prefix + path
        )
        found = tuple(git_listing.read_entries(out, self._prefix))
        return found[0] if found and found[0].mode != FOLDER else None

    def changes(self, before: str, after: str) -> Sequence[PathChange]:
        """List what differs under the workspace folder; the cost follows the change."""
        wanted = (f"{self._prefix}{WORKSPACE_FILE}", f"{self._prefix}evidence")
        out = git_process.output(
            self.path,
            *("diff-tree", "-r", "-z", "--raw", "--no-renames", "--no-abbrev"),
            *("--end-of-options", full(before), full(after), "--", *wanted),
        )
        return tuple(git_listing.read_changes(out, self._prefix))

    def blobs(self, ids: Iterable[str]) -> Mapping[str, bytes]:
        """Read many blobs with one process. Raises `RevisionUnknown` for one that is not there."""
        wanted = tuple(dict.fromkeys(full(blob) for blob in ids))
        if not wanted:
            return {}
        with tempfile.TemporaryFile() as names:
            names.write("\n".join(wanted).encode())
            names.seek(0)
            with git_process.stream(
                self.path, "cat-file", "--batch", "--buffer", stdin=names
            ) as out:
                return {blob: _read_blob(out, blob) for blob in wanted}

    def commit(
        self,
        branch: str,
        change_set: ChangeSet,
        author: Author,
        message: str,
        expected_parent: str,
        *,
        check: Check | None = None,
    ) -> str:
        """Commit by compare-and-swap; replay on a moved branch when no file overlaps.

        Gives the new commit, or the present head when somebody else already made the same change.
        Raises `EditConflict`, `RepositoryBusy`, `RepositoryBroken` (spec 30, Writing).
        """
        wanted = Wanted(
            change_set=change_set,
            expected=full(expected_parent),
            prefix=self._prefix,
            words=lambda: self._words(author, message),
            check=check,
        )
        return git_commit.commit(self.path, branch, wanted)

    def propose(
        self, branch: str, change_set: ChangeSet, author: Author, message: str, parent: str
    ) -> str:
        """Let a proposal branch end with one commit on `parent`, and give its id.

        What the branch said before is let go: whoever calls has the proposal to himself.
        """
        ref = f"refs/heads/{proposal(branch)}"
        changes = {
            f"{self._prefix}{EVIDENCE_FOLDER}{path}": data
            for path, data in change_set.changes.items()
        }
        words = self._words(author, message)
        commit = git_import.write_commit(self.path, changes, parent=full(parent), words=words)
        git_process.output(self.path, "update-ref", ref, commit)
        return commit

    def drop(self, branch: str) -> None:
        """Delete a proposal branch; a missing one is fine."""
        git_process.output(self.path, "update-ref", "-d", f"refs/heads/{proposal(branch)}")

    def pin(self, name: str, commit: str) -> None:
        """Keep a commit reachable as `refs/evidence/<name>`."""
        git_process.output(self.path, "update-ref", f"refs/evidence/{name}", full(commit))

    def unpin(self, name: str) -> None:
        """Remove such a ref; a missing one is fine."""
        git_process.output(self.path, "update-ref", "-d", f"refs/evidence/{name}")

    def pack(self) -> bool:
        """Put single objects into packs once they are many, and tell whether they were."""
        return git_packing.pack(self.path)

    def _words(self, author: Author, message: str) -> Words:
        return Words(People(author, self._committer), self._clock(), message)


def full(commit: str) -> str:
    """Let only a full object id through to Git. Raises `RevisionUnknown`."""
    if not FULL_ID.match(commit):
        raise unknown(commit)
    return commit


def proposal(branch: str) -> str:
    """Let only a proposal branch be made or deleted. Raises `ValueError` (a bug of the caller)."""
    if not branch.startswith(PROPOSAL_PREFIX):
        raise ValueError(branch)
    return branch


def _read_blob(out: IO[bytes], blob: str) -> bytes:
    header = out.readline().split()
    if len(header) != 3 or header[1] != b"blob":
        raise unknown(blob)
    size = int(header[2])
    data = out.read(size + 1)
    if len(data) != size + 1:
        raise RepositoryBroken(gettext_noop("The repository cannot be read."))
    return data[:-1]
