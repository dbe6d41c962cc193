"""An answer is grounded when similarity or a content word of the question supports it."""

from __future__ import annotations

from itertools import pairwise

import pytest
import snowballstemmer
from hypothesis import given
from hypothesis import strategies as st

from publishing.domain.confidence import (
    Confidence,
    average_length,
    content_stems,
    judge,
    lexical_hits,
    separating_threshold,
)
from publishing.domain.languages import BM25_LANGUAGES, LanguageUnsupported, bm25_language
from publishing.domain.stopwords import STOP_WORDS

SCORES = st.lists(st.integers(-100, 100).map(lambda n: n / 100), min_size=1, max_size=12)


@pytest.mark.parametrize(
    ("found", "best_dense", "hits", "expected"),
    [
        (True, 0.9, 0, Confidence.GROUNDED),
        (True, 0.8, 0, Confidence.GROUNDED),
        (True, 0.79, 1, Confidence.GROUNDED),
        (True, 0.79, 0, Confidence.WEAK),
        (True, None, 0, Confidence.WEAK),
        (False, 0.9, 3, Confidence.WEAK),
        (False, None, 0, Confidence.WEAK),
    ],
)
def test_the_rule(found, best_dense, hits, expected):
    assert judge(found=found, best_dense=best_dense, threshold=0.8, lexical_hits=hits) is expected


@pytest.mark.parametrize(
    ("language", "question", "excerpt", "count"),
    [
        ("it", "Come distinguo i pazienti pediatrici?", "Un paziente in età pediatrica.", 1),
        ("it", "Che cos'è l'età?", "ETA al ricovero", 1),
        ("it", "Qual è l'eta\u0300?", "età", 1),
        ("it", "Come si fa con il e la?", "Come si fa con il e la", 0),
        ("it", "Che DRG ha?", "Il DRG 123", 1),
        ("it", "data di nascita", "clinical.patient.data_nascita", 2),
        ("it", "id 42", "id 42", 0),
        ("en", "Which children are patients?", "A child is a patient", 1),
        ("en", "what is this about", "what this is about", 0),
        ("sl", "otroci", "otroci", 1),
        ("zz", "parola", "parola", 1),
    ],
)
def test_content_words_are_compared_by_stem_without_case_and_accents(
    language, question, excerpt, count
):
    assert lexical_hits(question, [excerpt], language=language) == count


def test_a_word_in_two_excerpts_counts_once():
    assert lexical_hits("pazienti", ["paziente", "pazienti"], language="it") == 1


def test_a_question_of_stop_words_has_no_hits():
    assert lexical_hits("che cosa", ["che cosa"], language="it") == 0


def test_short_words_and_digits_have_no_stem():
    assert content_stems("a ab 123 x1y", language="it") == frozenset()


@pytest.mark.parametrize("language", STOP_WORDS)
def test_stop_words_are_written_as_they_are_compared(language):
    for word in STOP_WORDS[language]:
        assert len(word) >= 3, word
        assert content_stems(word, language=language) == frozenset(), word


@pytest.mark.parametrize(
    ("on_topic", "off_topic", "expected"),
    [
        ([0.9, 0.8], [0.7, 0.6], 0.75),
        ([0.9, 0.6], [0.7], 0.8),
        ([0.9, 0.8, 0.5], [0.7, 0.4], 0.75),
        ([0.9], [], None),
        ([], [0.5], None),
        ([0.5], [0.9], None),
        ([0.5, 0.9], [0.5, 0.9], None),
        ([0.7], [0.7], None),
    ],
)
def test_the_threshold_is_the_midpoint_that_separates_best(on_topic, off_topic, expected):
    found = separating_threshold(on_topic, off_topic)
    assert found == (None if expected is None else pytest.approx(expected))


@given(SCORES, SCORES)
def test_no_midpoint_separates_better(on_topic, off_topic):
    def right(line: float) -> float:
        above = sum(score >= line for score in on_topic) / len(on_topic)
        return float(above + sum(score < line for score in off_topic) / len(off_topic))

    found = separating_threshold(on_topic, off_topic)
    values = sorted({*on_topic, *off_topic})
    best = max((right((a + b) / 2) for a, b in pairwise(values)), default=0)
    if found is None:
        assert best <= 1.0 + 1e-9
    else:
        assert right(found) == pytest.approx(best)


def test_the_average_length_is_the_median_of_distinct_terms():
    assert average_length([3, 14, 200]) == 14
    assert average_length([3, 4]) == 4
    assert average_length([0]) == 1
    assert average_length([]) == 1


def test_a_language_is_given_by_qdrants_name():
    assert (bm25_language("it"), bm25_language("EN")) == ("italian", "english")
    with pytest.raises(LanguageUnsupported):
        bm25_language("tlh")


def test_the_languages_the_demo_needs_have_a_stemmer():
    assert {BM25_LANGUAGES[tag] for tag in STOP_WORDS} <= set(snowballstemmer.algorithms())
