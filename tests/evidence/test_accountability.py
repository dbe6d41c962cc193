"""How each note was read and what became of each unit is kept with the run (spec 20)."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import pytest
from django.utils import timezone

from evidence import amending, mirror, plugged, proposals, rates, runs
from evidence.domain.proposed import UnitChange, UnitOutcome
from evidence.domain.readings import Reading, ReadingOutcome
from evidence.domain.runs import RunState
from evidence.domain.units import EvidenceKind, EvidencePurpose, EvidenceScope
from evidence.models import PreparationRun, ProposedUnit, SourceReading, Workspace
from evidence.ports import RestructureCandidate, RestructureRequest, RestructuringFailed
from evidence.rates import Reader
from evidence.restructuring import ask_all, no_progress
from tests.evidence.amendable import a_proposal, push, stored
from tests.makers import CURATOR, a_workspace, yaml_of_workspace

pytestmark = pytest.mark.django_db

NAMES = ("a", "b", "c")


class FarModel:
    """A model elsewhere: answers with one unit a note, or fails at the notes it is told to."""

    name = "far"
    local = False
    model = "qwen-35b"
    skill_digest = "sha256:" + "5" * 64

    def __init__(self) -> None:
        self.fails: set[str] = set()
        self.says = "la voce"
        self.asked: list[str] = []
        self._lock = threading.Lock()

    def restructure(self, request: RestructureRequest) -> tuple[RestructureCandidate, ...]:
        with self._lock:
            self.asked.append(request.source_file)
        if request.source_file in self.fails:
            raise RestructuringFailed("no answer")
        text = request.normalized_text.strip()
        term = text.partition(":")[0]
        known = request.previous_units[0].id if request.previous_units else None
        unit = RestructureCandidate(
            existing_id=known,
            title=term,
            kind=EvidenceKind.GLOSSARY,
            purposes=(EvidencePurpose.DISAMBIGUATION,),
            scope=EvidenceScope(),
            excerpts=(text,),
            payload={"term": term, "definition": self.says},
        )
        return (unit,)


@pytest.fixture
def model() -> Iterator[FarModel]:
    made, plugs = FarModel(), plugged._plugs()
    plugged.fill(replace(plugs, restructurer=lambda _: made))
    yield made
    plugged.fill(plugs)


@pytest.fixture
def workspace(portal_home: Path) -> Workspace:
    notes = {f"evidence/source/{name}.md": said(name) for name in NAMES}
    made = a_workspace({"workspace.yaml": yaml_of_workspace(), **notes})
    mirror.sync_workspace(made.slug)
    return made


def said(name: str, more: str = "") -> bytes:
    return f"Voce {name}: il significato di {name}{more}.\n".encode()


def prepared(workspace: Workspace) -> PreparationRun:
    asked = runs.start_preparation(
        workspace=workspace.slug, requested_by="curatrice", restructurer="far"
    )
    return runs.run_preparation(asked.pk)


def readings(run: PreparationRun) -> dict[str, tuple[str, str, int]]:
    rows = SourceReading.objects.filter(run=run, attempt=run.attempts)
    return {row.source_file: (row.outcome, row.code, row.units) for row in rows}


def outcomes(run: PreparationRun) -> dict[str, str]:
    return {row.evidence_id: row.outcome for row in run.units.all()}


def test_each_note_that_was_asked_about_has_a_row(workspace: Workspace, model: FarModel) -> None:
    run = prepared(workspace)
    assert readings(run) == {f"source/{name}.md": ("asked", "", 1) for name in NAMES}
    row = SourceReading.objects.filter(run=run)[0]
    assert (row.restructurer, row.model, row.skill_digest) == (
        "far",
        model.model,
        model.skill_digest,
    )
    assert row.duration_ms is not None


def test_a_note_that_failed_is_on_record_and_a_rerun_asks_about_it_alone(
    workspace: Workspace, model: FarModel
) -> None:
    model.fails = {"source/c.md"}
    failed = prepared(workspace)
    assert (failed.state, failed.error["path"]) == (RunState.FAILED, "source/c.md")
    told = readings(failed)
    assert told["source/c.md"] == ("failed", "restructuring_failed", 0)
    assert {path: told[path][0] for path in told} == {
        "source/a.md": "asked",
        "source/b.md": "asked",
        "source/c.md": "failed",
    }
    model.fails, model.asked = set(), []
    again = prepared(workspace)
    assert again.state == RunState.PROPOSED
    assert model.asked == ["source/c.md"]
    assert readings(again) == {
        "source/a.md": ("cached", "", 1),
        "source/b.md": ("cached", "", 1),
        "source/c.md": ("asked", "", 1),
    }
    kept = SourceReading.objects.get(run=again, source_file="source/a.md")
    assert kept.duration_ms is None


def test_calls_that_still_ran_when_another_failed_are_on_record(portal_home: Path) -> None:
    """Forced: the failure of one comes while the other one still runs."""
    both, failed = threading.Barrier(2), threading.Event()

    def ask(request: RestructureRequest) -> tuple[RestructureCandidate, ...]:
        both.wait(10)
        if request.source_file == "source/a.md":
            raise RestructuringFailed("no answer")
        assert failed.wait(10)
        return ()

    def witness(reading: Reading) -> None:
        told.append(reading)
        failed.set()

    told: list[Reading] = []
    requests = [
        RestructureRequest(f"source/{name}.md", "sha256:x", "x", "it") for name in ("a", "b", "c")
    ]
    with pytest.raises(RestructuringFailed):
        ask_all(ask, requests, concurrency=2, progress=no_progress, witness=witness)
    ends = {reading.source_file: reading.outcome for reading in told}
    assert ends["source/a.md"] == ReadingOutcome.FAILED
    assert ends["source/b.md"] == ReadingOutcome.ASKED


def test_a_note_that_may_not_leave_is_refused_and_blames_no_model(
    workspace: Workspace, model: FarModel
) -> None:
    push(workspace, {"evidence/source/b.md": b"Scrivere a mario.rossi@example.org.\n"})
    run = prepared(workspace)
    assert readings(run) == {"source/b.md": ("refused", "personal_data_suspected", 0)}
    assert model.asked == []
    assert [rate.failed for rate in rates.rates()] == [0]


def test_a_run_that_fails_before_any_note_has_no_rows(
    workspace: Workspace, model: FarModel
) -> None:
    push(workspace, {"evidence/manifest.yaml": b"sources: ["})
    assert prepared(workspace).state == RunState.FAILED
    assert not SourceReading.objects.exists()


def test_a_lost_worker_leaves_its_rows_to_the_attempt_it_was(
    workspace: Workspace, model: FarModel
) -> None:
    asked = runs.start_preparation(workspace="clinica", requested_by="x", restructurer="far")
    past = timezone.now() - timedelta(minutes=1)
    PreparationRun.objects.update(state=RunState.RUNNING, leased_until=past, attempts=1)
    SourceReading.objects.create(
        run=asked, attempt=1, source_file="source/a.md", restructurer="far", outcome="asked"
    )
    run = runs.run_preparation(asked.pk)
    assert run.attempts == 2
    assert len(readings(run)) == 3
    assert SourceReading.objects.count() == 4


def test_names_that_are_too_long_are_cut_and_stop_nothing(
    workspace: Workspace, model: FarModel
) -> None:
    model.model, model.skill_digest = "m" * 500, "s" * 500
    assert prepared(workspace).state == RunState.PROPOSED
    row = SourceReading.objects.all()[0]
    assert (len(row.model), len(row.skill_digest)) == (200, 80)


def test_every_unit_ends_as_the_curator_decided(workspace: Workspace, model: FarModel) -> None:
    run = prepared(workspace)
    assert set(outcomes(run).values()) == {"open"}
    text, blob = stored(run, "evidence:voce-a")
    better = text.replace("definition: la voce", "definition: la voce, spiegata bene")
    amending.edit_unit(
        run=run, evidence_id="evidence:voce-a", text=better, blob=blob, author=CURATOR
    )
    amending.drop_unit(run=run, evidence_id="evidence:voce-b", reason="No.")
    proposals.accept(run=run, author=CURATOR)
    assert outcomes(run) == {
        "evidence:voce-a": "edited",
        "evidence:voce-b": "dropped",
        "evidence:voce-c": "accepted",
    }


def test_settling_a_doubt_alone_is_no_edit_of_the_unit(
    workspace: Workspace, model: FarModel
) -> None:
    run = prepared(workspace)
    text, blob = stored(run, "evidence:voce-a")
    doubtful = text.replace("---\n", "---\nreview_items:\n- code: x\n  message: Davvero?\n", 1)
    amending.edit_unit(
        run=run, evidence_id="evidence:voce-a", text=doubtful, blob=blob, author=CURATOR
    )
    proposals.accept(run=run, author=CURATOR)
    assert outcomes(run)["evidence:voce-a"] == "accepted"


def test_an_edit_that_was_taken_back_is_none(workspace: Workspace, model: FarModel) -> None:
    run = prepared(workspace)
    for before, after in (("la voce", "altro"), ("altro", "la voce")):
        text, blob = stored(run, "evidence:voce-a")
        changed = text.replace(f"definition: {before}", f"definition: {after}")
        amending.edit_unit(
            run=run, evidence_id="evidence:voce-a", text=changed, blob=blob, author=CURATOR
        )
    proposals.accept(run=run, author=CURATOR)
    assert outcomes(run)["evidence:voce-a"] == "accepted"


def test_units_of_a_note_that_was_left_out_are_not_decided(
    workspace: Workspace, model: FarModel
) -> None:
    run = prepared(workspace)
    proposals.accept(run=run, author=CURATOR, sources=["source/a.md"])
    assert outcomes(run) == {
        "evidence:voce-a": "accepted",
        "evidence:voce-b": "left_out",
        "evidence:voce-c": "left_out",
    }


def test_discarding_drops_every_unit(workspace: Workspace, model: FarModel) -> None:
    run = prepared(workspace)
    proposals.discard(run=run, author=CURATOR, reason="No.")
    assert set(outcomes(run).values()) == {"dropped"}


def test_what_is_new_changed_confirmed_or_kept_is_told_apart(workspace: Workspace) -> None:
    note = "Ricovero ordinario: ricovero con pernottamento.\n"
    push(workspace, {"evidence/source/a.md": note.encode()})
    proposals.accept(run=a_proposal(workspace), author=CURATOR)
    push(
        workspace,
        {
            "evidence/source/a.md": f"{note}\nAltro paragrafo.\n".encode(),
            "evidence/source/b.md": b"Tutto diverso.\n",
            "evidence/source/d.md": said("d"),
        },
    )
    changes = {row.source_file: row.change for row in a_proposal(workspace).units.all()}
    assert changes == {
        "source/a.md": UnitChange.CONFIRMED,
        "source/b.md": UnitChange.KEPT,
        "source/d.md": UnitChange.NEW,
    }


def test_a_renamed_note_has_units_and_no_reading(workspace: Workspace, model: FarModel) -> None:
    proposals.accept(run=prepared(workspace), author=CURATOR)
    push(workspace, {"evidence/source/a.md": None, "evidence/source/z.md": said("a")})
    run = prepared(workspace)
    unit = run.units.get(evidence_id="evidence:voce-a")
    assert (unit.reading, unit.change) == (None, UnitChange.CONFIRMED)
    assert readings(run) == {}


def test_rates_say_what_the_rows_say(workspace: Workspace, model: FarModel) -> None:
    model.fails = {"source/c.md"}
    prepared(workspace)
    model.fails = set()
    run = prepared(workspace)
    amending.drop_unit(run=run, evidence_id="evidence:voce-b", reason="No.")
    proposals.accept(run=run, author=CURATOR)
    for milliseconds, row in zip((100, 200, 900, 1000), _called(), strict=True):
        SourceReading.objects.filter(pk=row.pk).update(duration_ms=milliseconds)
    model.model = "other"
    push(workspace, {"evidence/source/a.md": said("a", " e altro")})
    model.says = "un'altra voce"
    proposals.discard(run=prepared(workspace), author=CURATOR, reason="No.")

    newest, oldest = rates.rates()
    assert newest.reader == Reader("far", "other", model.skill_digest)
    assert (newest.runs, newest.sources, newest.called, newest.failed) == (1, 1, 1, 0)
    assert newest.units == {UnitOutcome.DROPPED: 1}
    assert oldest.reader.model == "qwen-35b"
    assert (oldest.runs, oldest.sources, oldest.called, oldest.failed) == (2, 6, 4, 1)
    assert (oldest.failed_share, oldest.median_ms) == (0.25, 550)
    assert oldest.units == {UnitOutcome.ACCEPTED: 2, UnitOutcome.DROPPED: 1}
    assert oldest.decided == 3
    assert {reader.model for reader in rates.readers()} == {"other", "qwen-35b"}


def _called() -> list[SourceReading]:
    return list(SourceReading.objects.exclude(outcome="cached").order_by("pk"))


def test_without_any_call_there_is_no_share_and_no_median() -> None:
    rate = rates.Rate(Reader("rules"), runs=0, sources=0, called=0, failed=0, median_ms=None)
    assert (rate.failed_share, rate.decided) == (None, 0)
    assert rates.rates() == ()


def test_rows_go_with_their_run(workspace: Workspace, model: FarModel) -> None:
    prepared(workspace).delete()
    assert not SourceReading.objects.exists()
    assert not ProposedUnit.objects.exists()
