"""Take a candidate as far as it goes: the one call a task makes, safe to repeat at any state."""

from __future__ import annotations

import time
from typing import Final
from uuid import UUID

import structlog

from evidence.faults import CuratorFault, Fault, OperatorFault, OutsideFault
from evidence.messages import Message, gettext_noop
from evidence.ports import Actor
from publishing import (
    approval,
    conf,
    endings,
    evaluation,
    leases,
)
from publishing.approval import ApprovalOpen
from publishing.domain.exam import Exam
from publishing.domain.lifecycle import EXAMINABLE, UNFINISHED, ApprovalState, GenerationState
from publishing.generations import stored
from publishing.leases import Hold, LeaseLost
from publishing.models import Approval, Generation
from publishing.parts import Parts, embedder_of
from publishing.steps import STEPS, Step
from publishing.transitions import ApprovalClosed, GenerationMoved

log = structlog.get_logger(__name__)
PAUSE_S: Final = 0.5
"""Between two looks at a candidate that another worker holds, or that waits for a part."""


class TriesExhausted(OperatorFault):
    """Every worker that took the generation up was lost before it got further."""

    code = "tries_exhausted"
    hint = gettext_noop("The log of the workers says more.")


class NothingToExamine(CuratorFault):
    """No generation is active, or the named one holds no points to ask."""

    code = "nothing_to_examine"


def advance(generation_id: UUID, *, worker: str, parts: Parts) -> GenerationState:
    """Build, examine and, with an open approval, activate a candidate; give the state reached.

    Whoever finds the lease taken leaves at once. A fault from outside gives the lease back for the
    next try, at most `max_tries` a state; any other fault ends the candidate, and what it had
    stored is deleted (spec 50, Ownership). Never raises a `Fault`; the row's `error_code` says it.
    """
    hold = leases.claim(generation_id, worker=worker, clock=parts.clock, watch=parts.watch)
    if hold is not None:
        try:
            _work(hold, parts.for_one_candidate())
        finally:
            hold.release()
    return GenerationState(Generation.objects.values_list("state", flat=True).get(pk=generation_id))


def publish(
    *, workspace: str, revision: str, content_digest: str, actor: Actor, note: str, parts: Parts
) -> UUID:
    """Approve a revision, work on its candidate in the foreground, and give its id.

    Asked again by the same person for the same revision, it goes on with the open approval: a
    command that was killed can be repeated. How it ended stands in the candidate's row. Raises
    what `approval.approve` raises.
    """
    try:
        approved = approval.approve(
            workspace=workspace,
            revision=revision,
            content_digest=content_digest,
            actor=actor,
            note=note,
        )
    except ApprovalOpen:
        resumed = None
        if Approval.objects.filter(
            workspace=workspace,
            revision=revision,
            content_digest=content_digest,
            approved_by=actor.username,
            state=ApprovalState.OPEN,
        ).exists():
            resumed = resume(workspace, parts=parts)
        if resumed is None:
            raise
        return resumed
    finish(approved.generation, parts=parts)
    return approved.generation


def resume(workspace: str, *, parts: Parts) -> UUID | None:
    """Go on in the foreground with the candidate of the open approval, and give its id.

    Waits until the lease of a lost worker has run out. None when no approval is open.
    """
    row = Generation.objects.filter(workspace=workspace, approval__state=ApprovalState.OPEN).first()
    if row is None:
        return None
    finish(row.pk, parts=parts)
    return row.pk


def finish(generation_id: UUID, *, parts: Parts) -> GenerationState:
    """Work on a candidate in the foreground until it rests, and give the state it rests in.

    Waits while another worker holds it, or while a part it needs is away.
    """
    worker = leases.worker_name()
    state = advance(generation_id, worker=worker, parts=parts)
    while not is_settled(generation_id):
        time.sleep(PAUSE_S)
        state = advance(generation_id, worker=worker, parts=parts)
    return state


def is_settled(generation_id: UUID) -> bool:
    """Tell whether no worker has anything left to do for a candidate."""
    row = Generation.objects.get(pk=generation_id)
    return GenerationState(row.state) not in UNFINISHED and not _wants_activation(row)


def reexamine(workspace: str, generation_id: UUID | None, *, parts: Parts) -> Exam:
    """Run the exam of the active or a named generation again and keep the report.

    Neither the generation nor its threshold changes. Raises `NothingToExamine`,
    `EmbedderChanged`, and the faults of the exam.
    """
    rows = Generation.objects.filter(workspace=workspace, state__in=EXAMINABLE)
    wanted = {"pk": generation_id} if generation_id else {"state": GenerationState.ACTIVE}
    generation = rows.filter(**wanted).first()
    if generation is None:
        raise NothingToExamine(
            Message(gettext_noop("There is no such generation, or none is active."))
        )
    tree = parts.tree(generation)
    exam = evaluation.examine(
        stored(generation),
        tree=tree,
        store=parts.store,
        embedder=embedder_of(generation, tree, parts),
        keep=lambda done, total: parts.watch and parts.watch(done, total, generation.state),
    )
    evaluation.record(exam, generation=generation)
    return exam


def tidy(*, parts: Parts) -> int:
    """Delete what is marked for deletion, vectors nobody uses too; give how many are gone."""
    return endings.tidy(parts)


_LEFT: Final = (LeaseLost, GenerationMoved, ApprovalClosed)
"""Somebody else decided meanwhile; whoever worked here just leaves."""


def _work(hold: Hold, parts: Parts) -> None:
    try:
        _take_steps(hold, parts)
    except _LEFT as left:
        log.info("generation_left", generation=str(hold.generation.pk), code=left.code)


def _take_steps(hold: Hold, parts: Parts) -> None:
    try:
        if hold.generation.tries > conf.current().max_tries:
            raise TriesExhausted(Message(gettext_noop("Every try ended without a word.")))
        while step := _next(hold.generation):
            step(hold, parts)
    except _LEFT:
        raise
    except OutsideFault as fault:
        endings.put_off(hold, parts, fault)
    except Fault as fault:
        endings.fail(hold, parts, fault)


def _next(generation: Generation) -> Step | None:
    """Give the step that belongs to a state, or None where a candidate rests."""
    state = GenerationState(generation.state)
    if state is GenerationState.READY and not _wants_activation(generation):
        return None
    return STEPS.get(state)


def _wants_activation(generation: Generation) -> bool:
    """Ask the database, since an approval may take a rehearsal over while it is worked on."""
    rows = Generation.objects.filter(
        pk=generation.pk, state=GenerationState.READY, approval__state=ApprovalState.OPEN
    )
    return rows.exists()
