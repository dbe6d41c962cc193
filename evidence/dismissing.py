"""Dismiss a warning about two units: one line in `dismissals.yaml`, one commit, then the mirror."""

from __future__ import annotations

from contextlib import suppress

from evidence import plugged
from evidence.committing import Deed, commit
from evidence.domain.dismissals import (
    DISMISSIBLE,
    Dismissal,
    Side,
    dump_dismissals,
    parse_dismissals,
    with_dismissal,
)
from evidence.domain.normalization import decode_utf8
from evidence.domain.tree import DISMISSALS_PATH, ChangeSet
from evidence.domain.unit_inspection import inspect_unit
from evidence.faults import CuratorFault
from evidence.messages import Message, gettext_noop
from evidence.models import FindingRecord, Workspace
from evidence.ports import Actor, EditConflict, Repository
from evidence.surveying import FOLDER

TRIES = 5


class DismissalRefused(CuratorFault):
    """There is no such warning (any more), or it is none that can be dismissed."""

    code = "dismissal_refused"
    hint = gettext_noop("Load the page again.")


def dismiss(*, workspace: str, code: str, path: str, other: str, author: Actor) -> str:
    """Dismiss a warning for the present texts of two units, and give the commit.

    `code` and `path` are the finding's, `other` is the file it names; the warning comes back when
    either file changes. Dismissed already, the present head is given. Raises `DismissalRefused`,
    `DismissalsInvalid`, `EditConflict`.
    """
    row = Workspace.named(workspace)
    repository = plugged.repository(workspace)
    _refuse_unknown(row, code=code, path=path, other=other)
    for _ in range(TRIES):
        with suppress(EditConflict):  # somebody else dismissed something at the same moment
            return _commit(row, repository, code=code, paths=(path, other), author=author)
    return _commit(row, repository, code=code, paths=(path, other), author=author)


def _commit(
    row: Workspace, repository: Repository, *, code: str, paths: tuple[str, str], author: Actor
) -> str:
    head = repository.head(row.branch)
    one, other = (_side(repository, head, path) for path in paths)
    change_set = _with(repository, head, Dismissal.of(code, one, other))
    if not change_set:
        return head
    ids = (one.evidence_id, other.evidence_id)
    title = f"Dismiss {code} of {ids[0]} and {ids[1]}"
    deed = Deed(actor=author, action="dismiss", title=title, evidence_ids=ids)
    return commit(workspace=row, change_set=change_set, parent=head, deed=deed)


def _refuse_unknown(workspace: Workspace, *, code: str, path: str, other: str) -> None:
    found = FindingRecord.objects.filter(
        workspace=workspace, code=code, path=path, values__other=other
    )
    if code not in DISMISSIBLE or not found.exists():
        message = gettext_noop("There is no such warning about %(path)s and %(other)s.")
        raise DismissalRefused(Message(message, path=path, other=other), path=path)


def _side(repository: Repository, head: str, path: str) -> Side:
    entry = repository.entry(head, FOLDER + path)
    inspection = inspect_unit(path, repository.blobs([entry.blob])[entry.blob]) if entry else None
    if inspection is None or inspection.unit is None:
        message = gettext_noop("%(path)s is no unit any more.")
        raise DismissalRefused(Message(message, path=path), path=path)
    return Side(inspection.unit.id, inspection.sha256)


def _with(repository: Repository, head: str, dismissal: Dismissal) -> ChangeSet:
    entry = repository.entry(head, FOLDER + DISMISSALS_PATH)
    stored = repository.blobs([entry.blob])[entry.blob] if entry else None
    present = parse_dismissals(decode_utf8(stored)) if stored else frozenset()
    if dismissal in present:
        return ChangeSet()
    text = dump_dismissals(with_dismissal(present, dismissal))
    return ChangeSet({DISMISSALS_PATH: text.encode()})
