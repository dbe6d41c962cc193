"""The warnings that somebody dismissed, with the units they are about, as pages show them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from evidence.domain.dismissals import Dismissal, DismissalsInvalid, Side, parse_dismissals
from evidence.models import UnitRecord, Workspace


@dataclass(frozen=True, slots=True)
class Dismissed:
    """One dismissal with its units' rows, None for a unit that is gone.

    It `holds` while both files are as they were; else it has lapsed and hides nothing.
    """

    line: str
    code: str
    units: tuple[UnitRecord | None, UnitRecord | None]
    ids: tuple[str, str]
    holds: bool


def dismissals_of(workspace: Workspace) -> tuple[Dismissal, ...]:
    """Give the dismissals of the mirrored head, sorted; none when their file is broken."""
    if not workspace.dismissals_yaml:
        return ()
    try:
        return tuple(sorted(parse_dismissals(workspace.dismissals_yaml)))
    except DismissalsInvalid:  # which is a finding of its own
        return ()


def standing(workspace: Workspace, dismissals: Sequence[Dismissal]) -> tuple[Dismissed, ...]:
    """Say of each whether it holds; one query, however many they are."""
    sides = [side for each in dismissals for side in (each.first, each.second)]
    rows = _rows(workspace, {side.evidence_id for side in sides})
    return tuple(
        Dismissed(
            line=each.line,
            code=each.code,
            units=(rows.get(each.first.evidence_id), rows.get(each.second.evidence_id)),
            ids=(each.first.evidence_id, each.second.evidence_id),
            holds=all(_is_as_it_was(side, rows) for side in (each.first, each.second)),
        )
        for each in dismissals
    )


def dismissed_about(unit: UnitRecord) -> tuple[Dismissed, ...]:
    """Give the dismissals that hold and are about this unit."""
    about = [
        each
        for each in dismissals_of(unit.workspace)
        if unit.evidence_id in {each.first.evidence_id, each.second.evidence_id}
    ]
    return tuple(each for each in standing(unit.workspace, about) if each.holds)


def _rows(workspace: Workspace, ids: Iterable[str]) -> dict[str, UnitRecord]:
    wanted = list(ids)
    if not wanted:
        return {}
    found = UnitRecord.objects.filter(workspace=workspace, evidence_id__in=wanted)
    return {row.evidence_id: row for row in found}


def _is_as_it_was(side: Side, rows: dict[str, UnitRecord]) -> bool:
    row = rows.get(side.evidence_id)
    return row is not None and row.is_valid and row.text_sha256 == side.sha256
