"""What a person does to a workspace: each step is one commit in their name, then the mirror."""

from __future__ import annotations

from collections.abc import Callable

from evidence import plugged
from evidence.committing import Deed, commit
from evidence.domain import resolution
from evidence.domain.codec import dump_curated_markdown, parse_curated_markdown
from evidence.domain.dismissals import parse_dismissals
from evidence.domain.formats import is_accepted, render_source
from evidence.domain.identifiers import unit_path
from evidence.domain.manifest import parse_manifest
from evidence.domain.normalization import decode_utf8, normalize_source
from evidence.domain.paths import EVIDENCE_FOLDER, SOURCE_FOLDER, Place, is_allowed, place_of
from evidence.domain.questions import parse_evaluation
from evidence.domain.tree import ChangeSet, EvidenceTree
from evidence.domain.units import CuratedEvidence
from evidence.faults import CuratorFault
from evidence.messages import Message, gettext_noop
from evidence.models import Workspace
from evidence.overview import workspace_file
from evidence.ports import Actor, EditConflict, Repository, RevisionUnknown
from evidence.reading import read_revision


class StaleEdit(EditConflict):
    """The file is no longer the one that the person opened: the three versions are here."""

    code = "stale_edit"


class MisplacedUnit(CuratorFault):
    """A unit says another id or kind than its file's name and folder."""

    code = "unit_path_mismatch"


class NoteRefused(CuratorFault):
    """A note cannot be added under this name or with this text."""

    code = "note_refused"


def save_file(*, workspace: str, path: str, text: str, blob: str, author: Actor) -> str:
    """Save one file of `evidence/` as a person typed it and give the commit (spec 30, Writing).

    `blob` is the id the edit started from, empty for a new file. A unit is stored in its canonical
    form; one that equals the stored one makes no commit, and the present head is given. Raises
    `StaleEdit` or `EditConflict` with the three versions, and what the file's own reader refuses.
    """
    row = Workspace.named(workspace)
    repository = plugged.repository(workspace)
    head = repository.head(row.branch)
    data, unit = _checked(path, text)
    stored = _guarded(repository, head, path=path, blob=blob, ours=data)
    if stored == data or (unit is not None and unit == _unit_in(stored, path)):
        return head
    deed = Deed(
        actor=author,
        action="save",
        title=f"Edit {unit.title if unit else path}",
        evidence_ids=(unit.id,) if unit else (),
    )
    return commit(workspace=row, change_set=ChangeSet({path: data}), parent=head, deed=deed)


def add_source(*, workspace: str, name: str, text: str, author: Actor) -> str:
    """Add a note under `source/` and give the commit.

    Raises `NoteRefused`, `PathRefused`, `SourceUnreadable`.
    """
    row = Workspace.named(workspace)
    repository = plugged.repository(workspace)
    head = repository.head(row.branch)
    path = SOURCE_FOLDER + name.strip().removeprefix(SOURCE_FOLDER)
    _refuse_note(path, text, accepted=is_accepted(path, workspace_file(workspace, head)))
    if is_allowed(path) and repository.entry(head, EVIDENCE_FOLDER + path):
        message = Message(gettext_noop("There is a note “%(path)s” already."), path=path)
        raise NoteRefused(message, path=path)
    normalized = normalize_source(encoded(text))
    render_source(path, normalized)  # refuses what could not be prepared
    change_set = ChangeSet({path: normalized.encode()})
    deed = Deed(actor=author, action="add-source", title=f"Add {path}")
    return commit(workspace=row, change_set=change_set, parent=head, deed=deed)


def retire(*, workspace: str, evidence_id: str, author: Actor) -> str:
    """Remove a unit and its entry in the manifest in one commit, and give it (spec 20, Resolution).

    Raises `ResolutionRefused`, `ManifestInvalid`, `EditConflict`.
    """
    return _resolved(
        workspace=workspace,
        evidence_id=evidence_id,
        resolve=lambda tree: resolution.retire(tree, evidence_id),
        action="retire",
        author=author,
    )


def relink(*, workspace: str, evidence_id: str, source: str, author: Actor) -> str:
    """Make a source that holds an orphan's excerpts its origin, in one commit, and give it.

    Raises `ResolutionRefused`, `ManifestInvalid`, `EditConflict`.
    """
    return _resolved(
        workspace=workspace,
        evidence_id=evidence_id,
        resolve=lambda tree: resolution.relink(tree, evidence_id, source),
        action="relink",
        author=author,
    )


def _resolved(
    *,
    workspace: str,
    evidence_id: str,
    resolve: Callable[[EvidenceTree], ChangeSet],
    action: str,
    author: Actor,
) -> str:
    row = Workspace.named(workspace)
    repository = plugged.repository(workspace)
    head = repository.head(row.branch)
    change_set = resolve(read_revision(repository, head))
    title = f"{action.capitalize()} {evidence_id}"
    deed = Deed(actor=author, action=action, title=title, evidence_ids=(evidence_id,))
    return commit(workspace=row, change_set=change_set, parent=head, deed=deed)


def encoded(text: str) -> bytes:
    """Give the bytes of a typed text. Raises `NoteRefused` for half a character."""
    try:
        return text.encode()
    except UnicodeEncodeError as error:
        message = gettext_noop("The character at position %(position)s is not whole.")
        raise NoteRefused(Message(message, position=error.start + 1)) from error


def _refuse_note(path: str, text: str, *, accepted: bool) -> None:
    if not accepted:
        message = gettext_noop("“%(path)s” is not a type of note that this workspace takes.")
        raise NoteRefused(Message(message, path=path), path=path)
    if not text.strip():
        raise NoteRefused(gettext_noop("The note is empty."), path=path)


def _checked(path: str, text: str) -> tuple[bytes, CuratedEvidence | None]:
    """Read the text as what its path says it is; give the bytes to store, and the unit."""
    place = place_of(path)
    data = encoded(text)
    if place is Place.UNIT:
        unit = parse_curated_markdown(text, path=path)
        if path != unit_path(unit.kind, unit.id):
            message = gettext_noop("This unit belongs at %(expected)s.")
            expected = unit_path(unit.kind, unit.id)
            raise MisplacedUnit(Message(message, expected=expected), path=path)
        return dump_curated_markdown(unit).encode(), unit
    if place is Place.MANIFEST:
        parse_manifest(text)
    elif place is Place.EVALUATION:
        parse_evaluation(text)
    elif place is Place.DISMISSALS:
        parse_dismissals(text)
    return normalize_source(data).encode(), None


def _guarded(
    repository: Repository, head: str, *, path: str, blob: str, ours: bytes
) -> bytes | None:
    """Give the stored bytes if the file is still the one that was opened. Raises `StaleEdit`."""
    entry = repository.entry(head, EVIDENCE_FOLDER + path)
    stored = entry.blob if entry else ""
    blobs = repository.blobs([entry.blob]) if entry else {}
    if stored != blob and blobs.get(stored) != ours:
        raise StaleEdit(
            gettext_noop("Somebody else changed this file since you opened it."),
            path=path,
            base=opened_version(repository, blob),
            theirs=blobs.get(stored),
            ours=ours,
        )
    return blobs.get(stored)


def opened_version(repository: Repository, blob: str) -> bytes | None:
    """Give what the person opened; a page may post any id, so an unknown one is no version."""
    if not blob:
        return None
    try:
        return repository.blobs([blob])[blob]
    except RevisionUnknown:
        return None


def _unit_in(data: bytes | None, path: str) -> CuratedEvidence | None:
    if data is None:
        return None
    try:
        return parse_curated_markdown(decode_utf8(data), path=path)
    except CuratorFault:
        return None  # A broken file: whatever is saved repairs it.
