"""Carry a change set over to a branch that moved, or say which file both sides changed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from evidence.domain.merging import merge_manifests
from evidence.domain.paths import EVIDENCE_FOLDER
from evidence.domain.tree import MANIFEST_PATH, ChangeSet
from evidence.messages import gettext_noop
from evidence.ports import EditConflict, Entry, PathChange


def replayed(
    change_set: ChangeSet, overlaps: Sequence[PathChange], blobs: Mapping[str, bytes]
) -> ChangeSet:
    """Give the change set as it stands on the new head; the same edit by both is no conflict.

    Raises `EditConflict` with the three versions of the first file that both sides changed.
    """
    changes = dict(change_set.changes)
    for overlap in overlaps:
        path = overlap.path.removeprefix(EVIDENCE_FOLDER)
        base, theirs, ours = (
            _data(overlap.before, blobs),
            _data(overlap.after, blobs),
            changes[path],
        )
        merged = merge_manifests(base, theirs, ours) if path == MANIFEST_PATH else None
        if theirs == ours:
            del changes[path]
        elif merged is not None:
            changes[path] = merged
        else:
            raise EditConflict(
                gettext_noop("Somebody else changed this file meanwhile."),
                path=path,
                base=base,
                theirs=theirs,
                ours=ours,
            )
    return ChangeSet(changes)


def _data(entry: Entry | None, blobs: Mapping[str, bytes]) -> bytes | None:
    return blobs.get(entry.blob) if entry else None
