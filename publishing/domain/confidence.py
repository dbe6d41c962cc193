"""How far an answer can be trusted: grounded or weak, and where the line lies (spec 60)."""

from __future__ import annotations

import math
import re
import unicodedata
from collections.abc import Iterable, Sequence
from enum import StrEnum
from functools import lru_cache
from itertools import pairwise
from statistics import median

import snowballstemmer

from publishing.domain.languages import BM25_LANGUAGES
from publishing.domain.stopwords import STOP_WORDS

_WORD = re.compile(r"[^\W\d_]{3,}")
_STEMMERS = frozenset(snowballstemmer.algorithms())


class Confidence(StrEnum):
    """Whether an answer rests on something; the results are shown all the same."""

    GROUNDED = "grounded"
    WEAK = "weak"


def judge(
    *, found: bool, best_dense: float | None, threshold: float, lexical_hits: int
) -> Confidence:
    """Give weak when nothing was found, or when neither similarity nor a content word supports it.

    `best_dense` is the best cosine similarity under the request's filter, `lexical_hits` the number
    of the original question's content words that occur in a returned excerpt.
    """
    similar = best_dense is not None and best_dense >= threshold
    return Confidence.GROUNDED if found and (similar or lexical_hits) else Confidence.WEAK


def lexical_hits(question: str, excerpts: Iterable[str], *, language: str) -> int:
    """Count the question's content words, compared by their stems, that an excerpt contains."""
    asked = content_stems(question, language=language)
    if not asked:
        return 0
    stems = {stem for text in excerpts for stem in content_stems(text, language=language)}
    return len(asked & stems)


def matched_words(question: str, excerpts: Iterable[str], *, language: str) -> tuple[str, ...]:
    """Give the question's content words that an excerpt contains, as the question writes them."""
    stems = {stem for text in excerpts for stem in content_stems(text, language=language)}
    words = dict.fromkeys(_WORD.findall(unicodedata.normalize("NFC", question)))
    return tuple(word for word in words if content_stems(word, language=language) & stems)


def content_stems(text: str, *, language: str) -> frozenset[str]:
    """Give the stems of the words with three letters or more that are no stop words.

    Case and accents are ignored. A language that Snowball does not know is compared by whole words.
    """
    stop = STOP_WORDS.get(language, frozenset())
    words = set(_WORD.findall(unicodedata.normalize("NFC", text).casefold()))
    return frozenset(_stem(word, language) for word in words if _folded(word) not in stop)


def separating_threshold(on_topic: Sequence[float], off_topic: Sequence[float]) -> float | None:
    """Give the midpoint that separates the best similarities of both groups best.

    That is the highest sum of the shares on the right side; among equals the widest gap, then the
    lowest. None without one of the groups, or when no midpoint is better than chance.
    """
    if not on_topic or not off_topic:
        return None
    values = sorted({*on_topic, *off_topic})
    separation, width, negative_low = max(
        (
            (_separation(low, on_topic, off_topic), high - low, -low)
            for low, high in pairwise(values)
        ),
        default=(0.0, 0.0, 0.0),
    )
    return -negative_low + width / 2 if separation > 1.0 else None


def average_length(term_counts: Sequence[int]) -> int:
    """Give a generation's `avg_len`: the median number of distinct terms a fragment, at least 1."""
    return max(1, math.ceil(median(term_counts))) if term_counts else 1


def _separation(low: float, on_topic: Sequence[float], off_topic: Sequence[float]) -> float:
    above = sum(value > low for value in on_topic) / len(on_topic)
    below = sum(value <= low for value in off_topic) / len(off_topic)
    return above + below


@lru_cache(maxsize=50_000)
def _stem(word: str, language: str) -> str:
    name = BM25_LANGUAGES.get(language, "")
    # A Snowball stemmer keeps the word in itself, so threads may not share one.
    return _folded(snowballstemmer.stemmer(name).stemWord(word) if name in _STEMMERS else word)


@lru_cache(maxsize=50_000)
def _folded(word: str) -> str:
    decomposed = unicodedata.normalize("NFKD", word)
    return "".join(letter for letter in decomposed if not unicodedata.combining(letter))
