"""The search console answers as the API does, and says why a unit is there or not."""

from __future__ import annotations

import re
import shutil
from html import unescape

import pytest
from django.test import Client
from django.utils import timezone

from evidence.domain.questions import parse_evaluation
from publishing import plugged, search_console
from publishing.domain.query import build_request
from publishing.domain.reasons import Verdict
from publishing.search_console import Look
from search_api import gaps
from search_api.models import Gap, GapState
from tests.makers import git
from tests.publishing.test_admin import signed_in
from tests.search_api.conftest import QUESTION, SLUG

pytestmark = pytest.mark.django_db
CONSOLE = "/admin/publishing/evaluation/console/"
FOUND = "evidence:fascia-pediatrica"
ASKED = QUESTION | {"top_n": "3"}


@pytest.fixture
def reader(db: None) -> Client:
    return signed_in("lettrice", "Readers")


def posted(client: Client, **fields: object) -> str:
    return unescape(client.post(CONSOLE, ASKED | fields).content.decode())


def looked(**fields: object) -> Look:
    found = search_console.look(SLUG, build_request(QUESTION | fields), generation=None, deep=True)
    assert isinstance(found, Look)
    return found


def test_the_console_gives_the_results_and_the_confidence_of_the_api(published, ask):
    api = ask().json()
    found = looked()
    assert [unit.evidence_id for unit in found.found.units] == [
        each["evidence_id"] for each in api["results"]
    ]
    assert found.found.confidence == api["confidence"]


def test_the_page_shows_text_filters_branches_and_confidence(published, reader):
    page = posted(reader, concepts="minori\n", required_kinds="formula")
    assert "Domanda: Come distinguo i pazienti pediatrici?\nConcetti: minori" in page
    assert "Filtered by: kind" in page
    assert "Confidence: grounded" in page
    assert "similarity" in page.lower()
    assert FOUND in page


@pytest.mark.parametrize(
    ("fields", "unit", "words"),
    [
        ({}, FOUND, "is in the answer, in place 1"),
        ({}, "fascia-pediatrica", "is in the answer, in place 1"),
        ({"required_kinds": "enum"}, FOUND, "asked for List of values; the unit has Formula"),
        ({"required_concepts": "luna"}, FOUND, "Filter “concepts”: asked for luna"),
        ({}, "evidence:non-esiste", "neither in this generation nor in the present revision"),
    ],
)
def test_why_a_unit_is_there_or_not_is_said_in_words(published, reader, fields, unit, words):
    assert words in posted(reader, unit=unit, **fields)


def test_a_unit_below_the_number_asked_for_is_cut(published):
    found = looked(top_n=1)
    second = search_console.why(found, list(_fused(found))[1])
    assert (second.verdict, second.fused) == (Verdict.CUT, 2)
    assert second.dense is not None


def test_a_unit_for_another_purpose_names_its_own(published, reader):
    page = posted(reader, unit=FOUND, purpose="rewriting")
    assert "Filter “what it is for”: asked for rewording the question" in page


def test_one_click_keeps_the_question_with_its_units(published, settings, tmp_path):
    shutil.copytree(published.home / "repositories", tmp_path / "repositories")
    settings.EVIDENCE = settings.EVIDENCE | {"home": tmp_path}
    curator = signed_in("curatrice", "Curators")
    kept = {"save": "1", "id": "nuova", "profile": "mixed", "expected": [FOUND]}
    assert curator.post(CONSOLE, ASKED | kept).status_code == 302
    again = curator.post(CONSOLE, ASKED | kept)
    assert again.status_code == 422
    assert "evaluation_question_refused" in again.content.decode()
    nothing = curator.post(CONSOLE, ASKED | kept | {"id": "altra", "expected": []})
    assert nothing.status_code == 422
    assert "at least one unit that the question must find" in nothing.content.decode()
    off = ASKED | {"query": "Che ore sono?", "save": "1", "profile": "off_topic"}
    assert curator.post(CONSOLE, off).status_code == 302
    bare = tmp_path / "repositories" / f"{SLUG}.git"
    stored = parse_evaluation(git(bare, "show", "main:evidence/evaluation.yaml"))
    assert stored.queries[-1].expected == (FOUND,)
    assert "Che ore sono?" in stored.off_topic


@pytest.mark.parametrize(
    ("profile", "state"), [("mixed", GapState.EXAMINED), ("off_topic", GapState.DISMISSED)]
)
def test_a_gap_is_settled_when_its_question_joins_the_exam(
    published, settings, tmp_path, profile, state
):
    shutil.copytree(published.home / "repositories", tmp_path / "repositories")
    settings.EVIDENCE = settings.EVIDENCE | {"home": tmp_path}
    now = timezone.now()
    for question in ("Come si riconosce un minore?", "Altro?"):
        Gap.objects.create(
            workspace=SLUG,
            question=question,
            question_key=gaps.key_of(question),
            purpose="sql_generation",
            first_asked_at=now,
            last_asked_at=now,
        )
    curator = signed_in("curatrice", "Curators")
    gap = Gap.objects.get(question__startswith="Come")
    page = curator.get(f"/admin/search_api/gap/{gap.pk}/change/").content.decode()
    names = "query|first_asked|purpose|top_n"
    sent = dict(re.findall(rf'type="hidden" name="({names})" value="(.*?)"', page))
    looked = curator.post(CONSOLE, sent).content.decode()
    assert f'name="first_asked" value="{gap.question}"' in looked
    assert gap.question not in curator.get(CONSOLE).content.decode()
    reworded = sent | {"query": "Quando un paziente è minorenne?"}
    kept = {"save": "1", "id": "minore", "profile": profile, "expected": [FOUND]}
    assert curator.post(CONSOLE, reworded | kept).status_code == 302
    gap.refresh_from_db()
    assert (gap.state, gap.decided_by) == (state, "curatrice")
    assert Gap.objects.get(question="Altro?").state == GapState.OPEN


def test_without_anybody_who_keeps_gaps_a_question_is_saved_all_the_same(
    published, settings, tmp_path, monkeypatch
):
    shutil.copytree(published.home / "repositories", tmp_path / "repositories")
    settings.EVIDENCE = settings.EVIDENCE | {"home": tmp_path}
    monkeypatch.setattr(plugged, "_open", [])
    kept = {"save": "1", "id": "nuova", "profile": "mixed", "expected": [FOUND]}
    assert signed_in("curatrice", "Curators").post(CONSOLE, ASKED | kept).status_code == 302


def _fused(found: Look) -> dict[str, None]:
    return dict.fromkeys(hit.payload.evidence_id for hit in found.found.fused)
