"""Decide on a proposal: accept it, whole or for some sources, or discard it with a reason."""

from __future__ import annotations

from collections.abc import Collection

from django.db import transaction

from evidence import plugged, recording, run_transitions
from evidence.committing import Deed, commit
from evidence.domain.identifiers import ID_PREFIX
from evidence.domain.paths import Place, place_of
from evidence.domain.runs import RunState
from evidence.domain.tree import ChangeSet
from evidence.faults import CuratorFault
from evidence.messages import gettext_noop
from evidence.models import PreparationRun
from evidence.ports import Actor
from evidence.proposed import part_for, standing_of

MAX_TRAILERS = 50


class ProposalChanged(CuratorFault):
    """Somebody edited a proposal since the person who decides looked at it."""

    code = "proposal_changed"
    hint = gettext_noop("Look at it as it stands now, then decide again.")


def accept(
    *,
    run: PreparationRun,
    author: Actor,
    sources: Collection[str] | None = None,
    seen: str | None = None,
) -> str:
    """Commit a proposal, or what it holds for some `sources`, in the name of a person.

    Gives the commit and closes the proposal: sources that were left out wait to be prepared again.
    Units are taken as edited, and their editors are co-authors. When the branch moved, it is
    replayed if no file overlaps. `seen` is the `standing_of` what the person looked at. Raises
    `ProposalClosed`, `ProposalHeld`, `ProposalChanged`, `SourceNotProposed`, or `EditConflict`
    naming the first file that somebody else changed.
    """
    with run_transitions.held(run) as hold:
        mine = hold.run
        if seen is not None and seen != standing_of(mine):
            raise ProposalChanged(gettext_noop("Somebody changed this proposal since you saw it."))
        repository = plugged.repository(mine.workspace.slug)
        change_set, left_out = part_for(repository, mine, sources)
        made = commit(
            workspace=mine.workspace,
            change_set=change_set,
            parent=mine.base_commit,
            deed=_acceptance(mine, change_set, author),
        )
        with transaction.atomic():
            run_transitions.accepted(
                mine, accepted_commit=made, left_out=list(left_out), decided_by=author.username
            )
            recording.decided(mine, change_set)
        repository.drop(mine.branch)
    return made


def discard(*, run: PreparationRun, author: Actor, reason: str) -> None:
    """Set a proposal aside; `reason` is kept for the next preparation.

    Raises `ProposalClosed`, `ProposalHeld`.
    """
    with run_transitions.held(run) as hold:
        with transaction.atomic():
            columns = {"discard_reason": reason.strip(), "decided_by": author.username}
            if not hold.move(RunState.DISCARDED, **columns):
                raise run_transitions.closed(hold.run)
            recording.dropped(hold.run)
        plugged.repository(hold.run.workspace.slug).drop(hold.run.branch)


def _acceptance(run: PreparationRun, change_set: ChangeSet, author: Actor) -> Deed:
    editors = tuple(Actor(**each) for each in run.editors)
    return Deed(
        actor=author,
        action="accept",
        title=f"Accept the proposal of {run.requested_at:%Y-%m-%d %H:%M}",
        evidence_ids=_ids(change_set),
        others=tuple(each for each in editors if each.username != author.username),
    )


def _ids(change_set: ChangeSet) -> tuple[str, ...]:
    units = [path for path in change_set.changes if place_of(path) is Place.UNIT]
    slugs = (path.rpartition("/")[2].removesuffix(".md") for path in units[:MAX_TRAILERS])
    return tuple(f"{ID_PREFIX}{slug}" for slug in slugs)
