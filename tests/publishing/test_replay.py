"""Recent questions asked of a rehearsal and of what answers now: which answers would change."""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Final

import pytest

from publishing import publication, replay, retention
from publishing.domain.lifecycle import GenerationState
from publishing.domain.query import SearchRequest, build_request
from publishing.domain.replay import Answer, Difference, Replay, places, weight
from publishing.generations import live
from publishing.leases import LeaseLost
from publishing.models import Generation
from publishing.outcomes import UnavailableCode, unavailable
from publishing.ports import QuestionLog, RecentQuestions
from publishing.replay import Sides
from search_api import search_log
from search_api.question_log import SearchQuestionLog
from tests.publishing.making import (
    NOON,
    SLUG,
    TERMS,
    Scene,
    an_open_approval,
    questions,
    slug_of,
    workspace_files,
)
from tests.publishing.test_preview import TERM, copied, unit_file

pytestmark = pytest.mark.django_db
FIRST: Final = 5
MANY: Final = {
    **TERMS,
    "reparto di chirurgia": "Luogo dove si operano i malati ricoverati.",
    "lettera di dimissione": "Documento consegnato a chi torna a casa.",
    "esame istologico": "Analisi di un tessuto prelevato.",
    "scala del dolore": "Numero da zero a dieci riferito da chi soffre.",
    "turno di guardia": "Ore notturne coperte da un medico.",
    "consenso informato": "Firma raccolta prima di un intervento.",
    "ricetta elettronica": "Prescrizione inviata alla farmacia.",
    "pressione arteriosa": "Valore misurato con lo sfigmomanometro.",
    "dieta iposodica": "Pasti preparati senza sale aggiunto.",
    "vaccino antinfluenzale": "Iniezione offerta ogni autunno.",
}
GONE: Final = "scala del dolore"


def question(words: str, **more: object) -> SearchRequest:
    return build_request({"query": words, "purpose": "sql_generation", **more})


ASKED: Final = tuple(question(f"Che cosa vuol dire {term}?") for term in MANY)


@dataclass(frozen=True)
class Log:
    """What people asked, as a test says it."""

    said: RecentQuestions

    def recent(self, workspace: str, *, now: datetime, days: int, most: int) -> RecentQuestions:
        questions = self.said.questions
        return replace(self.said, questions=questions[:most], distinct=len(questions))


def a_log(*questions: SearchRequest) -> Log:
    return Log(RecentQuestions(days=14, questions=questions, until=NOON + timedelta(days=30)))


def rehearsed(scene: Scene, log: QuestionLog) -> Generation:
    row = scene.candidate()
    publication.advance(row.pk, worker="worker", parts=replace(scene.parts, questions=log))
    row.refresh_from_db()
    assert row.state == GenerationState.READY
    return row


def without(scene: Scene, term: str, *asked: SearchRequest) -> tuple[Generation, Generation]:
    """Publish many units, take one out, and give what answers now and the rehearsal."""
    scene.commit(workspace_files(MANY, evaluation=questions(TERMS)))
    before = scene.published()
    scene.commit({f"evidence/curated/glossary/{slug_of(term)}.md": None})
    return before, rehearsed(scene, a_log(*asked))


def changed(row: Generation) -> set[str]:
    found: Replay = row.replay
    return {each["query"] for each in found["differences"]}


def test_exactly_the_questions_whose_answer_changes_are_kept(scene: Scene) -> None:
    before, row = without(scene, GONE, *ASKED)
    wanted = f"evidence:{slug_of(GONE)}"
    lost = {one.query for one in ASKED if wanted in scene.ask(before, one.query)[:FIRST]}
    moved = {
        one.query
        for one in ASKED
        if scene.ask(before, one.query)[:FIRST] != scene.ask(row, one.query)[:FIRST]
    }
    assert lost <= moved
    assert f"Che cosa vuol dire {GONE}?" in lost
    assert 0 < len(moved) < len(ASKED)
    assert changed(row) == moved
    assert row.replay["asked"] == row.replay["distinct"] == len(ASKED)


def test_a_replay_that_asked_the_candidate_twice_would_be_noticed(scene: Scene) -> None:
    before, row = without(scene, GONE, *ASKED)
    for active, wanted in ((before, changed(row)), (row, set())):
        sides = Sides(live(active), live(row), scene.store, scene.embedder)
        found = replay.find(sides, questions=a_log(*ASKED), now=NOON, beat=lambda: None).found
        assert {each["query"] for each in found["differences"]} == wanted


def test_the_filters_and_the_purpose_of_a_question_are_asked_again(scene: Scene) -> None:
    words = f"Che cosa vuol dire {GONE}?"
    filtered = question(words, context={"required_kinds": ["formula"]})
    other = build_request({"query": words, "purpose": "rewriting"})
    _before, row = without(scene, GONE, filtered, other)
    assert (row.replay["asked"], changed(row)) == (2, set())
    scene.commit({"evidence/README.md": b"x"})
    context = {"tables": ["t"], "required_kinds": ["glossary"]}
    again = rehearsed(scene, a_log(question(words, context=context)))
    (one,) = again.replay["differences"]
    assert one["context"] == context


def test_what_was_asked_of_the_api_is_asked_of_the_next_rehearsal(scene: Scene) -> None:
    scene.commit(workspace_files(MANY, evaluation=questions(TERMS)))
    scene.published()
    for one in (*ASKED, ASKED[0]):
        outcome = unavailable(UnavailableCode.VECTOR_STORE_UNAVAILABLE)
        search_log.note(
            workspace=SLUG, question=one, outcome=outcome, key_prefix="", now=scene.clock.now
        )
    scene.commit({f"evidence/curated/glossary/{slug_of(GONE)}.md": None})
    row = rehearsed(scene, SearchQuestionLog())
    assert (row.replay["asked"], row.replay["distinct"]) == (len(ASKED), len(ASKED))
    assert f"Che cosa vuol dire {GONE}?" in changed(row)
    assert row.replay_until == scene.clock.now + timedelta(days=30, minutes=-1)


def test_the_same_answers_are_no_change(scene: Scene) -> None:
    scene.published()
    scene.commit({"evidence/README.md": b"x"})
    row = rehearsed(scene, a_log(*ASKED))
    assert (row.replay["asked"], row.replay["behind"], changed(row)) == (len(ASKED), 0, set())
    assert row.replay_until is None


def test_a_unit_that_says_something_else_at_the_same_place_changes_the_answer(
    scene: Scene,
) -> None:
    scene.published()
    path = f"evidence/curated/glossary/{slug_of(TERM)}.md"
    (data,) = unit_file(TERM, TERMS[TERM]).values()
    other = data.decode().replace("title: Fascia pediatrica", "title: Fascia pediatrica nostra")
    scene.commit({path: other.encode()})
    row = rehearsed(scene, a_log(question(f"Che cosa vuol dire {TERM}?")))
    (one,) = row.replay["differences"]
    (first, *others) = places(one["before"], one["after"])
    assert (first.evidence_id, first.before, first.after) == (f"evidence:{slug_of(TERM)}", 1, 1)
    assert first.says_other
    assert not any(each.says_other for each in others)


def test_a_rehearsal_asks_a_bounded_number_and_says_how_many_there_were(
    scene: Scene, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(replay, "MOST", 3)
    scene.published()
    scene.commit({"evidence/README.md": b"x"})
    row = rehearsed(scene, a_log(*ASKED))
    assert (row.replay["asked"], row.replay["distinct"]) == (3, len(ASKED))


def test_before_anything_answers_and_for_an_approved_candidate_nothing_is_asked(
    scene: Scene,
) -> None:
    assert rehearsed(scene, a_log(*ASKED)).replay == {}
    scene.published()
    scene.commit({"evidence/README.md": b"x"})
    assert scene.published().replay == {}


def test_what_answers_now_may_be_broken_without_harm_to_the_rehearsal(scene: Scene) -> None:
    active = scene.published()
    scene.commit(copied())
    Generation.objects.filter(pk=active.pk).update(embedder="another/model/1")
    row = rehearsed(scene, a_log(*ASKED))
    assert row.replay["problem"] == "embedder_changed"
    assert (row.replay["asked"], changed(row)) == (0, set())


def test_each_question_renews_the_lease_and_a_lost_one_ends_the_replay(scene: Scene) -> None:
    active = scene.published()
    beats: list[int] = []

    def beat() -> None:
        beats.append(1)
        if len(beats) == 2:
            raise LeaseLost("Gone.")

    sides = Sides(live(active), live(active), scene.store, scene.embedder)
    with pytest.raises(LeaseLost):
        replay.find(sides, questions=a_log(*ASKED), now=NOON, beat=beat)
    assert len(beats) == 2


def test_questions_are_forgotten_when_the_log_forgets_them(scene: Scene) -> None:
    _before, row = without(scene, GONE, *ASKED)
    assert row.replay_until == NOON + timedelta(days=30)
    assert retention.forget_questions(now=NOON + timedelta(days=29)) == 0
    assert retention.forget_questions(now=NOON + timedelta(days=31)) == 1
    kept = Generation.objects.get(pk=row.pk)
    assert (kept.replay, kept.replay_until) == ({}, None)


def test_questions_are_forgotten_once_the_rehearsal_was_decided_on(scene: Scene) -> None:
    _before, row = without(scene, GONE, *ASKED)
    an_open_approval(row)
    assert scene.advance(row) == GenerationState.ACTIVE
    row.refresh_from_db()
    assert (row.replay, row.replay_until) == ({}, None)


def test_what_matters_most_comes_first() -> None:
    def one(before: tuple[str, str], after: tuple[str, str]) -> Difference:
        sides = [Answer(units=[(unit, "")], confidence=said) for unit, said in (before, after)]
        return Difference(query="", purpose="", context={}, before=sides[0], after=sides[1])

    lost = one(("a", "grounded"), ("a", "weak"))
    won = one(("a", "weak"), ("a", "grounded"))
    first = one(("a", "weak"), ("b", "weak"))
    assert [weight(each) for each in (lost, won, first)] == [0, 1, 2]


def test_places_follow_the_later_order_and_only_what_changed_places_is_moved() -> None:
    def answer(*units: str) -> Answer:
        return Answer(units=[(unit, unit) for unit in units], confidence="grounded")

    def told(before: Answer, after: Answer) -> list[tuple[str, int | None, int | None, bool]]:
        found = places(before, after)
        return [(each.evidence_id, each.before, each.after, each.is_moved) for each in found]

    assert told(answer("a", "b", "c"), answer("b", "c", "d")) == [
        ("a", 1, None, False),
        ("b", 2, 1, False),
        ("c", 3, 2, False),
        ("d", None, 3, False),
    ]
    assert told(answer("a", "b"), answer("b", "a")) == [("b", 2, 1, True), ("a", 1, 2, True)]
    behind = told(answer(*"abcdefg"), answer(*"bcdefag"))
    assert [each[:3] for each in behind if each[0] in "afg"] == [("f", 6, 5), ("a", 1, 6)]
