"""Which keys a change can have touched, and what the manifest says of them now."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from evidence.domain.manifest import Manifest, ManifestSource
from evidence.domain.relations import Listing
from evidence.domain.validation import listings_of
from evidence.inspecting import Inspected
from evidence.mirrored import Known, entry_of
from evidence.models import SourceRecord, UnitRecord


@dataclass(frozen=True, slots=True)
class Manifested:
    """What the manifest lists anew: ids under another source, sources with another hash.

    `listings` and `entries` are all of a manifest that changed and can be read, else None.
    """

    listings: Mapping[str, Listing] | None
    entries: Mapping[str, ManifestSource] | None
    relisted: frozenset[str]
    reentered: frozenset[str]


@dataclass(frozen=True, slots=True)
class Affected:
    """The keys to run relations for; rows are those that the mirror has for unchanged files.

    `listings` and `entries` say what the manifest has for these keys, None while it is broken.
    """

    bearers: Mapping[str, list[str]]
    units_again: Mapping[str, UnitRecord]
    source_keys: frozenset[str]
    source_rows: Mapping[str, SourceRecord]
    listings: Mapping[str, Listing] | None
    entries: Mapping[str, ManifestSource] | None
    relisted: frozenset[str]


def manifest_was_lost_or_found(known: Known, inspected: Inspected) -> bool:
    """Tell whether the manifest became readable or unreadable: then everything is affected."""
    if inspected.manifest is None or known.nothing:
        return False
    return known.workspace.has_manifest != (inspected.manifest.manifest is not None)


def manifested(known: Known, inspected: Inspected) -> Manifested:
    """Compare the manifest with what the mirror keeps of it; nothing to do when it is the same."""
    if inspected.manifest is None:
        return Manifested(None, None, frozenset(), frozenset())
    manifest = inspected.manifest.manifest or Manifest()
    listings, old_listings = listings_of(manifest), known.listings()
    hashes = {path: source.sha256 for path, source in manifest.sources.items()}
    readable = inspected.manifest.manifest is not None
    return Manifested(
        listings=listings if readable else None,
        entries=manifest.sources if readable else None,
        relisted=differing(old_listings, listings),
        reentered=differing(known.entries(), hashes),
    )


def differing(before: Mapping[str, object], after: Mapping[str, object]) -> frozenset[str]:
    """Give the keys whose value came, went or changed."""
    return frozenset(key for key in {*before, *after} if before.get(key) != after.get(key))


def affected(known: Known, inspected: Inspected, manifest: Manifested) -> Affected:
    """Find every key that depends on a changed file or a changed listing."""
    before = known.units_at(inspected.units)
    present = {path: unit for path, unit in inspected.units.items() if unit}
    ids = {row.evidence_id for row in before.values()} | manifest.relisted
    ids |= {unit.evidence_id for unit in present.values()}
    rows = _unchanged(known.units_bearing(ids), inspected)
    bearers: dict[str, list[str]] = {evidence_id: [] for evidence_id in ids}
    for path, row in rows.items():
        bearers[row.evidence_id].append(path)
    for path, unit in present.items():
        bearers[unit.evidence_id].append(path)
    again = {path: row for path, row in rows.items() if row.evidence_id in manifest.relisted}
    again |= _unchanged(known.units_citing(inspected.sources.keys()), inspected)
    source_keys = frozenset(inspected.sources) | manifest.reentered
    source_rows = known.sources_at(source_keys | _cited(before, inspected, again))
    return Affected(
        bearers=bearers,
        units_again=again,
        source_keys=source_keys,
        source_rows=source_rows,
        listings=_listings(
            known, inspected, manifest, ids | {r.evidence_id for r in again.values()}
        ),
        entries=_entries(known, inspected, manifest, source_rows),
        relisted=manifest.relisted,
    )


def _unchanged(rows: Mapping[str, UnitRecord], inspected: Inspected) -> dict[str, UnitRecord]:
    return {path: row for path, row in rows.items() if path not in inspected.units}


def _cited(
    before: Mapping[str, UnitRecord], inspected: Inspected, again: Mapping[str, UnitRecord]
) -> set[str]:
    """Give the sources that units to compare cite, or did: their count moves."""
    cited = {row.source_file for row in (*before.values(), *again.values())}
    units = (unit.unit for unit in inspected.units.values() if unit)
    return cited | {unit.provenance.source_file for unit in units if unit}


def _listings(
    known: Known, inspected: Inspected, manifest: Manifested, ids: set[str]
) -> Mapping[str, Listing] | None:
    if inspected.manifest is not None:
        return manifest.listings
    return known.listings(ids) if known.workspace.has_manifest else None


def _entries(
    known: Known, inspected: Inspected, manifest: Manifested, rows: Mapping[str, SourceRecord]
) -> Mapping[str, ManifestSource] | None:
    if inspected.manifest is not None:
        return manifest.entries
    if not known.workspace.has_manifest:
        return None
    return {path: entry for path, row in rows.items() if (entry := entry_of(row))}
