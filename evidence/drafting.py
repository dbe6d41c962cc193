"""Make a unit by hand: the unit, its note and its listing are one commit of the person."""

from __future__ import annotations

from dataclasses import dataclass

from evidence import plugged
from evidence.committing import Deed, commit
from evidence.domain import drafting
from evidence.domain.drafting import FormulaDraft
from evidence.models import Workspace
from evidence.ports import Actor
from evidence.reading import read_revision


@dataclass(frozen=True, slots=True)
class Drafted:
    """What was made: the commit, the id of the unit and the path of its note."""

    commit: str
    evidence_id: str
    source: str


def draft_formula(*, workspace: str, formula: FormulaDraft, author: Actor) -> Drafted:
    """Add a proposed formula as a draft with an open review item, and give it (spec 40).

    Raises `DraftRefused`, `UnitInvalid`, `ManifestInvalid`, `EditConflict`.
    """
    row = Workspace.named(workspace)
    repository = plugged.repository(workspace)
    head = repository.head(row.branch)
    draft = drafting.draft_formula(read_revision(repository, head), formula)
    deed = Deed(
        actor=author,
        action="draft",
        title=f"Draft {draft.unit.title}",
        evidence_ids=(draft.unit.id,),
    )
    made = commit(workspace=row, change_set=draft.change_set, parent=head, deed=deed)
    return Drafted(commit=made, evidence_id=draft.unit.id, source=draft.source)
