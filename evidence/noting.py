"""What curators said when they set proposals aside, for the next preparation of those sources."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping

from evidence.domain.runs import DECIDED, RunState
from evidence.models import PreparationRun, Workspace

COLUMNS = ("state", "only", "report", "left_out", "dropped", "discard_reason")
MAX_NOTES = 5
MAX_NOTE_CHARS = 1_000
RUNS_LOOKED_AT = 1_000
"""Older decisions are not asked for. Runs may be about one note each, so a reason can lie far back:
only what was decided since the oldest reason that is kept counts.
"""


def curator_notes(workspace: Workspace, sources: Collection[str]) -> Mapping[str, tuple[str, ...]]:
    """Give, by source path, why its proposals were discarded since one was last accepted.

    Reasons for single units that were taken out count too, also those of the accepted one. The
    newest comes first; at most five a source, of at most a thousand characters each (spec 20,
    Preparation, step 2). Sources without any are left out.
    """
    runs = _decided(workspace)
    found = {path: _notes(path, runs) for path in sources} if runs else {}
    return {path: notes for path, notes in found.items() if notes}


def _decided(workspace: Workspace) -> list[PreparationRun]:
    """Give the decided runs, newest first, down to the oldest that holds a reason."""
    decided = PreparationRun.objects.filter(workspace=workspace, state__in=DECIDED)
    reasoned = decided.exclude(discard_reason="", dropped={}).order_by("finished_at")
    oldest = reasoned.values_list("finished_at", flat=True).first()
    if oldest is None:
        return []
    since = decided.filter(finished_at__gte=oldest).order_by("-finished_at")
    return list(since.only(*COLUMNS)[:RUNS_LOOKED_AT])


def _notes(path: str, runs: Iterable[PreparationRun]) -> tuple[str, ...]:
    notes: list[str] = []
    for run in (each for each in runs if _concerns(each, path)):
        notes.extend(_said(run, path))
        if run.state == RunState.ACCEPTED and path not in run.left_out:
            break
    return tuple(note[:MAX_NOTE_CHARS] for note in notes if note)[:MAX_NOTES]


def _said(run: PreparationRun, path: str) -> Iterator[str]:
    yield run.discard_reason
    for evidence_id, said in run.dropped.items():
        if said["source"] == path:
            yield f"{evidence_id}: {said['reason']}"


def _concerns(run: PreparationRun, path: str) -> bool:
    """Tell whether a run read a source; one whose report was cut short may have read any."""
    if run.only:
        return path in run.only
    was_cut = "changed" in run.report.get("omitted", {})
    return was_cut or path in run.report.get("changed", ())
