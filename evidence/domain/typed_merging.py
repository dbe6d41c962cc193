"""Three versions of a filled-in form made one, field by field."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from typing import Final

from evidence.domain.cells import line_ends, read_list, read_rows
from evidence.domain.typed_units import LISTS, ROWS, SCOPE_FIELDS, Typed

_LISTED: Final = {f"payload_{name}" for name in LISTS} | {f"scope_{name}" for name in SCOPE_FIELDS}
_TABLED: Final = {f"payload_{name}" for name in ROWS}


@dataclass(frozen=True, slots=True)
class MergedFields:
    """What both made of a form: the fields now, whose were taken over, and which are disputed.

    A disputed field holds our version.
    """

    fields: Typed
    taken_over: tuple[str, ...]
    disputed: tuple[str, ...]


def merge_fields(base: Typed, ours: Typed, theirs: Typed) -> MergedFields:
    """Merge the fields of `ours`: what only they changed is taken over."""
    merged, taken, disputed = dict(ours), [], []
    for name in ours:
        old, mine, other = (_said(name, version.get(name, "")) for version in (base, ours, theirs))
        if other in (old, mine):
            continue
        if mine == old:
            merged[name] = theirs[name]
            taken.append(name)
        else:
            disputed.append(name)
    return MergedFields(merged, tuple(taken), tuple(disputed))


def _said(name: str, value: str | Collection[str]) -> object:
    """Give what a field says, however it is written."""
    if not isinstance(value, str):
        return frozenset(value)
    if name in _TABLED:
        return tuple(read_rows(value))
    return tuple(read_list(value)) if name in _LISTED else line_ends(value)
