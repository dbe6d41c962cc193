"""Where published enums and mappings put a value: every column, never one alone (spec 60)."""

from __future__ import annotations

import re
import unicodedata
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from rapidfuzz import fuzz, process

from publishing.domain.places import Formula, Place

FUZZY_CUTOFF: Final = 0.85
"""The least likeness of a fuzzy match: one letter in seven may be another."""
MAX_FUZZY: Final = 20
"""At most so many spellings are taken for one misspelt value, the most alike first."""
MIN_FUZZY_CHARS: Final = 4
MAX_RUN: Final = 4
"""How many words of a question may be one name."""
MAX_WORDS: Final = 500
"""So many words of a question are looked up; what comes after them is not."""
_WORD = re.compile(r"[^\W_]+")
_DIGITS = re.compile(r"\d+")


class Match(StrEnum):
    """How a value met a published one: letter by letter, but for case and accents, or nearly."""

    EXACT = "exact"
    NORMALIZED = "normalized"
    FUZZY = "fuzzy"


@dataclass(frozen=True, slots=True)
class GroundedColumn:
    """One column where a value is stored; `score` is the likeness of the spellings, 0 to 1."""

    place: Place
    match: Match
    score: float


@dataclass(frozen=True, slots=True)
class GroundedValue:
    """All that is published about one value, the closest match first, then by column."""

    value: str
    matches: tuple[GroundedColumn, ...]
    formulas: tuple[str, ...]
    """Ids of the formulas whose concept, title or scope holds the value as whole words."""


def fold(text: str) -> str:
    """Give the words of a text without case, accents and punctuation, one space between them."""
    decomposed = unicodedata.normalize("NFKD", text)
    bare = "".join(letter for letter in decomposed if not unicodedata.combining(letter))
    return " ".join(_WORD.findall(bare.casefold()))


def spelled(text: str) -> str:
    """Give a text as exact matches compare it: NFC and trimmed."""
    return unicodedata.normalize("NFC", text).strip()


class GroundingIndex:
    """The names of all places of a generation, ready to be asked.

    An exact or normalized match is two look-ups, however many places there are; only a value that
    has neither is compared with every spelling.
    """

    def __init__(self, places: Iterable[Place], formulas: Iterable[Formula]) -> None:
        """Take what was published; the order does not matter."""
        self._exact: dict[str, list[Place]] = defaultdict(list)
        self._folded: dict[str, list[Place]] = defaultdict(list)
        self._formulas: dict[str, set[str]] = defaultdict(set)
        for place in places:
            _enter(self._exact, {spelled(name) for name in place.names}, place)
            _enter(self._folded, {fold(name) for name in place.names} - {""}, place)
        for formula in formulas:
            for run in {run for name in formula.names for run in _runs(fold(name).split())}:
                self._formulas[run].add(formula.evidence_id)
        self._spellings: Sequence[str] = tuple(self._folded)

    def ground(self, value: str) -> GroundedValue:
        """Give every place of one value and the formulas that cover it."""
        asked = fold(value)
        found = self._certain(value)
        if not found and len(asked) >= MIN_FUZZY_CHARS:
            for spelling, score in self._alike(asked):
                found.add(self._folded[spelling], Match.FUZZY, score)
        formulas = tuple(sorted(self._formulas.get(asked, ())))
        return GroundedValue(value=value, matches=found.ordered(), formulas=formulas)

    def mentioned(self, text: str) -> tuple[GroundedValue, ...]:
        """Give what any run of up to four words of a text names, never by a fuzzy match."""
        found: dict[str, GroundedValue] = {}
        for run in _mentions(text):
            matches = self._certain(run).ordered()
            if matches:
                found.setdefault(fold(run), GroundedValue(run, matches, ()))
        return tuple(found.values())

    def _certain(self, value: str) -> _Best:
        found = _Best()
        found.add(self._exact.get(spelled(value), ()), Match.EXACT, 1.0)
        found.add(self._folded.get(fold(value), ()), Match.NORMALIZED, 1.0)
        return found

    def _alike(self, asked: str) -> Iterable[tuple[str, float]]:
        """Give spellings close enough; figures must be the same, since 123 is not nearly 124."""
        cutoff = 100 * FUZZY_CUTOFF
        close = process.extract(
            asked, self._spellings, scorer=fuzz.ratio, score_cutoff=cutoff, limit=None
        )
        figures = _DIGITS.findall(asked)
        kept = [(text, score / 100) for text, score, _ in close if _DIGITS.findall(text) == figures]
        return sorted(kept, key=lambda pair: (-pair[1], pair[0]))[:MAX_FUZZY]


class _Best:
    """The best match of each place, so that a place with two names is one row."""

    def __init__(self) -> None:
        self._found: dict[tuple[str, str, str, str], GroundedColumn] = {}

    def __bool__(self) -> bool:
        return bool(self._found)

    def add(self, places: Iterable[Place], match: Match, score: float) -> None:
        """Take places, unless a better match of them is there."""
        for place in places:
            self._found.setdefault(place.key, GroundedColumn(place, match, round(score, 4)))

    def ordered(self) -> tuple[GroundedColumn, ...]:
        """Give them in the one order: how they match, score, column, value, unit."""
        order = list(Match)
        return tuple(
            sorted(
                self._found.values(),
                key=lambda one: (order.index(one.match), -one.score, one.place.key),
            )
        )


def _enter(index: Mapping[str, list[Place]], names: Iterable[str], place: Place) -> None:
    for name in names:
        index[name].append(place)


def _mentions(text: str) -> Iterable[str]:
    """Give runs of words as they are written, the longest first; a single letter says nothing."""
    words = list(_WORD.finditer(spelled(text)))[:MAX_WORDS]
    for length in range(MAX_RUN, 0, -1):
        for first, last in zip(words, words[length - 1 :], strict=False):
            run = last.string[first.start() : last.end()]
            if len(run) > 1:
                yield run


def _runs(words: Sequence[str]) -> Iterable[str]:
    """Give every run of words of a name that says something: a word of three letters or more."""
    for start in range(len(words)):
        for end in range(start + 1, len(words) + 1):
            run = words[start:end]
            if any(len(word) > 2 and not word.isdigit() for word in run):
                yield " ".join(run)
