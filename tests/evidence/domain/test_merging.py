"""Manifests that grew from one are merged source by source, or not at all."""

from __future__ import annotations

import pytest

from evidence.domain.manifest import Manifest, ManifestSource, dump_manifest, parse_manifest
from evidence.domain.merging import BothChanged, merge_entries, merge_manifests


def manifest(sources: dict[str, str] | None = None, *orphans: str, **units: list[str]) -> bytes:
    """Sources by name and one hexadecimal digit of their hash; units and orphans by slug."""
    return dump_manifest(
        Manifest(
            sources={
                f"source/{name}.md": ManifestSource(
                    sha256=f"sha256:{digit * 64}",
                    units=tuple(f"evidence:{slug}" for slug in units.get(name, ())),
                )
                for name, digit in (sources or {}).items()
            },
            orphans=tuple(f"evidence:{slug}" for slug in orphans),
        )
    ).encode()


@pytest.mark.parametrize(
    ("base", "theirs", "ours", "merged"),
    [
        ({}, {"a": 1}, {"b": 2}, {"a": 1, "b": 2}),
        ({"a": 1}, {"a": 1}, {}, {}),
        ({"a": 1}, {}, {"a": 1}, {}),
        ({"a": 1}, {"a": 2}, {"a": 1}, {"a": 2}),
        ({"a": 1}, {"a": 2}, {"a": 2}, {"a": 2}),
        ({"a": 1}, {}, {}, {}),
        ({}, {"a": 1}, {"a": 1}, {"a": 1}),
    ],
)
def test_entries_that_one_side_changed_are_taken(
    base: dict[str, int], theirs: dict[str, int], ours: dict[str, int], merged: dict[str, int]
):
    assert merge_entries(base, theirs, ours) == merged


@pytest.mark.parametrize(
    ("base", "theirs", "ours"),
    [({"a": 1}, {"a": 2}, {"a": 3}), ({"a": 1}, {}, {"a": 2}), ({}, {"a": 1}, {"a": 2})],
)
def test_entries_that_both_sides_changed_are_refused(
    base: dict[str, int], theirs: dict[str, int], ours: dict[str, int]
):
    with pytest.raises(BothChanged):
        merge_entries(base, theirs, ours)


def test_orphans_are_merged_one_by_one():
    base = manifest({"a": "1"}, "old", a=["x", "y"])
    theirs = manifest({"a": "1"}, "old", "y", a=["x"])
    ours = manifest({"a": "1"}, a=["x", "y"])
    assert merge_manifests(base, theirs, ours) == manifest({"a": "1"}, "y", a=["x"])


@pytest.mark.parametrize("missing", range(3))
def test_a_manifest_that_is_missing_or_broken_on_one_side_is_not_merged(missing: int):
    for broken in (None, b"sources: [", b"\xff"):
        sides: list[bytes | None] = [manifest({"a": "1"}) for _ in range(3)]
        sides[missing] = broken
        assert merge_manifests(*sides) is None


def test_a_merge_that_lists_a_unit_twice_is_none():
    theirs, ours = manifest({"a": "1"}, a=["x"]), manifest({"b": "2"}, b=["x"])
    assert merge_manifests(manifest(), theirs, ours) is None


def test_a_new_pipeline_version_is_kept():
    base = manifest({"a": "1"})
    ours = base.replace(b"authoring-v1", b"authoring-v2")
    merged = merge_manifests(base, manifest({"a": "1", "b": "2"}), ours)
    assert merged is not None
    assert parse_manifest(merged.decode()).pipeline_version == "evidence-authoring-v2"
