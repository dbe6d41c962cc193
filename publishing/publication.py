"""Take a candidate as far as it goes: the one call a task makes, safe to repeat at any state."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Final
from uuid import UUID

import structlog
from django.db import transaction
from django.utils import timezone

from evidence.domain.tree import EvidenceTree
from evidence.domain.workspace import WorkspaceFile
from evidence.faults import Fault, OperatorFault, OutsideFault
from evidence.messages import Message, gettext_noop
from evidence.ports import Repository
from evidence.reading import read_revision
from publishing import activation, building, conf, evaluation, leases, retention, transitions
from publishing.domain.lifecycle import UNFINISHED, ApprovalState, GenerationState
from publishing.generations import stored
from publishing.leases import PORTAL, Hold, LeaseLost
from publishing.models import Approval, Generation
from publishing.ports import Embedder, VectorStore
from publishing.transitions import ApprovalClosed, Cause, GenerationMoved

log = structlog.get_logger(__name__)


class TriesExhausted(OperatorFault):
    """Every worker that took the generation up was lost before it got further."""

    code = "tries_exhausted"
    hint = gettext_noop("The log of the workers says more.")


class EmbedderChanged(OperatorFault):
    """The candidate was built with another embedder than the portal uses now."""

    code = "embedder_changed"
    hint = gettext_noop("Approve the revision again; it is built afresh.")


@dataclass(frozen=True, slots=True)
class Parts:
    """What a publication works with; `publishing.wiring` puts it together."""

    repository: Callable[[str], Repository]
    embedder: Callable[[WorkspaceFile], Embedder]
    store: VectorStore
    clock: Callable[[], datetime] = timezone.now


def advance(generation_id: UUID, *, worker: str, parts: Parts) -> GenerationState:
    """Build, examine and, with an open approval, activate a candidate; give the state reached.

    Whoever finds the lease taken leaves at once. A fault from outside gives the lease back for the
    next try, at most `max_tries` a state; any other fault ends the candidate, and what it had
    stored is deleted (spec 50, Ownership). Never raises a `Fault`; `row.error_code` names it.
    """
    hold = leases.claim(generation_id, worker=worker, clock=parts.clock)
    if hold is not None:
        try:
            _work(hold, parts)
        finally:
            hold.release()
    return GenerationState(Generation.objects.values_list("state", flat=True).get(pk=generation_id))


def is_settled(generation_id: UUID) -> bool:
    """Tell whether no worker has anything left to do for a candidate."""
    row = Generation.objects.select_related("approval").get(pk=generation_id)
    return GenerationState(row.state) not in UNFINISHED and not _wants_activation(row)


def tidy(*, parts: Parts) -> int:
    """Delete what is marked and could not be deleted before, and give how many are gone."""
    cause = Cause(actor=PORTAL, at=parts.clock())
    removed = retention.remove_marked(store=parts.store, repository=parts.repository, cause=cause)
    retention.sweep_vectors()
    return removed


def _work(hold: Hold, parts: Parts) -> None:
    try:
        if hold.generation.tries > conf.current().max_tries:
            raise TriesExhausted(Message(gettext_noop("Every try ended without a word.")))
        while step := _next(hold.generation):
            step(hold, parts)
    except (LeaseLost, GenerationMoved, ApprovalClosed) as left:
        log.info("generation_left", generation=str(hold.generation.pk), code=left.code)
    except OutsideFault as fault:
        _try_later(hold, parts, fault)
    except Fault as fault:
        _fail(hold, parts, fault)


Step = Callable[[Hold, Parts], None]


def _next(generation: Generation) -> Step | None:
    """Give the step that belongs to a state, or None where a candidate rests."""
    state = GenerationState(generation.state)
    if state is GenerationState.READY and not _wants_activation(generation):
        return None
    return _STEPS.get(state)


def _wants_activation(generation: Generation) -> bool:
    """Ask the database, since an approval may take a rehearsal over while it is worked on."""
    rows = Generation.objects.filter(
        pk=generation.pk, state=GenerationState.READY, approval__state=ApprovalState.OPEN
    )
    return rows.exists()


def _build(hold: Hold, parts: Parts) -> None:
    generation = hold.generation
    hold.keep(attempt=generation.attempt + 1)
    repository = parts.repository(generation.workspace)
    repository.pin(retention.pin_name(generation), generation.revision)
    tree = read_revision(repository, generation.revision)
    built = building.build(hold=hold, tree=tree, store=parts.store, embedder=_embedder(tree, parts))
    hold.move(
        GenerationState.EVALUATING,
        embedder=built.embedder,
        dimension=built.stored.dimension,
        avg_len=built.stored.avg_len,
        unit_count=built.unit_count,
        embedded_count=built.embedded_count,
        point_count=built.summary.count,
        points_digest=built.summary.digest,
    )


def _examine(hold: Hold, parts: Parts) -> None:
    generation = hold.generation
    tree = read_revision(parts.repository(generation.workspace), generation.revision)
    exam = evaluation.examine(
        stored(generation),
        tree=tree,
        store=parts.store,
        embedder=_same_embedder(generation, tree, parts),
        keep=hold.keep,
    )
    with transaction.atomic():
        evaluation.record(exam, generation=generation)
        if exam.passed:
            hold.move(GenerationState.READY, threshold=exam.threshold)
        else:
            hold.move(GenerationState.REJECTED, reason=NOT_PASSED, threshold=exam.threshold)
            _close(generation, ApprovalState.EXAM_FAILED, at=hold.clock(), outcome=NOT_PASSED)
    if exam.passed:
        cause = Cause(actor=PORTAL, at=hold.clock())
        retention.mark_rehearsals(workspace=generation.workspace, cause=cause)


def _activate(hold: Hold, parts: Parts) -> None:
    generation = hold.generation
    generation.refresh_from_db()
    tree = read_revision(parts.repository(generation.workspace), generation.revision)
    _same_embedder(generation, tree, parts)
    activation.activate(hold=hold, store=parts.store)
    cause = Cause(actor=PORTAL, at=hold.clock())
    workspace = generation.workspace
    retained = tree.workspace.publication.retained_generations if tree.workspace else 1
    retention.mark_superseded(workspace=workspace, retained=retained, cause=cause)
    retention.mark_ended(workspace=workspace, cause=cause)
    tidy(parts=parts)


_STEPS: Final[Mapping[GenerationState, Step]] = {
    GenerationState.BUILDING: _build,
    GenerationState.EVALUATING: _examine,
    GenerationState.READY: _activate,
}
NOT_PASSED: Final = Message(
    gettext_noop("A question found none of its expected units among the first ten.")
)


def _embedder(tree: EvidenceTree, parts: Parts) -> Embedder:
    if tree.workspace is None:
        raise building.TreeRefused(Message(gettext_noop("The revision has no workspace.yaml.")))
    return parts.embedder(tree.workspace)


def _same_embedder(generation: Generation, tree: EvidenceTree, parts: Parts) -> Embedder:
    embedder = _embedder(tree, parts)
    if embedder.id != generation.embedder:
        raise EmbedderChanged(
            Message(
                gettext_noop("Built with %(built)s; the portal uses %(used)s now."),
                built=generation.embedder,
                used=embedder.id,
            )
        )
    return embedder


def _try_later(hold: Hold, parts: Parts, fault: OutsideFault) -> None:
    if hold.generation.tries >= conf.current().max_tries:
        _fail(hold, parts, fault)
        return
    log.warning("generation_waits", generation=str(hold.generation.pk), code=fault.code)
    hold.keep(error_code=fault.code, error_message=str(fault.message))


def _fail(hold: Hold, parts: Parts, fault: Fault) -> None:
    """End a candidate with its fault, close its approval, and delete what it had stored."""
    generation = hold.generation
    log.error("generation_failed", generation=str(generation.pk), code=fault.code)
    reason = f"{fault.code}: {fault.message}"
    to = _ENDS[GenerationState(generation.state)]
    with transaction.atomic():
        hold.move(to, reason=reason, error_code=fault.code, error_message=str(fault.message))
        _close(generation, ApprovalState.FAILED, at=hold.clock(), outcome=reason)
    _compensate(hold, parts)


_ENDS: Final[Mapping[GenerationState, GenerationState]] = {
    GenerationState.BUILDING: GenerationState.FAILED,
    GenerationState.EVALUATING: GenerationState.FAILED,
    GenerationState.READY: GenerationState.DELETING,
}
"""How a fault ends a candidate; one that had passed can only be deleted."""


def _compensate(hold: Hold, parts: Parts) -> None:
    """Delete the points of an ended candidate; what cannot be deleted now is marked for later."""
    generation = hold.generation
    if GenerationState(generation.state) is GenerationState.DELETING:
        tidy(parts=parts)
        return
    try:
        parts.store.delete(stored(generation))
    except Fault as fault:
        hold.move(GenerationState.DELETING, reason=f"{fault.code}: {fault.message}")


def _close(generation: Generation, to: ApprovalState, *, at: datetime, outcome: str) -> None:
    """Close the approval that waits for this candidate, if one does."""
    waiting = Approval.objects.filter(generations=generation, state=ApprovalState.OPEN).first()
    if waiting is not None:
        cause = Cause(actor=PORTAL, at=at, reason=outcome)
        transitions.close_approval(waiting, to, cause=cause, outcome=outcome)
