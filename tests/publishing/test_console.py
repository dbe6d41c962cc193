"""The search console, the evaluation set and compared exams, as people use them."""

from __future__ import annotations

from pathlib import Path

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.urls import reverse

from evidence import wiring as evidence_wiring
from evidence.domain.questions import parse_evaluation
from publishing.admin.exam_export import defused
from publishing.admin.wording import percent
from publishing.domain.lifecycle import GenerationState
from publishing.models import Evaluation
from tests.publishing.making import SLUG, Registered, a_registered
from tests.publishing.test_admin import a_generation, an_exam, page_of, signed_in

pytestmark = pytest.mark.django_db
CONSOLE = "/admin/publishing/evaluation/console/"
SET = "/admin/publishing/evaluation/questions/"
UNIT = "evidence:fascia-pediatrica"
ASKED = {"query": "Chi è in fascia pediatrica?", "purpose": "sql_generation", "top_n": "2"}
KEPT = {"save": "1", "id": "nuova", "profile": "semantic", "expected": [UNIT]}


@pytest.fixture
def workspace(portal_home: Path) -> Registered:
    return a_registered(portal_home)


@pytest.fixture
def reader(db: None) -> Client:
    return signed_in("lettrice", "Readers")


@pytest.fixture
def curator(db: None) -> Client:
    return signed_in("curatrice", "Curators")


def questions(workspace: Registered) -> list[str]:
    head = workspace.repository.head("main")
    entry = evidence_wiring.repository(SLUG).entry(head, "evidence/evaluation.yaml")
    assert entry is not None
    data = workspace.repository.blobs([entry.blob])[entry.blob]
    return [each.id for each in parse_evaluation(data.decode()).queries]


def test_nothing_published_is_said_with_the_way_on(reader: Client, workspace: Registered) -> None:
    page = reader.post(CONSOLE, ASKED).content.decode()
    assert "no_active_generation" in page
    assert "Chi è in fascia pediatrica?" in page


@pytest.mark.parametrize(
    "wrong",
    [
        {"query": " "},
        {"query": "x" * 20_001},
        {"query": "a\0b"},
        {"purpose": "memory"},
        {"top_n": "0"},
        {"top_n": "11"},
        {"top_n": "x"},
        {"concepts": "c" * 1_001},
        {"required_kinds": "secret"},
        {"unit": "../../x"},
        {"generation": "00000000-0000-0000-0000-000000000000"},
    ],
)
def test_what_the_api_refuses_is_refused_with_the_words_kept(
    reader: Client, workspace: Registered, wrong: dict[str, str]
) -> None:
    answer = reader.post(CONSOLE, ASKED | {"tables": "clinical.patient"} | wrong)
    assert answer.status_code == 422
    assert "clinical.patient" in answer.content.decode()


def test_the_console_is_for_those_who_may_see_exams(workspace: Registered) -> None:
    stranger = signed_in("nessuno", "Readers")
    stranger.get(CONSOLE)
    assert Client().get(CONSOLE).status_code == 302
    assert stranger.get(CONSOLE + "?workspace=altrove").status_code == 404


def test_only_curators_save_a_question(reader: Client, workspace: Registered) -> None:
    assert reader.post(CONSOLE, ASKED | KEPT).status_code == 403
    assert "nuova" not in questions(workspace)


def test_the_evaluation_set_shows_what_no_question_expects(
    reader: Client, workspace: Registered
) -> None:
    an_exam(a_generation(GenerationState.ACTIVE, workspace.head().commit))
    page = reader.get(SET).content.decode()
    assert "Every unit is expected by a question." in page
    assert "4 of 4" in page
    workspace.commit({"evidence/evaluation.yaml": b"queries: ["})
    assert "evaluation_invalid" in reader.get(SET).content.decode()
    workspace.commit({"evidence/evaluation.yaml": None})
    assert "no evaluation.yaml yet" in reader.get(SET).content.decode()


def test_two_exams_are_compared_rank_by_rank(reader: Client, workspace: Registered) -> None:
    first = a_generation(GenerationState.SUPERSEDED, workspace.head().commit)
    second = a_generation(GenerationState.ACTIVE, workspace.head().commit)
    an_exam(first, rank=1)
    shown = an_exam(second, rank=12)
    place = reverse("admin:publishing_compare")
    page = reader.get(place, {"before": str(first.pk), "after": str(second.pk)}).content.decode()
    assert '<span class="ep-badge ep-bad">12</span>' in page
    assert "worse" in page
    assert str(first.pk) in reader.get(page_of(shown)).content.decode()
    assert reader.get(place, {"before": "x", "after": str(second.pk)}).status_code == 404


def test_an_exam_is_taken_away_as_table_and_as_json(reader: Client, workspace: Registered) -> None:
    row = an_exam(a_generation(GenerationState.ACTIVE))
    first = row.report["queries"][0]["id"]
    row.answers = {first: {"query": '=HYPERLINK("http://x")', "units": []}}
    row.save()
    table = reader.get(reverse("admin:publishing_evaluation_export_csv", args=[row.pk]))
    assert "'=HYPERLINK" in table.content.decode()
    assert "attachment" in table.headers["Content-Disposition"]
    kept = reader.get(reverse("admin:publishing_evaluation_export_json", args=[row.pk]))
    assert kept.json() == row.report


@pytest.mark.parametrize(
    "cell", ["=1", "+1", "-1", "@x", "\tx", "\rx", "\n=1", "\uff1d1", "\uff201"]
)
def test_no_cell_is_a_formula(cell: str) -> None:
    assert defused(cell) == f"'{cell}"


@pytest.mark.parametrize("found", range(101))
def test_a_share_of_a_hundred_questions_is_shown_as_their_number(found: int) -> None:
    assert percent(found / 100) == f"{found} %"


def test_a_share_is_never_rounded_up_to_all() -> None:
    assert percent(9_999 / 10_000) == "99 %"


def test_the_pages_ask_as_often_for_many_exams_as_for_two(
    reader: Client, workspace: Registered
) -> None:
    def asked(count: int) -> list[int]:
        while Evaluation.objects.count() < count:
            an_exam(a_generation(GenerationState.SUPERSEDED, workspace.head().commit))
        numbers = []
        shown = Evaluation.objects.first()
        assert shown is not None
        for place in (CONSOLE, SET, "/admin/publishing/evaluation/", page_of(shown)):
            with CaptureQueriesContext(connection) as queries:
                assert reader.get(place).status_code == 200
            numbers.append(len(queries))
        return numbers

    asked(1)
    assert asked(2) == asked(12)
