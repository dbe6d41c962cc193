"""Units that say nearly the same words, found through an index of shared word triples.

A unit is known by its *sketch*: the 32 smallest hashes of its word triples. Two units are alike
when at least 0.7 of the smallest hashes of both together are in both sketches. Then one of the
first few hashes of either sketch is among the first few of the other (prefix filtering, Chaudhuri
et al. 2006), so units need to be looked up under these few *keys* only. A key that more than
16 units bear says nothing, and is passed over; so no corpus makes the work quadratic.
"""

from __future__ import annotations

import hashlib
import math
import zlib
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Any

from evidence.domain.dismissals import NEAR_DUPLICATE, Dismissal, Dismissals, Side
from evidence.domain.findings import ValidationFinding, finding
from evidence.domain.unit_inspection import UnitInspection
from evidence.domain.units import CuratedEvidence
from evidence.domain.wording import words_of
from evidence.messages import gettext_noop

TRIPLE = 3
SKETCH = 32
ALIKE = 0.7
WHOLE = "="
COMMON = 16
"""A key that more units than this bear is passed over."""


@dataclass(frozen=True, slots=True)
class Likeness:
    """What is compared of a unit: the hash of all its words, and its sketch in order."""

    path: str
    side: Side
    words: str
    sketch: tuple[int, ...]

    @property
    def keys(self) -> tuple[str, ...]:
        """Give what like units share at least one of; the first is equal for equal words only."""
        return (self.words, *(f"{each:x}" for each in self.prefix))

    @property
    def prefix(self) -> tuple[int, ...]:
        """Give the hashes among which like units share at least one."""
        return self.sketch[: len(self.sketch) - math.ceil(ALIKE * len(self.sketch)) + 1]

    def similarity(self, other: Likeness) -> float:
        """Give the share of triples in common, between 0 and 1, exact for up to 32 of them."""
        mine, theirs = set(self.sketch), set(other.sketch)
        smallest = sorted(mine | theirs)[:SKETCH]
        return sum(each in mine and each in theirs for each in smallest) / len(smallest)


def is_of_all_words(key: str) -> bool:
    """Tell whether a key is that of all words, which is never passed over."""
    return key.startswith(WHOLE)


def likeness_of(inspection: UnitInspection) -> Likeness | None:
    """Give what is compared of a unit; None when it does not parse or says no word."""
    unit = inspection.unit
    words = _words(unit) if unit else []
    if unit is None or not words:
        return None
    # Of one kind only: a formula may repeat the words of a definition.
    kind = zlib.crc32(unit.kind.value.encode())
    hashes = {zlib.crc32(triple.encode(), kind) for triple in _triples(words)}
    side = Side(unit.id, inspection.sha256)
    said = " ".join((unit.kind, *words))
    whole = WHOLE + hashlib.blake2b(said.encode(), digest_size=16).hexdigest()
    return Likeness(inspection.path, side, whole, tuple(sorted(hashes)[:SKETCH]))


def check_likeness(
    mine: Likeness, bearers: Callable[[str], Iterable[Likeness]], dismissed: Dismissals
) -> Iterator[ValidationFinding]:
    """Name the first unit that says the same or nearly the same words, if there is one.

    `bearers` gives the units that bear a key, in path order; of a key other than the first one,
    at least `COMMON` + 1 where there are as many. Depends on the unit and on those bearers.
    """
    other = next(_like(mine, bearers, dismissed), None)
    if other is not None:
        template = gettext_noop("This says nearly the same as %(other)s.")
        yield finding(NEAR_DUPLICATE, mine.path, template, other=other.path)


def check_likenesses(
    likenesses: Sequence[Likeness], dismissed: Dismissals
) -> Iterator[ValidationFinding]:
    """Check all units of a tree, given in path order; only those that share a key are compared."""
    words = Counter(each.words for each in likenesses)
    hashes = Counter(chain.from_iterable(each.prefix for each in likenesses))
    telling = {each for each, bearers in hashes.items() if 1 < bearers <= COMMON}
    sharing = tuple(
        each for each in likenesses if words[each.words] > 1 or not telling.isdisjoint(each.prefix)
    )
    common = {f"{each:x}" for each, bearers in hashes.items() if bearers > COMMON}
    index = by_key(sharing)
    for each in sharing:
        yield from check_likeness(
            each, lambda key: () if key in common else index.get(key, ()), dismissed
        )


def by_key(likenesses: Iterable[Likeness]) -> Mapping[str, Sequence[Likeness]]:
    """Give the bearers of each key, in the order given."""
    index: dict[str, list[Likeness]] = {}
    for likeness in likenesses:
        for key in likeness.keys:
            index.setdefault(key, []).append(likeness)
    return index


def _like(
    mine: Likeness, bearers: Callable[[str], Iterable[Likeness]], dismissed: Dismissals
) -> Iterator[Likeness]:
    def may_be(other: Likeness) -> bool:
        pair = Dismissal.of(NEAR_DUPLICATE, mine.side, other.side)
        return other.path != mine.path and pair not in dismissed

    same, *keys = mine.keys
    yield from filter(may_be, bearers(same))
    candidates: dict[str, Likeness] = {}
    for key in keys:
        sharing = tuple(bearers(key))
        if len(sharing) <= COMMON:
            candidates.update((each.path, each) for each in sharing)
    for _, other in sorted(candidates.items()):
        if mine.similarity(other) >= ALIKE and may_be(other):
            yield other


def _words(unit: CuratedEvidence) -> list[str]:
    """Give the words of title, payload and body; labels, names and quotes are left out."""
    texts = (unit.title, *_texts(unit.payload.model_dump()), unit.body)
    return [word for text in texts for word in words_of(text)]


def _texts(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, Mapping):
        for each in value.values():
            yield from _texts(each)
    elif isinstance(value, (list, tuple)):
        for each in value:
            yield from _texts(each)


def _triples(words: Sequence[str]) -> Iterator[str]:
    if len(words) < TRIPLE:
        yield " ".join(words)
    for triple in zip(words, words[1:], words[2:], strict=False):
        yield " ".join(triple)
