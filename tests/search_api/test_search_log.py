"""What is kept of searches: how they went, which questions found little, and for how long."""

from __future__ import annotations

from datetime import timedelta

import pytest
from django.db import InterfaceError, OperationalError, connection
from django.utils import timezone

from search_api import gaps, search_log
from search_api.log_queue import LogQueue
from search_api.models import Gap, GapState, SearchLogEntry
from tests.search_api.conftest import GENERATION, QUESTION

pytestmark = pytest.mark.django_db

WEAK = QUESTION | {"query": "Come si rammenda un calzino di lana?"}


def test_a_search_is_logged_with_all_that_its_confidence_rests_on(published, ask):
    ask()
    (entry,) = SearchLogEntry.objects.all()
    assert (entry.code, entry.confidence, entry.purpose) == (
        "available",
        "grounded",
        "sql_generation",
    )
    assert entry.question == QUESTION["query"]
    assert (entry.generation, entry.workspace) == (GENERATION, "clinica-demo")
    assert (entry.best_dense or 0) > 0.8
    assert entry.lexical_hits > 0
    assert len(entry.key_prefix) == 8


def test_an_unavailable_search_is_logged_with_its_code_and_is_no_gap(registered, ask):
    ask()
    assert SearchLogEntry.objects.get().code == "no_active_generation"
    assert not Gap.objects.exists()


def test_a_weak_question_is_one_gap_however_it_is_typed(published, ask):
    for words in (
        "Come si rammenda un calzino di lana?",
        "come  si rammenda un CALZINO di lana",
        " Come si rammenda un calzino di lana ?! ",
    ):
        ask(QUESTION | {"query": words})
    (gap,) = Gap.objects.all()
    assert (gap.times_asked, gap.state) == (3, GapState.OPEN)
    assert gap.first_asked_at < gap.last_asked_at


def test_a_gap_closes_when_its_question_is_answered_and_opens_again(published, ask):
    ask(WEAK)
    entry = SearchLogEntry.objects.get()
    entry.confidence = "grounded"
    gaps.learn([entry])
    assert Gap.objects.get().state == GapState.ANSWERED
    ask(WEAK)
    assert Gap.objects.get().state == GapState.OPEN


def test_a_gap_with_a_note_says_when_it_was_answered_and_when_it_no_longer_is(published, ask):
    ask(WEAK)
    Gap.objects.update(state=GapState.NOTED)
    entry = SearchLogEntry.objects.get()
    entry.confidence = "grounded"
    gaps.learn([entry])
    gap = Gap.objects.get()
    assert (gap.state, gap.answered_at) == (GapState.NOTED, entry.at)
    ask(WEAK)
    gap.refresh_from_db()
    assert (gap.state, gap.answered_at) == (GapState.NOTED, None)


def test_an_endless_question_is_one_gap_by_the_words_that_are_kept(published, ask):
    for end in ("uno", "due"):
        ask(QUESTION | {"query": f"{'calzino ' * 2_400}{end}"})
    entries = list(SearchLogEntry.objects.all())
    for entry in entries:
        entry.confidence = "weak"
    gaps.learn(entries)
    gap = Gap.objects.get()
    assert gap.times_asked == 2
    gaps.GapQuestions().examined(gap.workspace, [gap.question], by="anna")
    gap.refresh_from_db()
    assert gap.state == GapState.EXAMINED


def test_what_an_expert_set_aside_stays_aside(published, ask):
    ask(WEAK)
    Gap.objects.update(state=GapState.DISMISSED)
    ask(WEAK)
    assert (Gap.objects.get().state, Gap.objects.get().times_asked) == (GapState.DISMISSED, 2)


def test_without_texts_the_log_keeps_figures_alone(published, ask, settings):
    settings.SEARCH_API = settings.SEARCH_API | {"log_text": False}
    ask(WEAK)
    entry = SearchLogEntry.objects.get()
    assert (entry.question, entry.question_key, entry.confidence) == ("", "", "weak")
    assert not Gap.objects.exists()


@pytest.mark.parametrize("error", [OperationalError, InterfaceError])
def test_a_log_that_cannot_be_written_does_not_change_the_answer(published, ask, error):
    def broken(execute, sql, params, many, context):
        if "searchlogentry" in sql:
            raise error("disk full")
        return execute(sql, params, many, context)

    good = ask().content
    with connection.execute_wrapper(broken):
        answer = ask()
    assert (answer.status_code, answer.content) == (200, good)
    assert SearchLogEntry.objects.count() == 1


def test_a_full_queue_drops_the_newest_and_answers(published, ask, settings, monkeypatch):
    full = LogQueue(search_log.write, most=1)
    monkeypatch.setattr(search_log, "waiting", full)
    monkeypatch.setattr(full, "write_behind", lambda: None)
    settings.SEARCH_API = settings.SEARCH_API | {"log_at_once": False}
    assert [ask().status_code for _ in range(3)] == [200, 200, 200]
    full.write_waiting()
    assert SearchLogEntry.objects.count() == 1


def test_what_is_older_than_the_settings_say_is_swept(published, ask, settings):
    for query in ("Come si rammenda un calzino?", "Chi ha vinto il palio?"):
        ask(QUESTION | {"query": query})
    now = timezone.now()
    old = now - timedelta(days=settings.SEARCH_API["log_days"], seconds=1)
    first = SearchLogEntry.objects.order_by("pk")[0]
    SearchLogEntry.objects.filter(pk=first.pk).update(at=old)
    Gap.objects.filter(question=first.question).update(last_asked_at=old)
    assert search_log.sweep(now=now) == 1
    assert SearchLogEntry.objects.count() == Gap.objects.count() == 1
    assert search_log.sweep(now=now) == 0


def test_the_log_has_a_bound_however_many_days_it_keeps(published, ask, monkeypatch):
    monkeypatch.setattr(search_log, "MAX_ROWS", 2)
    for _ in range(5):
        ask()
    search_log.sweep(now=timezone.now())
    assert SearchLogEntry.objects.count() == 2


def test_the_open_questions_of_a_week_are_counted_by_workspace(published, ask):
    ask(WEAK)
    now = timezone.now()
    assert gaps.open_this_week(["clinica-demo", "altra"], now=now) == {
        "clinica-demo": 1,
        "altra": 0,
    }
    later = now + timedelta(days=8)
    assert gaps.open_this_week(["clinica-demo"], now=later) == {"clinica-demo": 0}
