"""Dismiss warnings about two units, or bring them back: one commit, then the mirror."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable
from contextlib import suppress
from dataclasses import dataclass

from evidence import plugged
from evidence.committing import Deed, commit
from evidence.domain.dismissals import (
    DISMISSIBLE,
    Dismissal,
    Dismissals,
    Side,
    dump_dismissals,
    parse_dismissals,
    with_dismissal,
)
from evidence.domain.normalization import decode_utf8
from evidence.domain.paths import EVIDENCE_FOLDER
from evidence.domain.tree import DISMISSALS_PATH, ChangeSet
from evidence.domain.unit_inspection import inspect_unit
from evidence.faults import CuratorFault
from evidence.messages import Message, gettext_noop
from evidence.models import FindingRecord, Workspace
from evidence.ports import Actor, EditConflict, Repository

TRIES = 5


class DismissalRefused(CuratorFault):
    """There is no such warning (any more), or it is none that can be dismissed."""

    code = "dismissal_refused"
    hint = gettext_noop("Load the page again.")


@dataclass(frozen=True, slots=True)
class Warned:
    """A warning about two units: the finding's code and file, and the file that it names."""

    code: str
    path: str
    other: str


def dismiss(*, workspace: str, warnings: Collection[Warned], author: Actor) -> str:
    """Dismiss warnings for the present texts of their units, in one commit, and give it.

    A warning comes back when either file changes. Dismissed already, the present head is given.
    Raises `DismissalRefused` (then none is dismissed), `DismissalsInvalid`, `EditConflict`.
    """
    row = Workspace.named(workspace)
    _refuse_unknown(row, warnings)

    def change(repository: Repository, head: str, present: Dismissals) -> _Change:
        made = _dismissals(repository, head, warnings)
        after = present
        for each in made:
            if each not in present:
                after = with_dismissal(after, each)
        return _Change(after, tuple(made), "Dismiss", "dismiss")

    return _changed(row, author, change)


def restore(*, workspace: str, lines: Collection[str], author: Actor) -> str:
    """Bring dismissed warnings back, in one commit, and give it; `lines` are those of the file.

    Raises `DismissalRefused` when one is not dismissed (any more), else as `dismiss` does.
    """

    def change(repository: Repository, head: str, present: Dismissals) -> _Change:
        found = tuple(sorted(each for each in present if each.line in lines))
        if len(found) != len(set(lines)):
            message = gettext_noop("A warning of these is not dismissed any more.")
            raise DismissalRefused(Message(message), path=DISMISSALS_PATH)
        return _Change(present - set(found), found, "Bring back", "restore-warning")

    return _changed(Workspace.named(workspace), author, change)


@dataclass(frozen=True, slots=True)
class _Change:
    """What the file is to hold, and the dismissals this is about, as a commit says it."""

    after: Dismissals
    about: tuple[Dismissal, ...]
    verb: str
    action: str

    def deed(self, author: Actor) -> Deed:
        sides = {side for each in self.about for side in (each.first, each.second)}
        ids = tuple(sorted({side.evidence_id for side in sides}))
        what = f"{len(self.about)} warnings"
        if len(self.about) == 1:
            what = f"{self.about[0].code} of {' and '.join(ids)}"
        return Deed(actor=author, action=self.action, title=f"{self.verb} {what}", evidence_ids=ids)


Changing = Callable[[Repository, str, Dismissals], _Change]


def _changed(workspace: Workspace, author: Actor, changing: Changing) -> str:
    for _ in range(TRIES):
        with suppress(EditConflict):  # somebody else dismissed something at the same moment
            return _commit(workspace, author, changing)
    return _commit(workspace, author, changing)


def _commit(workspace: Workspace, author: Actor, changing: Changing) -> str:
    repository = plugged.repository(workspace.slug)
    head = repository.head(workspace.branch)
    present = _present(repository, head)
    change = changing(repository, head, present)
    if change.after == present:
        return head
    change_set = ChangeSet({DISMISSALS_PATH: dump_dismissals(change.after).encode()})
    return commit(workspace=workspace, change_set=change_set, parent=head, deed=change.deed(author))


def _present(repository: Repository, head: str) -> Dismissals:
    entry = repository.entry(head, EVIDENCE_FOLDER + DISMISSALS_PATH)
    stored = repository.blobs([entry.blob])[entry.blob] if entry else None
    return parse_dismissals(decode_utf8(stored)) if stored else frozenset()


def _refuse_unknown(workspace: Workspace, warnings: Collection[Warned]) -> None:
    rows = FindingRecord.objects.filter(
        workspace=workspace, code__in=DISMISSIBLE, path__in={each.path for each in warnings}
    ).values_list("code", "path", "values")
    found = {Warned(code, path, str(values.get("other"))) for code, path, values in rows}
    for each in warnings:
        if each not in found:
            message = gettext_noop("There is no such warning about %(path)s and %(other)s.")
            raise DismissalRefused(
                Message(message, path=each.path, other=each.other), path=each.path
            )


def _dismissals(repository: Repository, head: str, warnings: Collection[Warned]) -> list[Dismissal]:
    sides = _sides(
        repository, head, {path for each in warnings for path in (each.path, each.other)}
    )
    return sorted(
        {Dismissal.of(each.code, sides[each.path], sides[each.other]) for each in warnings}
    )


def _sides(repository: Repository, head: str, paths: Iterable[str]) -> dict[str, Side]:
    blobs = {
        entry.path.removeprefix(EVIDENCE_FOLDER): entry.blob
        for entry in repository.entries(head, [EVIDENCE_FOLDER + path for path in paths])
    }
    data = repository.blobs(blobs.values())
    sides = {}
    for path in paths:
        inspection = inspect_unit(path, data[blobs[path]]) if path in blobs else None
        if inspection is None or inspection.unit is None:
            message = gettext_noop("%(path)s is no unit any more.")
            raise DismissalRefused(Message(message, path=path), path=path)
        sides[path] = Side(inspection.unit.id, inspection.sha256)
    return sides
