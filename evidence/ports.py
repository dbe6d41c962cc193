"""The outside world of `evidence`: roles, the values they exchange, the faults they raise."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Protocol

from evidence.domain.memory import Memory
from evidence.domain.tree import WORKSPACE_FILE, ChangeSet
from evidence.domain.units import (
    CuratedEvidence,
    EvidenceKind,
    EvidencePurpose,
    EvidenceScope,
    ReviewItem,
)
from evidence.faults import CuratorFault, OperatorFault, OutsideFault


@dataclass(frozen=True, slots=True)
class Author:
    """Who makes a commit, as Git records it."""

    name: str
    email: str


@dataclass(frozen=True, slots=True)
class Actor:
    """A signed-in person, or the portal itself, who asks for a step."""

    username: str
    name: str
    email: str

    @property
    def author(self) -> Author:
        """Give the same person as Git records them."""
        return Author(name=self.name or self.username, email=self.email)


@dataclass(frozen=True, slots=True)
class Commit:
    """One commit of the first-parent history. `at` is the author's date, aware."""

    id: str
    parents: tuple[str, ...]
    author: Author
    committer: Author
    at: datetime
    message: str


@dataclass(frozen=True, slots=True)
class Entry:
    """One file of a revision: its path relative to the workspace folder, Git mode and blob id.

    `size` is in bytes, and 0 where the listing does not know it (differences, submodules).
    """

    path: str
    mode: str
    blob: str
    size: int = 0


@dataclass(frozen=True, slots=True)
class PathChange:
    """A path that differs between two revisions; `None` where it does not exist."""

    path: str
    before: Entry | None
    after: Entry | None


class RevisionUnknown(CuratorFault):
    """No such commit or branch in this repository."""

    code = "revision_unknown"


class EditConflict(CuratorFault):
    """The branch moved and the same file changed: theirs, ours and the common version are here."""

    code = "edit_conflict"

    def __init__(
        self,
        message: str,
        *,
        path: str,
        base: bytes | None,
        theirs: bytes | None,
        ours: bytes | None,
    ) -> None:
        """Keep the three versions, so that a page can show them and nothing is lost."""
        super().__init__(message, path=path)
        self.base, self.theirs, self.ours = base, theirs, ours


class RepositoryBusy(OutsideFault):
    """Other writers kept moving the branch for too long."""

    code = "busy"


class RepositoryBroken(OperatorFault):
    """Git cannot be run, or the repository cannot be read or written."""

    code = "repository_unavailable"


Check = Callable[[str, ChangeSet, Collection[str]], None]
"""Looks at what a commit would become: the head it goes on, the change set as it will be written
(after a replay another one than was asked for) and which of its files the head has already;
raises a `CuratorFault` to refuse it."""


class Repository(Protocol):
    """A bare Git repository that holds one workspace's folder. All ids are 40 hex digits."""

    folder: str

    def head(self, branch: str) -> str:
        """Give the commit a branch points at. Raises `RevisionUnknown`."""
        ...

    def resolve(self, revision: str) -> str:
        """Give the full commit id behind a name a person typed. Raises `RevisionUnknown`."""
        ...

    def history(
        self, commit: str, *, after: str | None = None, limit: int = 1000
    ) -> Sequence[Commit]:
        """Give the first-parent commits from `commit` back to, not with, `after`; newest first."""
        ...

    def last_changes(self, commit: str, *, after: str | None = None) -> Mapping[str, datetime]:
        """Give when each unit's path was last touched in the first-parent history; see `history`.

        By path relative to `evidence/`; files that are gone are among them.
        """
        ...

    def between(self, after: str | None, upto: str) -> Sequence[Commit]:
        """Give every commit reachable from `upto` and not from `after` (all parents)."""
        ...

    def touched(self, after: str | None, upto: str) -> Mapping[str, Sequence[str]]:
        """Give the paths of units that each such commit changed itself, newest commit first.

        By commit; paths are relative to `evidence/`. A merge changed what differs from all sides.
        """
        ...

    def entries(
        self, commit: str, paths: Iterable[str] = (WORKSPACE_FILE, "evidence")
    ) -> Sequence[Entry]:
        """List these files and folders of the workspace folder, symlinks and submodules included.

        By default `workspace.yaml` and all of `evidence/`.
        """
        ...

    def entry(self, commit: str, path: str) -> Entry | None:
        """Give one file of a revision, or None; `path` is relative to the workspace folder."""
        ...

    def changes(self, before: str, after: str) -> Sequence[PathChange]:
        """List what differs under the workspace folder; the cost follows the change."""
        ...

    def blobs(self, ids: Iterable[str]) -> Mapping[str, bytes]:
        """Read many blobs with one process."""
        ...

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
        """Commit by compare-and-swap and give the new id; replay when the branch moved elsewhere.

        Paths of the change set are relative to `evidence/`, as in an `EvidenceTree`.
        Raises `EditConflict`, `RepositoryBusy`, `RepositoryBroken` (spec 30, Writing).
        """
        ...

    def propose(
        self, branch: str, change_set: ChangeSet, author: Author, message: str, parent: str
    ) -> str:
        """Let a proposal branch end with one commit on `parent`, and give its id.

        What the branch said before is let go: whoever calls holds the proposal.
        """
        ...

    def drop(self, branch: str) -> None:
        """Delete a proposal branch; a missing one is fine."""
        ...

    def pin(self, name: str, commit: str) -> None:
        """Keep a commit reachable as `refs/evidence/<name>`."""
        ...

    def unpin(self, name: str) -> None:
        """Remove such a ref; a missing one is fine."""
        ...

    def pack(self) -> bool:
        """Put single objects into packs once they are many; removes nothing, delays no save."""
        ...


@dataclass(frozen=True, slots=True)
class RestructureRequest:
    """Everything a restructurer may know about one source (spec 20, Restructurers)."""

    source_file: str
    source_sha256: str
    normalized_text: str
    language: str
    previous_units: tuple[CuratedEvidence, ...] = ()
    curator_notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class RestructureCandidate:
    """One candidate unit: data to be validated, never trusted."""

    kind: EvidenceKind
    title: str
    purposes: tuple[EvidencePurpose, ...]
    scope: EvidenceScope
    excerpts: tuple[str, ...]
    payload: Mapping[str, object]
    body: str = ""
    review_items: tuple[ReviewItem, ...] = ()
    existing_id: str | None = None


class RestructuringFailed(OutsideFault):
    """A restructurer gave no usable answer for one source; `path` names it."""

    code = "restructuring_failed"


class Restructurer(Protocol):
    """Turns one source into candidate units.

    `model` and `skill_digest` say which model reads by which instructions; "" where none does.
    """

    name: str
    local: bool
    model: str
    skill_digest: str

    def restructure(self, request: RestructureRequest) -> tuple[RestructureCandidate, ...]:
        """Give the candidates for one source. Raises `RestructuringFailed` or `OperatorFault`."""
        ...


class AnswerCache(Protocol):
    """Keeps answers that passed every check; a key stands for all that an answer depends on."""

    def get(self, key: str) -> tuple[RestructureCandidate, ...] | None:
        """Give a kept answer, or None."""
        ...

    def put(self, key: str, answer: tuple[RestructureCandidate, ...]) -> None:
        """Keep an answer."""
        ...


class Memories(Protocol):
    """Keeps what the last preparation of a workspace found out about its files."""

    def get(self, name: str) -> Memory:
        """Give what is kept under a name, an empty memory where nothing can be used."""
        ...

    def put(self, name: str, memory: Memory) -> None:
        """Keep a memory."""
        ...


@dataclass(frozen=True, slots=True)
class UnitReturn:
    """One stage of a session that was told a unit, when, and the page that says so."""

    session: str
    stage: str
    at: datetime
    link: str


@dataclass(frozen=True, slots=True)
class UnitUsage:
    """Who was told a unit: how many stages, the latest few, and the page that lists them all."""

    count: int
    latest: tuple[UnitReturn, ...]
    link: str
    exam_link: str
    """The page that tells about the questions of the workspace's exam."""


class Usage(Protocol):
    """Who uses units outside the workspace: the search API, which this package does not import."""

    def of_unit(self, workspace: str, evidence_id: str, *, most: int) -> UnitUsage:
        """Give who was told a unit, at most `most` of them by name; a bounded number of queries."""
        ...
