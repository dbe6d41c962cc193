"""Preparation in the portal: asked for, then computed by a worker, which leaves a proposal."""

from __future__ import annotations

import uuid
from collections.abc import Collection

from django.db import IntegrityError, transaction

from evidence import conf, plugged, recording, run_transitions
from evidence.domain.paths import SOURCE_FOLDER
from evidence.domain.runs import RunState
from evidence.domain.tree import EvidenceTree
from evidence.faults import CuratorFault, Fault, OperatorFault
from evidence.messages import gettext_noop
from evidence.models import PreparationRun, Workspace
from evidence.noting import curator_notes
from evidence.ports import Author, Repository, Restructurer
from evidence.preparation import Preparation, Terms, prepare
from evidence.reading import read_revision
from evidence.run_transitions import Hold


class PreparationUnderWay(CuratorFault):
    """Another preparation of this workspace runs, or its proposal waits for a decision."""

    code = "preparation_under_way"
    hint = gettext_noop("Wait for it, then accept or discard its proposal.")


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

    Safe to call twice: only one caller holds the run, the others leave. A fault ends the run as
    failed, with its `{code, message, path, hint}`; anything else is a bug and goes up, the lease
    lapses, and another worker tries, three times at most.
    """
    hold = run_transitions.claim(run_id)
    if hold is None:
        return PreparationRun.objects.get(pk=run_id)
    try:
        if hold.run.attempts > conf.current().max_tries:
            raise WorkerLost(gettext_noop("Every worker that tried this was lost."))
        _compute(hold)
    except Fault as fault:
        recording.blame(hold.run, fault)
        hold.move(RunState.FAILED, error=fault.as_json())
    return PreparationRun.objects.select_related("workspace").get(pk=run_id)


def abandoned() -> tuple[str, ...]:
    """Give the ids of runs that no worker holds: never begun, or their worker was lost."""
    return tuple(str(pk) for pk in run_transitions.abandoned().values_list("pk", flat=True))


def _compute(hold: Hold) -> None:
    run = hold.run
    repository = plugged.repository(run.workspace.slug)
    base = repository.head(run.workspace.branch)
    tree = read_revision(repository, base)
    made = _prepared(tree, plugged.restructurer(run.restructurer), hold)
    report = made.report.as_json()
    if not made.change_set:
        hold.move(RunState.EMPTY, base_commit=base, report=report)
        return
    proposal = _propose(repository, base, made, run)
    with transaction.atomic():
        commits = {"base_commit": base, "proposal_commit": proposal}
        if hold.move(RunState.PROPOSED, report=report, **commits):
            recording.proposed(run, made.change_set, tree)


def _prepared(tree: EvidenceTree, restructurer: Restructurer, hold: Hold) -> Preparation:
    run = hold.run
    memories, name = plugged.memories(), f"workspace:{run.workspace.slug}"
    known = memories.get(name)

    def tick(done: int, total: int, _path: str) -> None:
        hold.keep(sources_done=done, sources_total=total)

    made = prepare(
        tree,
        restructurer,
        only=run.only or None,
        progress=tick,
        terms=Terms(
            concurrency=conf.current().restructure_concurrency,
            cache=plugged.answer_cache(),
            personal_data_confirmed=run.personal_data_confirmed,
            notes=curator_notes(run.workspace, tree.under(SOURCE_FOLDER)),
            witness=recording.witness(run, restructurer),
            known=known,
        ),
    )
    if made.memory != known:
        memories.put(name, made.memory)
    return made


def _propose(repository: Repository, base: str, made: Preparation, run: PreparationRun) -> str:
    message = "Propose what the notes say\n\nPortal-Action: propose"
    author = Author(name=run.requested_by, email="")
    return repository.propose(run.branch, made.change_set, author, message, base)
