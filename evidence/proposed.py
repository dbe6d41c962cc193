"""What a proposal holds, as a whole and by source, and what others changed since it was made."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass

from evidence.domain import partial
from evidence.domain.manifest import Manifest, parse_manifest
from evidence.domain.merging import merge_manifests
from evidence.domain.normalization import decode_utf8
from evidence.domain.paths import EVIDENCE_FOLDER
from evidence.domain.tree import MANIFEST_PATH, ChangeSet
from evidence.models import PreparationRun
from evidence.ports import Entry, PathChange, Repository

SUBMODULE = "160000"


@dataclass(frozen=True, slots=True)
class Moved:
    """The branch has moved; `overlaps` are files that both sides changed, each in its own way."""

    overlaps: tuple[str, ...]


def standing_of(run: PreparationRun) -> str:
    """Name what a proposal would write as it stands now: its commit and the units taken out."""
    said = json.dumps([run.proposal_commit, sorted(run.dropped)])
    return hashlib.sha256(said.encode()).hexdigest()


def proposed_changes(repository: Repository, run: PreparationRun) -> ChangeSet:
    """Give what a proposal would change, read from its branch."""
    changes = repository.changes(run.base_commit, run.proposal_commit)
    blobs = repository.blobs(change.after.blob for change in changes if change.after)
    return ChangeSet(
        {
            change.path.removeprefix(EVIDENCE_FOLDER): blobs[change.after.blob]
            if change.after
            else None
            for change in changes
        }
    )


def proposed_sources(repository: Repository, run: PreparationRun) -> tuple[str, ...]:
    """Give the paths of the sources a proposal is about, sorted. Raises `ManifestInvalid`."""
    before = _manifest(repository, run.base_commit)
    return partial.sources_of(proposed_changes(repository, run), before)


def part_for(
    repository: Repository, run: PreparationRun, sources: Collection[str] | None
) -> tuple[ChangeSet, tuple[str, ...]]:
    """Give what a proposal changes for these sources, and which of its sources are left out.

    Units that were taken out stay out; None stands for all sources. Raises
    `SourceNotProposed`, `ManifestInvalid`.
    """
    before = _manifest(repository, run.base_commit)
    whole = _without_dropped(repository, run, before)
    if sources is None:
        return whole, ()
    known = partial.sources_of(whole, before)
    part = partial.part_of(whole, before, sources)
    return part, tuple(path for path in known if path not in sources)


def source_of_new(repository: Repository, run: PreparationRun, evidence_id: str) -> str:
    """Give the source of a unit that a proposal would add. Raises `UnitNotNew`."""
    before = _manifest(repository, run.base_commit)
    return partial.source_of_new(proposed_changes(repository, run), before, evidence_id)


def proposed_file(repository: Repository, run: PreparationRun, evidence_id: str) -> Entry:
    """Give the file of a unit that a proposal writes, as it stands there now.

    Its path is relative to the workspace folder. Raises `UnitNotProposed`, also for a unit that was
    taken out.
    """
    kept = _without_dropped(repository, run, _manifest(repository, run.base_commit))
    path = EVIDENCE_FOLDER + partial.path_of(kept, evidence_id)
    found = repository.entry(run.proposal_commit, path)
    assert found is not None  # noqa: S101 - the change set was read from this very commit
    return found


def source_files(
    repository: Repository, run: PreparationRun, sources: Collection[str]
) -> Mapping[str, bytes]:
    """Give these notes as the preparation read them, by path; those that were gone are left out."""
    paths = [EVIDENCE_FOLDER + source for source in sources]
    entries = repository.entries(run.base_commit, paths) if paths else ()
    blobs = repository.blobs(entry.blob for entry in entries if entry.mode != SUBMODULE)
    found = {entry.path.removeprefix(EVIDENCE_FOLDER): blobs.get(entry.blob) for entry in entries}
    return {path: data for path, data in found.items() if data is not None}


def moved_since(repository: Repository, run: PreparationRun) -> Moved | None:
    """Tell what others did since a proposal was made; None while the branch stands still.

    As when a proposal is replayed, the same edit by both sides is no overlap, nor is a manifest
    whose entries can be merged; units that were taken out touch nothing.
    """
    head = repository.head(run.workspace.branch)
    if head == run.base_commit:
        return None
    before = _manifest(repository, run.base_commit)
    ours = _without_dropped(repository, run, before).changes
    theirs = [
        (path, each)
        for each in repository.changes(run.base_commit, head)
        if (path := each.path.removeprefix(EVIDENCE_FOLDER)) in ours
    ]
    return Moved(tuple(_overlapping(repository, ours, theirs)))


def _without_dropped(repository: Repository, run: PreparationRun, before: Manifest) -> ChangeSet:
    return partial.without_units(proposed_changes(repository, run), before, run.dropped)


def _overlapping(
    repository: Repository,
    ours: Mapping[str, bytes | None],
    theirs: Sequence[tuple[str, PathChange]],
) -> Iterator[str]:
    """Give the files on which the two sides cannot be reconciled."""
    sides = [side for _, each in theirs for side in (each.before, each.after) if side]
    blobs = repository.blobs(side.blob for side in sides if side.mode != SUBMODULE)
    for path, each in theirs:
        base = blobs.get(each.before.blob) if each.before else None
        after = blobs.get(each.after.blob) if each.after else None
        merges = path == MANIFEST_PATH and merge_manifests(base, after, ours[path]) is not None
        if after != ours[path] and not merges:
            yield path


def _manifest(repository: Repository, commit: str) -> Manifest:
    entry = repository.entry(commit, EVIDENCE_FOLDER + MANIFEST_PATH)
    if entry is None:
        return Manifest()
    return parse_manifest(decode_utf8(repository.blobs([entry.blob])[entry.blob]))
