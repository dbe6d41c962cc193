"""Prepare a workspace: sources in, one change set of units and manifest out, nothing written.

A pure function of the tree and the restructurer's answers (spec 20, Preparation).
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass

from evidence.answering import Answers, Terms, answers_for
from evidence.candidates import units_from
from evidence.domain.credentials import find_credentials
from evidence.domain.findings import ValidationReport
from evidence.domain.identifiers import unit_path
from evidence.domain.manifest import Manifest, ManifestSource, dump_manifest
from evidence.domain.memory import Memory
from evidence.domain.preparation_report import PreparationReport
from evidence.domain.revalidation import revalidate
from evidence.domain.tree import MANIFEST_PATH, ChangeSet, EvidenceTree
from evidence.domain.units import CuratedEvidence
from evidence.messages import gettext_noop
from evidence.ports import Restructurer, RestructureRequest
from evidence.restructuring import Answer, Progress, no_progress
from evidence.situation import PreparationRefused, Situation, situation_of

__all__ = ["Preparation", "PreparationRefused", "PreparationReport", "Terms", "prepare"]

DEFAULT_TERMS = Terms()

Settled = Mapping[str, tuple[CuratedEvidence, ...]]
"""The units that each processed source has now, by its path."""


@dataclass(frozen=True, slots=True)
class Preparation:
    """What a preparation would change, its report, and what to tell the next one in its terms."""

    change_set: ChangeSet
    report: PreparationReport
    memory: Memory


def prepare(
    tree: EvidenceTree,
    restructurer: Restructurer,
    *,
    upgrade: bool = False,
    only: Collection[str] | None = None,
    progress: Progress = no_progress,
    terms: Terms = DEFAULT_TERMS,
) -> Preparation:
    """Compare sources with the manifest, ask once per new or changed one, and settle all units.

    `only` limits the work to these source paths; `upgrade` reprocesses every source; `terms` say
    what is confirmed, known and kept about the asking. Raises `PreparationRefused`,
    `CandidateRefused`, a fault of the restructurer or of a file that has to be read; each names
    the file, and there is no change set then.
    """
    found = situation_of(tree, upgrade=upgrade, only=only, known=terms.known)
    requests = found.requests()
    _refuse_credentials(requests)
    answers = answers_for(restructurer, requests, terms=terms, progress=progress)
    settled = {**found.moved, **_settle(found, requests, answers.all)}
    change_set = ChangeSet(dict(_changes(found, settled))).without_no_ops(tree)
    judged = revalidate(change_set.apply(tree), terms.known, digests=found.digests)
    report = _report(found, answers, _written(settled, change_set), judged.report)
    return Preparation(change_set, report, judged.memory)


def _refuse_credentials(requests: Sequence[RestructureRequest]) -> None:
    for request in requests:
        places = find_credentials(request.normalized_text)
        if places:
            line = request.normalized_text.count("\n", 0, places[0]) + 1
            message = gettext_noop("The source holds something that looks like a credential.")
            raise PreparationRefused(
                message, code="credential_detected", path=request.source_file, line=line
            )


def _settle(
    found: Situation, requests: Sequence[RestructureRequest], answers: Sequence[Answer]
) -> Settled:
    taken = set(found.files.paths)
    settled: dict[str, tuple[CuratedEvidence, ...]] = {}
    for request, answer in zip(requests, answers, strict=True):
        units = units_from(request, answer, taken=taken)
        taken.update(unit.id for unit in units)
        settled[request.source_file] = units
    return settled


def _changes(found: Situation, settled: Settled) -> Iterator[tuple[str, bytes | None]]:
    for units in settled.values():
        for unit in units:
            yield from found.files.writing(unit).items()
    manifest = _manifest_after(found, settled)
    if manifest != found.manifest or MANIFEST_PATH not in found.tree.files:
        yield MANIFEST_PATH, dump_manifest(manifest).encode()


def _manifest_after(found: Situation, settled: Settled) -> Manifest:
    gone = {*found.changes.removed, *found.changes.old_paths.values()}
    sources = {path: kept for path, kept in found.manifest.sources.items() if path not in gone}
    for path, units in settled.items():
        ids = tuple(sorted(unit.id for unit in units))
        sources[path] = ManifestSource(sha256=found.hashes[path], units=ids)
    listed = {evidence_id for source in sources.values() for evidence_id in source.units}
    orphans = {*found.manifest.orphans, *found.orphaned} - listed
    return Manifest(sources=sources, orphans=tuple(sorted(orphans)))


def _written(settled: Settled, change_set: ChangeSet) -> frozenset[str]:
    return frozenset(
        unit.id
        for units in settled.values()
        for unit in units
        if unit_path(unit.kind, unit.id) in change_set.changes
    )


def _report(
    found: Situation, answers: Answers, written: frozenset[str], validation: ValidationReport
) -> PreparationReport:
    return PreparationReport(
        changed=found.asked,
        unchanged=found.changes.unchanged,
        created=tuple(sorted(written - found.files.paths.keys())),
        updated=tuple(sorted(written & found.files.paths.keys())),
        renamed={old: new for new, old in found.changes.old_paths.items()},
        orphaned=found.orphaned,
        validation=validation,
        model_calls=len(answers.all) - answers.cached,
        cached=answers.cached,
    )
