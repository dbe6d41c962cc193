"""Keep account: how each source of a run was read, and what became of each proposed unit.

Spec 20, Accountability. Every row belongs to a run and goes with it.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator

from evidence.domain.codec import parse_curated_markdown
from evidence.domain.normalization import decode_utf8
from evidence.domain.paths import SOURCE_FOLDER, Place, place_of
from evidence.domain.proposed import UnitChange, UnitOutcome, change_of, said
from evidence.domain.readings import Reading, ReadingOutcome, Witness
from evidence.domain.tree import ChangeSet, EvidenceTree
from evidence.domain.units import CuratedEvidence
from evidence.faults import CuratorFault, Fault
from evidence.models import PreparationRun, ProposedUnit, SourceReading
from evidence.ports import Restructurer

MAX_MODEL_CHARS, MAX_DIGEST_CHARS, MAX_CODE_CHARS = 200, 80, 60


def witness(run: PreparationRun, restructurer: Restructurer) -> Witness:
    """Give what writes one row for each source of this attempt, as soon as it was read."""

    def record(reading: Reading) -> None:
        SourceReading.objects.create(
            run=run,
            attempt=run.attempts,
            source_file=reading.source_file,
            restructurer=run.restructurer,
            model=restructurer.model[:MAX_MODEL_CHARS],
            skill_digest=restructurer.skill_digest[:MAX_DIGEST_CHARS],
            outcome=reading.outcome,
            code=reading.code[:MAX_CODE_CHARS],
            duration_ms=None if reading.seconds is None else round(reading.seconds * 1000),
            units=reading.units,
        )

    return record


def blame(run: PreparationRun, fault: Fault) -> None:
    """Note that a run failed at the source its fault names, where it names one.

    A source that had been read (its answer broke a rule later) failed; one that nobody was asked
    about was refused.
    """
    path = fault.path or ""
    if not path.startswith(SOURCE_FOLDER):
        return
    code = fault.code[:MAX_CODE_CHARS]
    asked = SourceReading.objects.filter(run=run, attempt=run.attempts, source_file=path)
    if not asked.update(outcome=ReadingOutcome.FAILED, code=code, units=0):
        SourceReading.objects.create(
            run=run,
            attempt=run.attempts,
            source_file=path,
            restructurer=run.restructurer,
            outcome=ReadingOutcome.REFUSED,
            code=code,
        )


def proposed(run: PreparationRun, change_set: ChangeSet, tree: EvidenceTree) -> None:
    """Note every unit that a proposal writes, undecided, with the reading it comes from."""
    readings = {
        reading.source_file: reading
        for reading in SourceReading.objects.filter(run=run, attempt=run.attempts)
    }
    ProposedUnit.objects.bulk_create(
        ProposedUnit(
            run=run,
            reading=readings.get(unit.provenance.source_file),
            evidence_id=unit.id,
            source_file=unit.provenance.source_file,
            change=_change(tree.files.get(path), path, unit),
            content_sha256=said(unit),
        )
        for path, unit in _units(change_set)
    )


def decided(run: PreparationRun, accepted: ChangeSet) -> None:
    """Note what a curator made of each unit of a proposal of which this part was accepted."""
    now = {unit.id: said(unit) for _path, unit in _units(accepted)}
    ends: dict[UnitOutcome, list[str]] = {outcome: [] for outcome in UnitOutcome}
    for evidence_id, before in run.units.values_list("evidence_id", "content_sha256"):
        after = now.get(evidence_id)
        ends[_outcome(evidence_id, before, after, run.dropped)].append(evidence_id)
    for outcome, ids in ends.items():
        run.units.filter(evidence_id__in=ids).update(outcome=outcome)


def dropped(run: PreparationRun) -> None:
    """Note that a whole proposal was discarded."""
    run.units.update(outcome=UnitOutcome.DROPPED)


def _outcome(
    evidence_id: str, before: str, after: str | None, dropped: Collection[str]
) -> UnitOutcome:
    if evidence_id in dropped:
        return UnitOutcome.DROPPED
    if after is None:
        return UnitOutcome.LEFT_OUT
    return UnitOutcome.ACCEPTED if after == before else UnitOutcome.EDITED


def _units(change_set: ChangeSet) -> Iterator[tuple[str, CuratedEvidence]]:
    for path, data in change_set.changes.items():
        if data is not None and place_of(path) is Place.UNIT:
            yield path, parse_curated_markdown(decode_utf8(data), path=path)


def _change(before: bytes | None, path: str, unit: CuratedEvidence) -> UnitChange:
    if before is None:
        return UnitChange.NEW
    try:
        known = parse_curated_markdown(decode_utf8(before), path=path)
    except CuratorFault:
        return UnitChange.CHANGED  # A broken file: whatever is proposed repairs it.
    return change_of(known, unit)
