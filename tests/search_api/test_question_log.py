"""The questions of the search log as publishing asks them again."""

from __future__ import annotations

from datetime import timedelta

import pytest
from django.utils import timezone

from publishing import plugged, wiring
from publishing.domain.query import SearchRequest
from publishing.ports import RecentQuestions
from publishing.retrieval import build_request
from search_api.models import SearchLogEntry
from search_api.question_log import MAX_TEXT, SearchQuestionLog, repeatable
from tests.search_api.conftest import QUESTION

pytestmark = pytest.mark.django_db
SLUG = "clinica-demo"


def recent(*, days: int = 14, most: int = 100, later: timedelta = timedelta()) -> RecentQuestions:
    now = timezone.now() + later
    return SearchQuestionLog().recent(SLUG, now=now, days=days, most=most)


def entry(request: SearchRequest, **columns: object) -> SearchLogEntry:
    values = {
        "workspace": SLUG,
        "at": timezone.now(),
        "question": request.query,
        "purpose": request.purpose.value,
        **repeatable(request),
        **columns,
    }
    return SearchLogEntry.objects.create(**values)


def asked(words: str, **more: object) -> SearchRequest:
    return build_request({"query": words, "purpose": "sql_generation", **more})


def test_a_publication_is_given_the_log_of_the_search_api() -> None:
    assert isinstance(plugged.question_log(), SearchQuestionLog)
    assert wiring.parts().questions is plugged.question_log()


def test_a_search_comes_back_with_its_purpose_filters_and_size(published, ask) -> None:
    body = QUESTION | {
        "purpose": "rewriting",
        "context": {"tables": ["b", "a"], "required_kinds": ["formula"], "required_columns": ["c"]},
        "top_n": 3,
    }
    ask(body)
    (found,) = recent().questions
    assert found == build_request(body)


def test_a_pinned_revision_is_not_asked_again(published, ask) -> None:
    ask(QUESTION | {"workspace_revision": "f" * 40})
    assert recent().questions[0].workspace_revision is None


def test_each_question_comes_once_the_last_asked_first_as_it_was_last_asked() -> None:
    for words in ("Chi è minorenne?", "Che cos'è il triage?", "chi  è MINORENNE"):
        entry(asked(words))
    entry(asked("Chi è minorenne?", context={"required_kinds": ["formula"]}))
    found = recent()
    assert [each.query for each in found.questions] == [
        "Chi è minorenne?",
        "chi  è MINORENNE",
        "Che cos'è il triage?",
    ]
    assert (found.distinct, found.unrepeatable) == (3, 0)
    assert [each.query for each in recent(most=1).questions] == ["Chi è minorenne?"]
    assert recent(most=1).distinct == 3


def test_another_workspace_and_older_days_are_left_out() -> None:
    entry(asked("Altrove?"), workspace="altra")
    entry(asked("Prima?"), at=timezone.now() - timedelta(days=15))
    assert recent() == RecentQuestions(days=14)


def test_what_is_not_kept_whole_is_counted_and_never_asked_cut_off() -> None:
    entry(asked("x" * (MAX_TEXT + 1)), question="x" * MAX_TEXT)
    entry(asked("Che?", context={"tables": [f"{n}" * 450 for n in range(10, 16)]}))
    entry(asked("Vecchia?"), request_key="", context={})
    found = recent()
    assert (found.questions, found.distinct, found.unrepeatable) == ((), 0, 3)


def test_a_question_that_nobody_may_ask_any_more_is_left_out() -> None:
    entry(asked("Una?"))
    entry(asked("Due?"), purpose="memory")
    found = recent()
    assert ([each.query for each in found.questions], found.distinct) == (["Una?"], 2)


def test_without_texts_it_says_which_setting_keeps_them(published, ask, settings) -> None:
    settings.SEARCH_API = settings.SEARCH_API | {"log_text": False}
    ask()
    row = SearchLogEntry.objects.get()
    assert (row.request_key, row.context, row.question) == ("", {}, "")
    assert recent() == RecentQuestions(days=14, off="PORTAL_SEARCH_LOG_TEXT")


def test_it_looks_back_no_further_than_the_log_and_says_until_when(settings) -> None:
    settings.SEARCH_API = settings.SEARCH_API | {"log_days": 3}
    row = entry(asked("Una?"), at=timezone.now() - timedelta(days=2))
    entry(asked("Due?"), at=timezone.now() - timedelta(days=4))
    found = recent()
    assert (found.days, found.distinct) == (3, 1)
    assert found.until == row.at + timedelta(days=3)


@pytest.mark.parametrize("number", [1, 20])
def test_it_takes_four_queries_however_much_was_asked(
    number: int, django_assert_num_queries
) -> None:
    for each in range(number):
        entry(asked(f"Domanda {each}?"))
    with django_assert_num_queries(4):
        assert len(recent().questions) == number


def test_signs_of_every_plane_survive_the_database() -> None:
    words = "Qual è il dosaggio 💊 «\u2028» \\u0000?"
    context = {"required_tables": ['"Tavola è"', "\\ud800"], "concepts": ["\u0001", "💉"]}
    entry(asked(words, context=context))
    assert recent().questions == (asked(words, context=context),)
