"""Merge two manifests that grew from one, source by source (spec 30, Writing)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TypeVar

from evidence.domain.manifest import Manifest, dump_manifest, parse_manifest
from evidence.domain.normalization import decode_utf8
from evidence.faults import CuratorFault

Key = TypeVar("Key")
Value = TypeVar("Value")


class BothChanged(Exception):
    """The two sides changed one entry in different ways."""


def merge_manifests(base: bytes | None, theirs: bytes | None, ours: bytes | None) -> bytes | None:
    """Give the manifest with the changes of both, or None when they touch one entry or break it."""
    if base is None or theirs is None or ours is None:
        return None
    try:
        old, left, right = (parse_manifest(decode_utf8(data)) for data in (base, theirs, ours))
        merged = dump_manifest(merged_manifest(old, left, right))
        parse_manifest(merged)
    except (CuratorFault, BothChanged):
        return None
    return merged.encode()


def merged_manifest(old: Manifest, left: Manifest, right: Manifest) -> Manifest:
    """Merge by source entry, orphans one by one. Raises `BothChanged`."""
    versions = merge_entries(
        *({"pipeline_version": manifest.pipeline_version} for manifest in (old, left, right))
    )
    orphans = merge_entries(*(dict.fromkeys(m.orphans, True) for m in (old, left, right)))
    return Manifest(
        pipeline_version=versions["pipeline_version"],
        sources=merge_entries(old.sources, left.sources, right.sources),
        orphans=tuple(orphans),
    )


def merge_entries(
    old: Mapping[Key, Value], left: Mapping[Key, Value], right: Mapping[Key, Value]
) -> dict[Key, Value]:
    """Give the entries after both changes. Raises `BothChanged` where they disagree."""
    merged: dict[Key, Value] = {}
    for key in {**left, **right}:
        value = _merge(old.get(key), left.get(key), right.get(key))
        if value is not None:
            merged[key] = value
    return merged


def _merge(old: Value | None, left: Value | None, right: Value | None) -> Value | None:
    if right in (left, old):
        return left
    if left == old:
        return right
    raise BothChanged
