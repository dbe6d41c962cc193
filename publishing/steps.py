"""The three steps of a candidate: build, examine, activate; each starts from the row alone."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Final

from django.db import transaction

from evidence.domain.tree import EvidenceTree
from evidence.ports import RevisionUnknown
from publishing import (
    activation,
    building,
    endings,
    evaluation,
    generations,
    groundings,
    neighbours,
    replay,
    retention,
)
from publishing.domain.lifecycle import GenerationState
from publishing.generations import stored
from publishing.leases import PORTAL, Hold
from publishing.neighbours import Candidate
from publishing.parts import Parts, embedder_of, workspace_of
from publishing.transitions import Cause

Step = Callable[[Hold, Parts], None]


def build(hold: Hold, parts: Parts) -> None:
    """Keep the commit reachable; write its fragments to the store, its places to the database."""
    generation = hold.generation
    hold.keep(attempt=generation.attempt + 1)
    repository = parts.repository(generation.workspace)
    repository.pin(retention.pin_name(generation), generation.revision)
    tree = parts.tree(generation)
    embedder = parts.embedder(workspace_of(tree))
    built = building.build(hold=hold, tree=tree, store=parts.store, embedder=embedder)
    groundings.write(generation, tree)
    hold.move(GenerationState.EVALUATING, changes=built.as_columns())


def examine(hold: Hold, parts: Parts) -> None:
    """Run the exam and keep its report; the candidate is ready or rejected after it.

    A rehearsal, which somebody will look at before approving, is searched for duplicates and asked
    the questions of the last days, too.
    """
    generation = hold.generation
    tree = parts.tree(generation)
    candidate = Candidate(
        stored(generation), tree, parts.store, embedder_of(generation, tree, parts)
    )
    exam = evaluation.examine(
        candidate.generation,
        tree=tree,
        store=candidate.store,
        embedder=candidate.embedder,
        keep=lambda done, total: hold.keep(progress_done=done, progress_total=total),
    )
    if generation.approval is None:
        paths = _changed_units(hold, parts, tree)
        hold.keep(neighbours=neighbours.find(candidate, paths=paths, beat=hold.keep))
        _replay(hold, parts, candidate, exam.threshold)
    with transaction.atomic():
        evaluation.record(exam, generation=generation)
        if exam.passed:
            hold.move(GenerationState.READY, changes={"threshold": exam.threshold})
        else:
            endings.refuse(hold, threshold=exam.threshold)
    cause = Cause(actor=PORTAL, at=hold.clock())
    retention.mark_rehearsals(workspace=generation.workspace, cause=cause)


def activate(hold: Hold, parts: Parts) -> None:
    """Move the pointer to the candidate, then let go of what is too old to keep."""
    generation = hold.generation
    generation.refresh_from_db()
    tree = parts.tree(generation)
    embedder_of(generation, tree, parts)
    retained = workspace_of(tree).publication.retained_generations
    activation.activate(hold=hold, store=parts.store)
    retention.mark_after_activation(
        workspace=generation.workspace,
        retained=retained,
        cause=Cause(actor=PORTAL, at=hold.clock()),
    )
    endings.tidy(parts)


def _changed_units(hold: Hold, parts: Parts, tree: EvidenceTree) -> Sequence[str]:
    """Give the files of units that differ from those that answer now; none before anything does."""
    active = generations.active(hold.generation.workspace)
    if active is None:
        return ()
    repository = parts.repository(hold.generation.workspace)
    try:
        changes = repository.changes(active.stored.revision, hold.generation.revision)
    except RevisionUnknown:
        return ()  # An operator replaced the history: nothing says what is new in this one.
    paths = {each.path.removeprefix("evidence/") for each in changes}
    return [path for path in tree.under(building.CURATED) if path in paths]


def _replay(hold: Hold, parts: Parts, candidate: Candidate, threshold: float) -> None:
    """Ask recent questions of both sides and keep what differs; nothing before anything answers."""
    active = generations.active(hold.generation.workspace)
    if active is None or parts.questions is None:
        return
    sides = replay.Sides(
        active=active,
        candidate=replace(generations.live(hold.generation), threshold=threshold),
        store=candidate.store,
        embedder=candidate.embedder,
    )
    kept = replay.find(sides, questions=parts.questions, now=hold.clock(), beat=hold.keep)
    hold.keep(replay=kept.found, replay_until=kept.until)


STEPS: Final[Mapping[GenerationState, Step]] = {
    GenerationState.BUILDING: build,
    GenerationState.EVALUATING: examine,
    GenerationState.READY: activate,
}
"""Which step takes a candidate further; in every other state it rests."""
