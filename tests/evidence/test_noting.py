"""The reasons of curators reach the next preparation of the sources they were about."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from django.utils import timezone

from evidence import amending, conf, noting, plugged, proposals, runs
from evidence.domain.runs import RunState
from evidence.domain.units import EvidenceKind, EvidencePurpose, EvidenceScope
from evidence.models import PreparationRun, Workspace
from evidence.ports import RestructureCandidate, RestructureRequest
from tests.fakes import ScriptedRestructurer
from tests.makers import CURATOR, a_workspace, put, yaml_of_workspace

pytestmark = pytest.mark.django_db

DISCHARGE = b"Dimissione: uscita dal reparto.\n"
WARD = b"UO: il reparto.\n"


@pytest.fixture
def workspace(portal_home: Path) -> Workspace:
    return a_workspace(
        {
            "workspace.yaml": yaml_of_workspace(),
            "evidence/source/dimissioni.md": DISCHARGE,
            "evidence/source/reparti.md": WARD,
        }
    )


@pytest.fixture
def asked() -> Iterator[ScriptedRestructurer]:
    """Give the restructurer that every preparation of the test asks."""
    model = ScriptedRestructurer(_one_unit)
    plugs = plugged._plugs()
    plugged.fill(replace(plugs, restructurer=lambda _: model))
    yield model
    plugged.fill(plugs)


def _one_unit(request: RestructureRequest) -> tuple[RestructureCandidate, ...]:
    known = request.previous_units[0].id if request.previous_units else None
    text = request.normalized_text.strip()
    return (
        RestructureCandidate(
            existing_id=known,
            title=text.partition(":")[0],
            kind=EvidenceKind.GLOSSARY,
            purposes=(EvidencePurpose.DISAMBIGUATION,),
            scope=EvidenceScope(),
            excerpts=(text,),
            payload={"term": text.partition(":")[0], "definition": text},
        ),
    )


Propose = Callable[..., PreparationRun]


@pytest.fixture
def propose(workspace: Workspace, asked: ScriptedRestructurer) -> Propose:
    def run(*only: str) -> PreparationRun:
        started = runs.start_preparation(
            workspace=workspace.slug, requested_by="curatrice", restructurer="any", only=only
        )
        made = runs.run_preparation(started.pk)
        assert made.state == RunState.PROPOSED, made.error
        return made

    return run


def notes_of(asked: ScriptedRestructurer, name: str) -> tuple[str, ...]:
    """Give the notes of the last request about a source."""
    return [each for each in asked.requests if each.source_file == f"source/{name}"][
        -1
    ].curator_notes


def test_why_a_proposal_was_discarded_reaches_the_next_request(
    propose: Propose, asked: ScriptedRestructurer
) -> None:
    proposals.discard(run=propose(), author=CURATOR, reason="Troppo vaga.")
    proposals.discard(run=propose(), author=CURATOR, reason="Ancora vaga.")
    propose()
    assert notes_of(asked, "dimissioni.md") == ("Ancora vaga.", "Troppo vaga.")
    assert notes_of(asked, "reparti.md") == ("Ancora vaga.", "Troppo vaga.")


def test_a_reason_outlasts_many_decisions_about_other_notes(
    workspace: Workspace, propose: Propose, asked: ScriptedRestructurer
) -> None:
    proposals.discard(run=propose("source/reparti.md"), author=CURATOR, reason="Manca il codice.")
    PreparationRun.objects.bulk_create(
        PreparationRun(
            workspace=workspace,
            state=RunState.DISCARDED,
            only=["source/dimissioni.md"],
            discard_reason=f"Numero {number}.",
            finished_at=timezone.now(),
        )
        for number in range(60)
    )
    propose()
    assert notes_of(asked, "reparti.md") == ("Manca il codice.",)
    assert len(notes_of(asked, "dimissioni.md")) == noting.MAX_NOTES


def test_a_reason_is_told_about_no_other_source(
    propose: Propose, asked: ScriptedRestructurer
) -> None:
    proposals.discard(run=propose("source/reparti.md"), author=CURATOR, reason="Manca il codice.")
    propose()
    assert notes_of(asked, "reparti.md") == ("Manca il codice.",)
    assert notes_of(asked, "dimissioni.md") == ()


def test_an_accepted_proposal_settles_what_was_said_before(
    workspace: Workspace, propose: Propose, asked: ScriptedRestructurer
) -> None:
    proposals.discard(run=propose(), author=CURATOR, reason="Troppo vaga.")
    proposals.accept(run=propose("source/reparti.md"), author=CURATOR)
    changed = {"evidence/source/reparti.md": b"UO: il reparto di degenza.\n"}
    put(conf.current().repository_path(workspace.slug), changed)
    propose()
    assert notes_of(asked, "reparti.md") == ()
    assert notes_of(asked, "dimissioni.md") == ("Troppo vaga.",)


def test_a_note_that_was_left_out_keeps_what_was_said_about_it(
    propose: Propose, asked: ScriptedRestructurer
) -> None:
    proposals.discard(run=propose(), author=CURATOR, reason="Troppo vaga.")
    run = propose()
    amending.drop_unit(run=run, evidence_id="evidence:uo", reason="Non è un termine.")
    proposals.accept(run=run, author=CURATOR, sources=["source/dimissioni.md"])
    propose()
    assert notes_of(asked, "reparti.md") == ("evidence:uo: Non è un termine.", "Troppo vaga.")


def test_why_a_unit_was_taken_out_is_told_about_its_source_alone(
    workspace: Workspace, propose: Propose, asked: ScriptedRestructurer
) -> None:
    run = propose()
    amending.drop_unit(run=run, evidence_id="evidence:uo", reason=" Non è un termine. ")
    proposals.accept(run=run, author=CURATOR)
    files: dict[str, bytes | None] = {
        "evidence/source/reparti.md": b"UO: il reparto di degenza.\n",
        "evidence/source/dimissioni.md": b"Dimissione: uscita.\n",
    }
    put(conf.current().repository_path(workspace.slug), files)
    propose()
    assert notes_of(asked, "reparti.md") == ("evidence:uo: Non è un termine.",)
    assert notes_of(asked, "dimissioni.md") == ()


def test_only_the_latest_reasons_are_told_and_none_without_end(
    propose: Propose, asked: ScriptedRestructurer
) -> None:
    for number in range(noting.MAX_NOTES + 1):
        proposals.discard(run=propose(), author=CURATOR, reason=f"{number} " + "x" * 2_000)
    propose()
    notes = notes_of(asked, "reparti.md")
    assert [note[:2] for note in notes] == ["5 ", "4 ", "3 ", "2 ", "1 "]
    assert {len(note) for note in notes} == {noting.MAX_NOTE_CHARS}


def test_a_run_too_large_to_list_its_sources_concerns_all_of_them(workspace: Workspace) -> None:
    PreparationRun.objects.create(
        workspace=workspace,
        state=RunState.DISCARDED,
        discard_reason="Tutto da rifare.",
        finished_at=timezone.now(),
        report={"changed": ["source/a.md"], "omitted": {"changed": 7}},
    )
    assert noting.curator_notes(workspace, ["source/z.md"]) == {
        "source/z.md": ("Tutto da rifare.",)
    }
