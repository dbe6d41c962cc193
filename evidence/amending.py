"""Change a proposal before it is decided on: edit its units, take new ones out, put them back."""

from __future__ import annotations

from evidence import plugged, run_transitions
from evidence.curation import MisplacedUnit, StaleEdit, opened_version
from evidence.domain.codec import dump_curated_markdown, parse_curated_markdown
from evidence.domain.credentials import find_credentials
from evidence.domain.formats import render_source
from evidence.domain.fragments import render_fragments
from evidence.domain.identifiers import unit_path
from evidence.domain.normalization import contains_excerpt, decode_utf8, normalize_source
from evidence.domain.paths import EVIDENCE_FOLDER
from evidence.domain.runs import RunState
from evidence.domain.tree import ChangeSet
from evidence.domain.units import CuratedEvidence
from evidence.faults import CuratorFault
from evidence.messages import Message, gettext_noop
from evidence.models import PreparationRun
from evidence.ports import Actor, Entry, Repository
from evidence.proposed import proposed_file, source_of_new
from evidence.run_transitions import Hold


class EditRefused(CuratorFault):
    """A proposed unit would rest on something that its note does not say, or on another note."""

    code = "edit_refused"


class UnitNotDropped(CuratorFault):
    """Only a unit that was taken out of a proposal can be put back."""

    code = "unit_not_dropped"


def edit_unit(*, run: PreparationRun, evidence_id: str, text: str, blob: str, author: Actor) -> str:
    """Save a proposed unit as a person typed it: one commit of theirs on the proposal's branch.

    `blob` is the id the edit started from. Id, kind and source stay, so the proposal's manifest
    stays true. Gives the commit the proposal ends with; a unit that equals the stored one makes
    none. Raises `UnitInvalid`, `MisplacedUnit`, `EditRefused`, `AtomicContentTooLarge`, `StaleEdit`
    with the three versions, `UnitNotProposed`, `ProposalClosed`, `ProposalHeld`.
    """
    with run_transitions.held(run) as hold:
        repository = plugged.repository(hold.run.workspace.slug)
        entry = proposed_file(repository, hold.run, evidence_id)
        path = entry.path.removeprefix(EVIDENCE_FOLDER)
        unit = _placed(text, path)
        data = dump_curated_markdown(unit).encode()
        stored = _guarded(repository, entry, blob=blob, ours=data)
        if stored == data:
            return hold.run.proposal_commit
        _check(repository, hold.run, unit=unit, before=_unit(stored, path))
        return _commit(repository, hold, unit=unit, path=path, author=author)


def drop_unit(*, run: PreparationRun, evidence_id: str, reason: str) -> None:
    """Take a new unit out of a proposal; `reason` is kept for the next preparation of its source.

    Raises `ProposalClosed`, `ProposalHeld`, `UnitNotNew`.
    """
    with run_transitions.held(run) as hold:
        repository = plugged.repository(hold.run.workspace.slug)
        source = source_of_new(repository, hold.run, evidence_id)
        said = {"source": source, "reason": reason.strip()}
        _keep(hold, dropped={**hold.run.dropped, evidence_id: said})


def put_back(*, run: PreparationRun, evidence_id: str) -> None:
    """Put a unit that was taken out back into its proposal; the reason is forgotten.

    Raises `ProposalClosed`, `ProposalHeld`, `UnitNotDropped`.
    """
    with run_transitions.held(run) as hold:
        others = {key: said for key, said in hold.run.dropped.items() if key != evidence_id}
        if len(others) == len(hold.run.dropped):
            raise UnitNotDropped(gettext_noop("This unit was not taken out of the proposal."))
        _keep(hold, dropped=others)


def _placed(text: str, path: str) -> CuratedEvidence:
    """Read the typed text as the unit of its file. Raises `UnitInvalid`, `MisplacedUnit`."""
    unit = parse_curated_markdown(text, path=path)
    if path != unit_path(unit.kind, unit.id):
        message = gettext_noop("In a proposal a unit keeps its id and its kind.")
        raise MisplacedUnit(message, path=path)
    return unit


def _guarded(repository: Repository, entry: Entry, *, blob: str, ours: bytes) -> bytes:
    """Give the stored bytes if they are what was opened, or what is saved. Raises `StaleEdit`."""
    stored = repository.blobs([entry.blob])[entry.blob]
    if entry.blob == blob or stored == ours:
        return stored
    raise StaleEdit(
        gettext_noop("Somebody else changed this unit since you opened it."),
        path=entry.path.removeprefix(EVIDENCE_FOLDER),
        base=opened_version(repository, blob),
        theirs=stored,
        ours=ours,
    )


def _check(
    repository: Repository, run: PreparationRun, *, unit: CuratedEvidence, before: CuratedEvidence
) -> None:
    """Hold an edit to the rules of an answer (spec 20, Preparation, step 3)."""
    now, then = unit.provenance, before.provenance
    if (now.source_file, now.source_sha256) != (then.source_file, then.source_sha256):
        message = gettext_noop("In a proposal a unit keeps its source_file and source_sha256.")
        raise EditRefused(message, code="provenance_changed")
    text = _source_text(repository, run, now.source_file)
    for excerpt in now.supporting_excerpts:
        if excerpt not in then.supporting_excerpts and not contains_excerpt(text, excerpt):
            template = gettext_noop("The note does not say “%(excerpt)s” word for word.")
            message = Message(template, excerpt=excerpt[:100])
            raise EditRefused(message, code="excerpt_not_found")
    if find_credentials(dump_curated_markdown(unit)):
        message = gettext_noop("The text holds something that looks like a credential.")
        raise EditRefused(message, code="credential_detected")
    render_fragments(unit)  # raises: what could not be published is not proposed


def _source_text(repository: Repository, run: PreparationRun, source: str) -> str:
    entry = repository.entry(run.base_commit, EVIDENCE_FOLDER + source)
    if entry is None:
        return ""
    return render_source(source, normalize_source(repository.blobs([entry.blob])[entry.blob]))


def _commit(
    repository: Repository, hold: Hold, *, unit: CuratedEvidence, path: str, author: Actor
) -> str:
    run = hold.run
    commit = repository.propose(
        run.branch,
        ChangeSet({path: dump_curated_markdown(unit).encode()}),
        author.author,
        f"Edit {unit.title} as proposed\n\nEvidence-Id: {unit.id}\nPortal-Action: edit-proposal",
        run.proposal_commit,
    )
    person = {"username": author.username, "name": author.name, "email": author.email}
    others = [each for each in run.editors if each["username"] != author.username]
    if not hold.keep(proposal_commit=commit, editors=[*others, person]):
        _let_go(repository, run)
        raise run_transitions.taken_over()
    return commit


def _let_go(repository: Repository, run: PreparationRun) -> None:
    """Leave no branch behind when the proposal was closed while its editor was taken for lost."""
    run.refresh_from_db(fields=["state"])
    if run.state != RunState.PROPOSED:
        repository.drop(run.branch)


def _keep(hold: Hold, **columns: object) -> None:
    if not hold.keep(**columns):
        raise run_transitions.taken_over()


def _unit(data: bytes, path: str) -> CuratedEvidence:
    return parse_curated_markdown(decode_utf8(data), path=path)
