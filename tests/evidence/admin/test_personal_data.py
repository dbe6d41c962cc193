"""A model elsewhere reads personal data only when a person said so, on the page that asks."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from django.test import Client
from django.urls import reverse

from evidence import runs
from evidence.domain.runs import RunState
from evidence.environment import PiSettings
from evidence.models import PreparationRun, Workspace
from tests.evidence.admin.test_proposals import add
from tests.evidence.pi.stand_ins import obedient

pytestmark = pytest.mark.django_db

BUTTON = "The model may read these notes"


@pytest.fixture
def asked(workspace: Workspace, tmp_path: Path, settings: Any) -> PreparationRun:
    """Give a run of Pi that stopped at a note with an address in it."""
    pi = PiSettings(executable=str(obedient(tmp_path)), timeout_s=20)
    settings.EVIDENCE = settings.EVIDENCE | {"pi": pi, "restructurer": "pi"}
    add(workspace, "source/contatti.md", "Chiedere a paola.rossi@example.org.\n")
    run = runs.start_preparation(
        workspace=workspace.slug,
        requested_by="curators",
        restructurer="pi",
        only=("source/contatti.md",),
    )
    return runs.run_preparation(run.pk)


def page_of(client: Client, run: PreparationRun) -> str:
    return client.get(
        reverse("admin:evidence_preparationrun_change", args=[run.pk])
    ).content.decode()


def confirm(client: Client, run: PreparationRun) -> PreparationRun:
    """Press the button and give the run that is the newest then."""
    client.post(reverse("admin:evidence_preparationrun_confirm", args=[run.pk]))
    newest = PreparationRun.objects.first()
    assert newest is not None
    return newest


def test_the_page_of_the_run_asks_and_names_the_note(
    curator: Client, asked: PreparationRun
) -> None:
    assert (asked.state, asked.error["code"]) == (RunState.FAILED, "personal_data_suspected")
    page = page_of(curator, asked)
    assert BUTTON in page
    assert "source/contatti.md" in page
    assert "paola" not in page


def test_a_confirmed_run_reads_the_same_notes(curator: Client, asked: PreparationRun) -> None:
    again = confirm(curator, asked)
    assert again.pk != asked.pk
    assert again.only == ["source/contatti.md"]
    done = runs.run_preparation(again.pk)
    assert (done.state, done.report["model_calls"]) == (RunState.PROPOSED, 1)


def test_who_may_only_read_is_not_asked(reader: Client, asked: PreparationRun) -> None:
    assert BUTTON not in page_of(reader, asked)
    assert confirm(reader, asked).pk == asked.pk


def test_another_failure_cannot_be_confirmed_away(curator: Client, asked: PreparationRun) -> None:
    PreparationRun.objects.update(error={"code": "worker_lost", "message": "Lost."})
    asked.refresh_from_db()
    assert BUTTON not in page_of(curator, asked)
    assert confirm(curator, asked).pk == asked.pk


def test_no_run_starts_from_a_button_that_the_page_does_not_offer(
    curator: Client, asked: PreparationRun
) -> None:
    PreparationRun.objects.update(state=RunState.PROPOSED)
    assert confirm(curator, asked).pk == asked.pk
    curator.post(reverse("admin:evidence_preparationrun_again", args=[asked.pk]))
    assert PreparationRun.objects.count() == 1


def test_a_word_given_for_notes_as_they_were_does_not_hold_for_the_next_run(
    curator: Client, asked: PreparationRun
) -> None:
    PreparationRun.objects.filter(pk=asked.pk).update(
        personal_data_confirmed=True, error={"code": "pi_failed", "message": "", "path": ""}
    )
    curator.post(reverse("admin:evidence_preparationrun_again", args=[asked.pk]))
    newest = PreparationRun.objects.first()
    assert newest is not None
    assert newest.pk != asked.pk
    assert not newest.personal_data_confirmed
