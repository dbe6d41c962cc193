from __future__ import annotations

import pytest

from evidence.domain.questions import EvaluationInvalid, Profile, parse_evaluation
from tests.evidence.domain.corpus import EVALUATION

TEXT = EVALUATION.decode() + "off_topic:\n- Come si rammenda un calzino?\n"


def test_questions_and_off_topic_ones_are_read() -> None:
    evaluation = parse_evaluation(TEXT)
    assert [question.profile for question in evaluation.queries] == [
        Profile.SEMANTIC,
        Profile.LEXICAL,
        Profile.MIXED,
    ]
    assert evaluation.queries[0].expected == ("evidence:fascia-pediatrica",)
    assert evaluation.off_topic == ("Come si rammenda un calzino?",)
    assert parse_evaluation(EVALUATION.decode()).off_topic == ()


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("schema_version: 1\n", ""),
        ("id: two", "id: one"),
        ("profile: mixed", "profile: semantic"),
        ("profile: mixed", "profile: fuzzy"),
        ("purpose: sql_generation", "purpose: secret_stage"),
        ("[evidence:fascia-pediatrica]", "[]"),
        ("[evidence:fascia-pediatrica]", "[fascia-pediatrica]"),
        ("query: ablazione\n", "query: ''\n"),
        ("query: ablazione\n", "query: ablazione\n  weight: 2\n"),
        ("off_topic:", "of_topic:"),
    ],
)
def test_what_an_evaluation_may_not_say_is_refused(old: str, new: str) -> None:
    assert old in TEXT
    with pytest.raises(EvaluationInvalid) as refused:
        parse_evaluation(TEXT.replace(old, new))
    assert refused.value.code == "evaluation_invalid"


@pytest.mark.parametrize("text", ["", "schema_version: 1\nqueries: []\n", "queries: [\n"])
def test_an_evaluation_without_questions_is_refused(text: str) -> None:
    with pytest.raises(EvaluationInvalid):
        parse_evaluation(text)


def test_a_question_that_is_too_long_is_measured_in_characters() -> None:
    text = TEXT.replace("query: ablazione\n", f"query: {'a' * 20_001}\n")
    with pytest.raises(EvaluationInvalid, match="At most 20000 characters"):
        parse_evaluation(text)
