"""One change set becomes one commit by a person, is put on record, and is mirrored."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import PurePosixPath

from evidence import mirror, plugged
from evidence.domain.manifest import parse_manifest
from evidence.domain.normalization import decode_utf8
from evidence.domain.paths import EVIDENCE_FOLDER, is_allowed, twins
from evidence.domain.tree import MANIFEST_PATH, ChangeSet
from evidence.faults import CuratorFault
from evidence.messages import Message, gettext_noop
from evidence.models import PortalCommit, Workspace
from evidence.ports import Actor, Repository

UNIT_FILE = re.compile(r"^curated/[a-z]+/(?P<slug>[^/]+)\.md$")
TITLE_CHARS = 100


class PathRefused(CuratorFault):
    """A name that no file may have here (spec 30, Reading)."""

    code = "path_refused"
    hint = gettext_noop("Choose another name.")


class IdTaken(CuratorFault):
    """Another unit has this id already, under another kind."""

    code = "duplicate_id"


@dataclass(frozen=True, slots=True)
class Deed:
    """Who does what, as the message of the commit and the portal's record say it."""

    actor: Actor
    action: str
    title: str
    evidence_ids: tuple[str, ...] = ()
    others: tuple[Actor, ...] = ()
    """Whose words the change holds too."""

    @property
    def message(self) -> str:
        """Give one line and the trailers (spec 30, Writing)."""
        title = " ".join(self.title.split())[:TITLE_CHARS]
        trailers = [f"Evidence-Id: {evidence_id}" for evidence_id in sorted(self.evidence_ids)]
        authors = (each.author for each in self.others if each.email)
        shared = [f"Co-authored-by: {each.name} <{each.email}>" for each in authors]
        return "\n".join([title, "", *trailers, f"Portal-Action: {self.action}", *shared])


def commit(*, workspace: Workspace, change_set: ChangeSet, parent: str, deed: Deed) -> str:
    """Commit on the workspace's branch, mirror it, and give the commit.

    When somebody else already made the same change there is no commit, and their head is given.
    Raises `EditConflict`, `RepositoryBusy`, and what the check of names and ids refuses.
    """
    repository = plugged.repository(workspace.slug)
    written: list[str] = []

    def check(head: str, changes: ChangeSet, present: Collection[str]) -> None:
        written.append(head)
        check_names(repository, head, changes, present)

    made = repository.commit(
        workspace.branch, change_set, deed.actor.author, deed.message, parent, check=check
    )
    if written:
        PortalCommit.objects.get_or_create(
            workspace=workspace,
            commit=made,
            defaults={
                "username": deed.actor.username,
                "action": deed.action,
                "others": [each.username for each in deed.others],
            },
        )
    # Whoever kept us from mirroring began after this commit, and so mirrored it too.
    with suppress(mirror.MirrorBusy):
        mirror.sync_workspace(workspace.slug)
    return made


def check_names(
    repository: Repository, head: str, change_set: ChangeSet, present: Collection[str]
) -> None:
    """Refuse names and ids that would clash on this head, and a manifest that is none.

    The files are listed only when one is new. Raises `PathRefused`, `IdTaken`, `ManifestInvalid`.
    """
    manifest = change_set.changes.get(MANIFEST_PATH)
    if manifest is not None:
        parse_manifest(decode_utf8(manifest))
    written = {path for path, data in change_set.changes.items() if data is not None}
    if written <= set(present):
        return
    listed = {entry.path.removeprefix(EVIDENCE_FOLDER) for entry in repository.entries(head)}
    after = (listed - set(change_set.changes)) | written
    _refuse_names(written, after)
    _refuse_ids(written, after)


def _refuse_names(written: Iterable[str], present: Iterable[str]) -> None:
    names = set(present)
    folders = {folder for path in names for folder in _folders(path)}
    clashing = twins(names) | (names & folders)
    for path in written:
        if path in clashing or names.intersection(_folders(path)) or not is_allowed(path):
            message = gettext_noop("A file may not be called “%(path)s” here.")
            raise PathRefused(Message(message, path=path), path=path)


def _folders(path: str) -> list[str]:
    return [str(folder) for folder in PurePosixPath(path).parents]


def _refuse_ids(written: Iterable[str], present: Iterable[str]) -> None:
    holders: dict[str, set[str]] = {}
    for path in present:
        if found := UNIT_FILE.match(path):
            holders.setdefault(found["slug"], set()).add(path)
    for path in written:
        found = UNIT_FILE.match(path)
        if found and len(holders[found["slug"]]) > 1:
            message = gettext_noop("Another kind already has a unit “%(slug)s”.")
            raise IdTaken(Message(message, slug=found["slug"]), path=path)
