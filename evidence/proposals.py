"""Preparation in the portal: asked for, computed by a worker, proposed, accepted or discarded."""

from __future__ import annotations

import uuid
from collections.abc import Collection
from dataclasses import dataclass
from datetime import datetime, timedelta

from django.db import IntegrityError, transaction
from django.db.models import F, Q, QuerySet
from django.utils import timezone

from evidence import conf, plugged
from evidence.committing import Deed, commit
from evidence.domain.identifiers import ID_PREFIX
from evidence.domain.paths import SOURCE_FOLDER, Place, place_of
from evidence.domain.tree import ChangeSet
from evidence.faults import CuratorFault, Fault, OperatorFault
from evidence.messages import Message, gettext_noop
from evidence.models import PreparationRun, RunState, Workspace
from evidence.noting import curator_notes
from evidence.ports import Actor, Author, Repository
from evidence.preparation import Preparation, Terms, prepare
from evidence.proposed import part_for, source_of_new
from evidence.reading import read_revision

MAX_TRAILERS = 50


class PreparationUnderWay(CuratorFault):
    """Another preparation of this workspace runs, or its proposal waits for a decision."""

    code = "preparation_under_way"
    hint = gettext_noop("Wait for it, then accept or discard its proposal.")


class ProposalClosed(CuratorFault):
    """The proposal is not waiting for a decision (any more)."""

    code = "proposal_closed"


class WorkerLost(OperatorFault):
    """The workers that computed this preparation were lost one after the other."""

    code = "worker_lost"
    hint = gettext_noop("Look at the log of the workers.")


def start_preparation(
    *,
    workspace: str,
    requested_by: str,
    restructurer: str,
    only: Collection[str] = (),
    personal_data_confirmed: bool = False,
) -> PreparationRun:
    """Ask for a preparation and give its row; a worker computes it (`run_preparation`).

    `only` limits it to these source paths; a model elsewhere reads personal data only if a person
    confirmed it. Raises `WorkspaceUnknown`, `PreparationUnderWay`.
    """
    row = Workspace.named(workspace)
    try:
        with transaction.atomic():
            return PreparationRun.objects.create(
                workspace=row,
                requested_by=requested_by,
                restructurer=restructurer,
                only=sorted(set(only)),
                personal_data_confirmed=personal_data_confirmed,
            )
    except IntegrityError as error:
        message = gettext_noop("A preparation of this workspace is under way already.")
        raise PreparationUnderWay(message) from error


def run_preparation(run_id: str | uuid.UUID) -> PreparationRun:
    """Compute a preparation, put it on a proposal branch, and give the row as it then is.

    Safe to call twice: only one caller holds the lease, the others leave. A fault ends the run as
    failed, with its `{code, message, path, hint}`; anything else is a bug and goes up, the lease
    lapses, and another worker tries, three times at most.
    """
    attempt = _claim(run_id)
    if attempt is None:
        return PreparationRun.objects.get(pk=run_id)
    run = attempt.run
    try:
        if run.attempts > conf.current().max_tries:
            raise WorkerLost(gettext_noop("Every worker that tried this was lost."))
        repository = plugged.repository(run.workspace.slug)
        base = repository.head(run.workspace.branch)
        made = _prepared(repository, base, attempt)
        _propose(repository, base, made, attempt)
    except Fault as fault:
        attempt.end(RunState.FAILED, error=fault.as_json())
    run.refresh_from_db()
    return run


def accept(*, run: PreparationRun, author: Actor, sources: Collection[str] | None = None) -> str:
    """Commit a proposal, or what it holds for some `sources`, in the name of a person.

    Gives the commit and closes the proposal: sources that were left out wait to be prepared again.
    When the branch moved, it is replayed if no file overlaps. Raises `ProposalClosed`,
    `SourceNotProposed`, or `EditConflict` naming the first file that somebody else changed.
    """
    run.refresh_from_db()
    if run.state != RunState.PROPOSED:
        raise _closed(run)
    slug = run.workspace.slug
    repository = plugged.repository(slug)
    change_set, left_out = part_for(repository, run, sources)
    deed = Deed(
        actor=author,
        action="accept",
        title=f"Accept the proposal of {run.requested_at:%Y-%m-%d %H:%M}",
        evidence_ids=_ids(change_set),
    )
    made = commit(workspace=run.workspace, change_set=change_set, parent=run.base_commit, deed=deed)
    # Git decides: should somebody have discarded it this very moment, it is accepted all the same.
    PreparationRun.objects.filter(pk=run.pk).update(
        state=RunState.ACCEPTED,
        accepted_commit=made,
        left_out=list(left_out),
        decided_by=author.username,
        finished_at=timezone.now(),
    )
    repository.drop(run.branch)
    return made


def discard(*, run: PreparationRun, author: Actor, reason: str) -> None:
    """Set a proposal aside; `reason` is kept for the next preparation. Raises `ProposalClosed`."""
    changed = PreparationRun.objects.filter(pk=run.pk, state=RunState.PROPOSED).update(
        state=RunState.DISCARDED,
        discard_reason=reason.strip(),
        decided_by=author.username,
        finished_at=timezone.now(),
    )
    if not changed:
        raise _closed(run)
    plugged.repository(run.workspace.slug).drop(run.branch)


def drop_unit(*, run: PreparationRun, evidence_id: str, reason: str) -> None:
    """Take a new unit out of a proposal; `reason` is kept for the next preparation of its source.

    Raises `ProposalClosed`, `UnitNotNew`.
    """
    with transaction.atomic():
        held = PreparationRun.objects.select_for_update().select_related("workspace").get(pk=run.pk)
        if held.state != RunState.PROPOSED:
            raise _closed(held)
        source = source_of_new(plugged.repository(held.workspace.slug), held, evidence_id)
        held.dropped[evidence_id] = {"source": source, "reason": reason.strip()}
        held.save(update_fields=["dropped"])


def abandoned() -> tuple[str, ...]:
    """Give the ids of runs that no worker holds: never begun, or their worker was lost."""
    lost = Q(state=RunState.RUNNING, leased_until__lt=timezone.now())
    rows = PreparationRun.objects.filter(Q(state=RunState.WAITING) | lost)
    return tuple(str(pk) for pk in rows.values_list("pk", flat=True))


@dataclass(frozen=True, slots=True)
class _Attempt:
    """One worker's hold on a run; every write is void once another worker has taken over."""

    run: PreparationRun

    def tick(self, done: int, total: int, _path: str) -> None:
        """Show the progress and renew the lease."""
        self._rows().update(sources_done=done, sources_total=total, leased_until=lease())

    def end(self, state: RunState, **columns: object) -> bool:
        """Close the run if it is still ours."""
        return bool(self._rows().update(state=state, finished_at=timezone.now(), **columns))

    def _rows(self) -> QuerySet[PreparationRun]:
        return PreparationRun.objects.filter(
            pk=self.run.pk, state=RunState.RUNNING, attempts=self.run.attempts
        )


def lease() -> datetime:
    """Give the instant until which a silent worker keeps a run."""
    return timezone.now() + timedelta(seconds=conf.current().lease_s)


def _claim(run_id: str | uuid.UUID) -> _Attempt | None:
    lost = Q(state=RunState.RUNNING, leased_until__lt=timezone.now())
    claimed = PreparationRun.objects.filter(Q(state=RunState.WAITING) | lost, pk=run_id).update(
        state=RunState.RUNNING, leased_until=lease(), attempts=F("attempts") + 1
    )
    if not claimed:
        return None
    return _Attempt(PreparationRun.objects.select_related("workspace").get(pk=run_id))


def _prepared(repository: Repository, base: str, attempt: _Attempt) -> Preparation:
    run, tree = attempt.run, read_revision(repository, base)
    return prepare(
        tree,
        plugged.restructurer(run.restructurer),
        only=run.only or None,
        progress=attempt.tick,
        terms=Terms(
            concurrency=conf.current().restructure_concurrency,
            cache=plugged.answer_cache(),
            personal_data_confirmed=run.personal_data_confirmed,
            notes=curator_notes(run.workspace, tree.under(SOURCE_FOLDER)),
        ),
    )


def _propose(repository: Repository, base: str, made: Preparation, attempt: _Attempt) -> None:
    run, report = attempt.run, made.report.as_json()
    if not made.change_set:
        attempt.end(RunState.EMPTY, base_commit=base, report=report)
        return
    repository.drop(run.branch)
    message = "Propose what the notes say\n\nPortal-Action: propose"
    author = Author(name=run.requested_by, email="")
    proposal = repository.propose(run.branch, made.change_set, author, message, base)
    attempt.end(RunState.PROPOSED, base_commit=base, proposal_commit=proposal, report=report)


def _ids(change_set: ChangeSet) -> tuple[str, ...]:
    units = [path for path in change_set.changes if place_of(path) is Place.UNIT]
    slugs = (path.rpartition("/")[2].removesuffix(".md") for path in units[:MAX_TRAILERS])
    return tuple(f"{ID_PREFIX}{slug}" for slug in slugs)


def _closed(run: PreparationRun) -> ProposalClosed:
    message = gettext_noop("This proposal is not waiting for a decision: %(state)s.")
    return ProposalClosed(Message(message, state=RunState(run.state).label))
