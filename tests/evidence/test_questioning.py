"""The exam grows by a question somebody tried, and keeps what people wrote in its file."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from evidence import committing, conf, mirror, questioning
from evidence.domain.question_writing import Addition, with_addition
from evidence.domain.questions import EvaluationInvalid, Question, parse_evaluation
from evidence.domain.tree import EVALUATION_PATH
from evidence.models import PortalCommit, Workspace
from evidence.questioning import QuestionRefused
from tests.makers import CURATOR, a_corpus, a_unit, a_workspace, git, put, unit_file

UNIT = "evidence:eta"
FILE = """\
# L'esame della clinica: chiedere al dott. Neri prima di togliere domande.
schema_version: 1
queries:
- {id: uno, query: Un bambino?, profile: semantic, purpose: rewriting, expected: [evidence:eta]}
# Le prossime due vengono dal pronto soccorso.
- id: due
  query: "età"
  profile: lexical  # proprio la parola
  purpose: rewriting
  expected: [evidence:eta]
- id: tre
  query: Che età ha un bambino?
  profile: mixed
  purpose: rewriting
  expected:
  - evidence:eta

# Di questo non sappiamo niente.
off_topic:
  - Come si rammenda un calzino?
"""
NEW = {
    "id": "quattro",
    "query": "Quanti anni\nha: un neonato?",
    "profile": "semantic",
    "purpose": "sql_generation",
    "expected": [UNIT],
}


@pytest.fixture
def workspace(portal_home: Path) -> Workspace:
    path, data = unit_file(
        a_unit(UNIT, source="source/nota-0.md", text="La regola 0 vale per i pediatrici.\n")
    )
    extra = {f"evidence/{path}": data, f"evidence/{EVALUATION_PATH}": FILE.encode()}
    made = a_workspace(a_corpus(1) | extra)
    mirror.sync_workspace(made.slug)
    return made


def add(**changes: object) -> str:
    return questioning.add_question(workspace="clinica", fields=NEW | changes, author=CURATOR)


def stored() -> str:
    bare = conf.current().repository_path("clinica")
    return git(bare, "show", f"main:evidence/{EVALUATION_PATH}")


def addition(**changes: object) -> Addition:
    return Addition(question=Question.model_validate(NEW | changes))


def test_a_question_goes_behind_the_last_one_and_every_other_line_stays() -> None:
    grown = with_addition(FILE, addition())
    place = FILE.index("\n# Di questo")
    assert grown.startswith(FILE[:place] + "- id: quattro\n")
    assert grown.endswith(FILE[place:])
    assert parse_evaluation(grown).queries[-1].query == NEW["query"]


def test_an_off_topic_question_keeps_the_indentation_of_its_list() -> None:
    grown = with_addition(FILE, Addition(off_topic="Quanto dista la luna?"))
    assert grown == FILE + "  - Quanto dista la luna?\n"


def test_the_first_off_topic_question_begins_the_list() -> None:
    without = FILE.partition("\n# Di questo")[0]
    grown = with_addition(without + "\n", Addition(off_topic="yes: # no"))
    assert parse_evaluation(grown).off_topic == ("yes: # no",)
    assert grown.startswith(without)


@pytest.mark.parametrize(
    "text",
    [
        "{schema_version: 1, queries: [%s]}\n",
        "schema_version: 1\nqueries: [%s]\n",
        "queries: [%s]\nschema_version: 1\noff_topic: []\n",
    ],
)
def test_a_list_in_flow_style_is_written_anew(text: str) -> None:
    entry = "{id: %s, query: x, profile: %s, purpose: rewriting, expected: [evidence:eta]}"
    profiles = ("semantic", "lexical", "mixed")
    text %= ", ".join(entry % (profile, profile) for profile in profiles)
    for added in (addition(), Addition(off_topic="Che ore sono?")):
        assert parse_evaluation(with_addition(text, added)) == added.to(parse_evaluation(text))


@pytest.mark.parametrize("tail", ["", "\n", "\n\n\n", "\n# Fine.\n", "\n...\n"])
def test_whatever_ends_the_file_the_set_is_the_old_one_and_one_more(tail: str) -> None:
    text = FILE.partition("\n# Di questo")[0].rstrip("\n") + tail
    for added in (addition(), Addition(off_topic="Che ore sono?")):
        assert parse_evaluation(with_addition(text, added)) == added.to(parse_evaluation(text))


def test_a_file_with_other_line_ends_or_a_bom_is_understood() -> None:
    text = "\ufeff" + FILE.replace("\n", "\r\n")
    assert len(parse_evaluation(with_addition(text, addition())).queries) == 4


@pytest.mark.django_db
def test_adding_is_one_commit_by_the_person_and_on_record(workspace: Workspace) -> None:
    made = add()
    row = PortalCommit.objects.get(commit=made)
    assert (row.username, row.action) == (CURATOR.username, "add-question")
    assert parse_evaluation(stored()).queries[-1].id == "quattro"
    assert "chiedere al dott. Neri" in stored()
    assert Workspace.objects.get().mirrored_commit == made


@pytest.mark.django_db
def test_an_off_topic_question_is_one_commit_too(workspace: Workspace) -> None:
    questioning.add_off_topic(workspace="clinica", query=" Che ore sono?", author=CURATOR)
    assert parse_evaluation(stored()).off_topic[-1].strip() == "Che ore sono?"


@pytest.mark.django_db
@pytest.mark.parametrize(
    "wrong",
    [
        {"id": "due"},
        {"id": ""},
        {"id": "a\nb"},
        {"query": " "},
        {"query": "x" * 20_001},
        {"query": "\x00"},
        {"profile": "vague"},
        {"purpose": "synthesis"},
        {"expected": []},
        {"expected": ["evidence:nessuna"]},
        {"expected": ["../../x"]},
    ],
)
def test_what_cannot_be_a_question_is_refused_and_nothing_is_committed(
    workspace: Workspace, wrong: dict[str, object]
) -> None:
    before = stored()
    with pytest.raises(QuestionRefused):
        add(**wrong)
    assert stored() == before


@pytest.mark.django_db
@pytest.mark.parametrize("query", ["", " ", "x" * 20_001, "\x07", "Come si rammenda un calzino?"])
def test_what_cannot_be_off_topic_is_refused(workspace: Workspace, query: str) -> None:
    with pytest.raises(QuestionRefused):
        questioning.add_off_topic(workspace="clinica", query=query, author=CURATOR)


@pytest.mark.django_db
def test_a_broken_or_missing_set_is_said(workspace: Workspace) -> None:
    bare = conf.current().repository_path("clinica")
    put(bare, {f"evidence/{EVALUATION_PATH}": b"queries: ["})
    with pytest.raises(EvaluationInvalid):
        add()
    put(bare, {f"evidence/{EVALUATION_PATH}": None})
    with pytest.raises(QuestionRefused):
        add()


@pytest.mark.django_db
def test_a_question_that_another_curator_adds_at_the_same_moment_is_kept(
    workspace: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    overtaken: list[str] = []

    def slow(**arguments: Any) -> str:
        if not overtaken:
            overtaken.append("cinque")
            add(id="cinque")
        return committing.commit(**arguments)

    monkeypatch.setattr("evidence.questioning.commit", slow)
    add(id="quattro")
    assert [each.id for each in parse_evaluation(stored()).queries][3:] == ["cinque", "quattro"]
