"""A part of a preparation's change: some of its sources, with a manifest that stays true."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping

from evidence.domain.identifiers import ID_PREFIX
from evidence.domain.manifest import Manifest, dump_manifest, parse_manifest
from evidence.domain.normalization import decode_utf8
from evidence.domain.paths import Place, place_of
from evidence.domain.tree import MANIFEST_PATH, ChangeSet
from evidence.faults import CuratorFault
from evidence.messages import Message, gettext_noop


class SourceNotProposed(CuratorFault):
    """A chosen source is none that the proposal is about, or none was chosen."""

    code = "source_not_proposed"
    hint = gettext_noop("Tick one of the notes on the page.")


class UnitNotNew(CuratorFault):
    """Only a unit that a proposal would add can be taken out of it."""

    code = "unit_not_new"
    hint = gettext_noop("Accept the proposal and edit the unit, or leave its note out.")


class UnitNotProposed(CuratorFault):
    """Only a unit that a proposal writes can be edited in it."""

    code = "unit_not_proposed"
    hint = gettext_noop("Open the proposal again: the unit may have been taken out of it.")


def sources_of(change_set: ChangeSet, before: Manifest) -> tuple[str, ...]:
    """Give the paths of the sources a change is about, sorted; a renamed one by its new path."""
    after = manifest_after(change_set, before)
    renamed = _renamed(before, after)
    touched = {
        path
        for path in {*before.sources, *after.sources}
        if before.sources.get(path) != after.sources.get(path)
    }
    return tuple(sorted({renamed.get(path, path) for path in touched}))


def part_of(change_set: ChangeSet, before: Manifest, sources: Collection[str]) -> ChangeSet:
    """Give what a change does for these sources: their units and their manifest entries.

    All other entries and orphans stay as `before` has them. Raises `SourceNotProposed`.
    """
    after = manifest_after(change_set, before)
    _refuse_strangers(sources, sources_of(change_set, before))
    taken = {path: after.sources[path] for path in sources if path in after.sources}
    units = {evidence_id for entry in taken.values() for evidence_id in entry.units}
    changes = {path: data for path, data in change_set.changes.items() if _unit_of(path) in units}
    manifest = _merged(before, after, sources)
    return ChangeSet({**changes, MANIFEST_PATH: dump_manifest(manifest).encode()})


def without_units(change_set: ChangeSet, before: Manifest, units: Collection[str]) -> ChangeSet:
    """Give a change without some of the units it would add; their sources count as prepared."""
    if not units:
        return change_set
    after = manifest_after(change_set, before)
    sources = {
        path: entry.model_copy(update={"units": tuple(u for u in entry.units if u not in units)})
        for path, entry in after.sources.items()
    }
    manifest = after.model_copy(update={"sources": sources})
    kept = {path: data for path, data in change_set.changes.items() if _unit_of(path) not in units}
    return ChangeSet({**kept, MANIFEST_PATH: dump_manifest(manifest).encode()})


def source_of_new(change_set: ChangeSet, before: Manifest, evidence_id: str) -> str:
    """Give the source of a unit that a change would add. Raises `UnitNotNew`."""
    source = manifest_after(change_set, before).owners().get(evidence_id)
    if source is None or evidence_id in before.owners():
        raise UnitNotNew(gettext_noop("This unit is not new in this proposal."))
    return source


def path_of(change_set: ChangeSet, evidence_id: str) -> str:
    """Give where a change writes a unit. Raises `UnitNotProposed`."""
    for path, data in change_set.changes.items():
        if data is not None and _unit_of(path) == evidence_id:
            return path
    raise UnitNotProposed(gettext_noop("This proposal does not write this unit."))


def manifest_after(change_set: ChangeSet, before: Manifest) -> Manifest:
    """Give the manifest as a change leaves it. Raises `ManifestInvalid`."""
    data = change_set.changes.get(MANIFEST_PATH)
    return before if data is None else parse_manifest(decode_utf8(data))


def _merged(before: Manifest, after: Manifest, sources: Collection[str]) -> Manifest:
    renamed = _renamed(before, after)
    gone = {
        path
        for path in before.sources.keys() - after.sources.keys()
        if renamed.get(path, path) in sources
    }
    entries = {path: entry for path, entry in before.sources.items() if path not in gone}
    entries |= {path: after.sources[path] for path in sources if path in after.sources}
    lost = {evidence_id for path in gone for evidence_id in before.sources[path].units}
    listed = {evidence_id for entry in entries.values() for evidence_id in entry.units}
    orphans = {*before.orphans, *lost.intersection(after.orphans)} - listed
    return Manifest(
        pipeline_version=after.pipeline_version, sources=entries, orphans=tuple(sorted(orphans))
    )


def _renamed(before: Manifest, after: Manifest) -> Mapping[str, str]:
    """Give new paths by old: exactly one that went and one that came share a hash (spec 20)."""
    came = {path: after.sources[path].sha256 for path in after.sources.keys() - before.sources}
    went = {path: before.sources[path].sha256 for path in before.sources.keys() - after.sources}
    times = Counter(came.values()), Counter(went.values())
    new_path = {sha256: path for path, sha256 in came.items()}
    return {
        path: new_path[sha256]
        for path, sha256 in went.items()
        if all(counted[sha256] == 1 for counted in times)
    }


def _refuse_strangers(sources: Collection[str], known: Collection[str]) -> None:
    if not sources:
        raise SourceNotProposed(gettext_noop("No note is ticked."))
    for path in sorted(set(sources).difference(known)):
        message = gettext_noop("This proposal is not about “%(path)s”.")
        raise SourceNotProposed(Message(message, path=path))


def _unit_of(path: str) -> str | None:
    if place_of(path) is not Place.UNIT:
        return None
    return ID_PREFIX + path.rpartition("/")[2].removesuffix(".md")
