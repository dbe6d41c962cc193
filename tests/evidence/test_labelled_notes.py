"""The rules on our labelled notes: right nine times in ten, and silent where nothing is said."""

from __future__ import annotations

import pytest

from bench.rules import PRECISION, Accuracy, measure


@pytest.fixture(scope="module")
def accuracy() -> Accuracy:
    """Give every labelled note, read once."""
    return measure()


def test_the_labelled_set_is_large_and_has_notes_that_say_nothing(accuracy: Accuracy) -> None:
    notes = [each.note for each in accuracy.readings]
    assert len(notes) >= 60
    assert {note.language for note in notes} == {"it", "en"}
    assert sum(not note.labels for note in notes) >= 10


def test_what_the_rules_find_is_right(accuracy: Accuracy) -> None:
    wrong = [
        f"{each.note.name}: {unit.kind} {unit.title}"
        for each in accuracy.readings
        for unit in each.found
        if unit not in each.right
    ]
    assert accuracy.overall.precision >= PRECISION, wrong


def test_the_rules_find_most_of_what_is_there(accuracy: Accuracy) -> None:
    assert accuracy.overall.recall >= PRECISION


def test_a_note_that_says_nothing_gives_nothing(accuracy: Accuracy) -> None:
    assert accuracy.on_negatives == 0
