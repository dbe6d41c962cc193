"""A worker killed with -9 at any moment and at each step (spec 90, Figures: publication)."""

from __future__ import annotations

import random
import time
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path
from threading import Event, Thread
from uuid import UUID

import pytest
from django.contrib.auth import get_user_model
from django.db import connection
from pytest_django import Settings

from evidence.ports import Actor
from publishing import publication, retrieval, wiring
from publishing.adapters.openai import OpenAIEmbedder
from publishing.adapters.qdrant_edge import QdrantEdgeStore
from publishing.domain.digests import PointsSummary
from publishing.domain.lifecycle import GenerationState
from publishing.domain.points import Point, points_digest
from publishing.domain.query import build_request
from publishing.models import Generation
from publishing.ports import EXAM_S, Beat, StoredGeneration, no_beat
from publishing.retrieval import Available
from tests.embedding_servers import EmbeddingStandIn, embedding_stand_in
from tests.publishing.making import (
    SLUG,
    TERMS,
    WORKSPACE_YAML,
    Registered,
    a_registered,
    an_approver,
    close_store,
    workspace_files,
)
from tests.robustness.counts import times
from tests.robustness.figures import Figures
from tests.robustness.programs import Program
from tests.robustness.published import Found, look, states

KILLS = 50
LONG_AGO = datetime(2026, 1, 1, tzinfo=UTC)
TERM = "codice triage"
QUESTION = build_request({"query": f"Che cosa si intende per {TERM}?", "purpose": "sql_generation"})
KEEP_TWO = WORKSPACE_YAML + "publication:\n  retained_generations: 2\n"
EDGE = "publishing.adapters.qdrant_edge:"
STEPS: Sequence[str] = (
    "after 1 publishing.leases:claim",
    "before 1 evidence.adapters.git:GitRepository.pin",
    "after 1 evidence.adapters.git:GitRepository.pin",
    "before 1 publishing.adapters.openai:OpenAIEmbedder.embed_documents",
    "after 1 publishing.adapters.openai:OpenAIEmbedder.embed_documents",
    "after 1 publishing.vectors:embed_missing",
    "after 1 publishing.adapters.edge_filling:_message",
    "before 1 publishing.adapters.edge_program:FillingProgram.answer",
    "after 1 publishing.adapters.edge_program:FillingProgram.answer",
    f"after 1 {EDGE}seal_folder",
    f"after 1 {EDGE}_replace",
    "before 1 publishing.leases:Hold.move",
    "after 1 publishing.leases:Hold.move",
    "after 2 publishing.evaluation:search_generation",
    "after 1 publishing.evaluation:record",
    "after 2 publishing.leases:Hold.move",
    "after 1 publishing.activation:_check_approval",
    "after 1 publishing.transitions:close_approval",
    "after 1 publishing.activation:_point_at",
    "after 1 publishing.activation:activate",
    "after 1 publishing.retention:mark_after_activation",
    f"before 1 {EDGE}QdrantEdgeStore.delete",
    f"after 1 {EDGE}QdrantEdgeStore.delete",
    "before 1 publishing.retention:sweep_vectors",
)
"""Where a worker dies: each step of build, exam, activation and cleaning up."""


def meaning(version: int) -> str:
    return f"Colore assegnato in triage, nella versione {version}."


@dataclass
class Readers:
    """Somebody who asks all the time, and judges each answer by the revision it names."""

    versions: dict[str, int] = field(default_factory=dict)
    asked: int = 0
    wrong: list[str] = field(default_factory=list)

    @contextmanager
    def asking(self) -> Iterator[None]:
        ended = Event()
        thread = Thread(target=self._ask_until, args=(ended,))
        thread.start()
        try:
            yield
        finally:
            ended.set()
            thread.join()

    def _ask_until(self, ended: Event) -> None:
        try:
            while not ended.is_set():
                self._judge()
                time.sleep(0.01)
        finally:
            connection.close()

    def _judge(self) -> None:
        self.asked += 1
        outcome = retrieval.search(SLUG, QUESTION)
        if not isinstance(outcome, Available):
            self.wrong.append(outcome.code)
        elif meaning(self.versions[outcome.revision]) not in outcome.results[0].fragments[0].text:
            self.wrong.append(f"another text than revision {outcome.revision} has")


@dataclass
class Place:
    """A workspace with something active, whose next revisions are published by killed workers."""

    workspace: Registered
    approver: Actor
    readers: Readers
    home: Path
    settings: dict[str, str]
    version: int = 0

    def program(self) -> Program:
        return Program("publisher", self.home, **self.settings)

    def candidate(self) -> UUID:
        """Change one unit, approve the revision, and give its generation."""
        self.version += 1
        files = workspace_files({**TERMS, TERM: meaning(self.version)}, workspace_yaml=KEEP_TWO)
        revision = self.workspace.commit(dict(files))
        self.readers.versions[revision] = self.version
        return self.workspace.approve(self.approver).generation

    def resume(self, generation: UUID) -> Generation:
        """Let the lease of the dead run out, and let another worker go on."""
        Generation.objects.filter(pk=generation).exclude(lease_owner="").update(
            lease_expires_at=LONG_AGO
        )
        publication.finish(generation, parts=wiring.parts())
        publication.tidy(parts=wiring.parts())
        return Generation.objects.get(pk=generation)

    def look(self, generation: Generation) -> Found:
        terms = {**TERMS, TERM: meaning(self.version)}
        return look(self.home, generation, terms, aside=self.home / "aside")


@pytest.fixture
def embedder() -> Iterator[EmbeddingStandIn]:
    with embedding_stand_in() as double:
        yield double


@pytest.fixture
def place(
    transactional_db: None, portal_home: Path, settings: Settings, embedder: EmbeddingStandIn
) -> Iterator[Place]:
    """Publish the first version in peace."""
    http = {"embedder": "openai", "embedder_url": embedder.url, "embedder_model": "words"}
    settings.PUBLISHING = settings.PUBLISHING | http
    get_user_model().objects.create_user("ada", email="ada@example.org")
    told = {f"PORTAL_{name.upper()}": value for name, value in http.items()}
    told["DATABASE_NAME"] = str(connection.settings_dict["NAME"])
    workspace = a_registered(portal_home, single_approver=True)
    made = Place(workspace, an_approver(), Readers(), portal_home, told)
    assert made.resume(made.candidate()).state == GenerationState.ACTIVE
    yield made
    close_store()
    for spoken_to in (wiring.embedder(), wiring._embedder(EXAM_S)):
        assert isinstance(spoken_to, OpenAIEmbedder)
        spoken_to.close()


def plan() -> list[str | float]:
    """Say how each worker dies: at a step, or after a share of the time that it needs."""
    chance = random.Random(50)  # noqa: S311
    moments = [chance.random() for _ in range(KILLS - len(STEPS))]
    every: list[str | float] = [*STEPS, *moments]
    return every[:: KILLS // times(KILLS)]


def killed(program: Program, generation: UUID, death: str | float, *, window: float) -> None:
    """Let a worker take the generation up, and make sure that it dies."""
    if isinstance(death, str):
        program.tell(generation=str(generation), spot=death)
        assert program.hear() is None, f"it did not die: {death}"
    else:
        program.tell(generation=str(generation))
        time.sleep(death * window)
    program.kill()


def test_fifty_killed_workers_lose_double_and_hide_nothing(place: Place, figures: Figures) -> None:
    ends: list[str] = []
    found: list[Found] = []
    with place.readers.asking():
        window = undisturbed(place)
        coming = place.program()
        for death in plan():
            program, coming = coming, place.program()
            program.ready()
            generation = place.candidate()
            killed(program, generation, death, window=window)
            row = place.resume(generation)
            ends.append(row.state)
            found.append(place.look(row))
        coming.kill()
    assert states()["active"] == 1
    readers = place.readers
    figures.measured(
        "publication",
        f"{len(ends)} kills: {ends.count('active')} resumed, {len(readers.wrong)} of"
        f" {readers.asked} answers missing or wrong, {sum(one.lost for one in found)} lost,"
        f" {sum(one.doubled for one in found)} doubled, {sum(one.litter for one in found)} left",
        holds=set(ends) == {"active"}
        and not readers.wrong
        and readers.asked > len(ends)
        and all(one.is_clean for one in found),
    )


def undisturbed(place: Place) -> float:
    """Give how long a worker needs that nobody kills."""
    with place.program() as program:
        program.ready()
        generation = place.candidate()
        began = time.monotonic()
        assert program.ask(generation=str(generation)) == "active"
        return time.monotonic() - began


def test_a_task_that_kills_its_worker_each_time_ends_and_leaves_the_active_one(
    place: Place, figures: Figures
) -> None:
    active = Generation.objects.get(state=GenerationState.ACTIVE)
    generation = place.candidate()
    with place.readers.asking():
        for _ in range(3):
            with place.program() as program:
                program.ready()
                killed(program, generation, STEPS[6], window=0)
            Generation.objects.filter(pk=generation).update(lease_expires_at=LONG_AGO)
        row = place.resume(generation)
    active.refresh_from_db()
    folder = place.home / "vectors" / SLUG / str(generation)
    figures.measured(
        "publication",
        f"a task that kills its worker each time: {row.error_code} at the fourth try",
        holds=(row.state, row.error_code) == (GenerationState.FAILED, "tries_exhausted")
        and active.state == GenerationState.ACTIVE
        and not folder.exists()
        and not place.readers.wrong,
    )


def test_a_search_during_eight_activations_is_always_answered(
    place: Place, figures: Figures
) -> None:
    with place.readers.asking():
        ends = [place.resume(place.candidate()).state for _ in range(8)]
    readers = place.readers
    figures.measured(
        "publication",
        f"eight activations: {len(readers.wrong)} of {readers.asked} answers missing or wrong",
        holds=ends == ["active"] * 8 and not readers.wrong and readers.asked > len(ends),
    )


class Forgetful(QdrantEdgeStore):
    """Keeps all but the last point, and swears that it kept them all."""

    lied: PointsSummary

    def build(
        self,
        generation: StoredGeneration,
        points: Iterable[Sequence[Point]],
        *,
        beat: Beat = no_beat,
    ) -> PointsSummary:
        every = [point for batch in points for point in batch]
        super().build(generation, [self.kept(every)], beat=beat)
        self.lied = points_digest((point.id, point.payload) for point in every)
        return self.lied

    def summary(self, generation: StoredGeneration, *, beat: Beat = no_beat) -> PointsSummary:
        return self.lied

    def kept(self, points: list[Point]) -> list[Point]:
        return points[:-1]


class Doubling(Forgetful):
    """Keeps the last point under a second id too."""

    def kept(self, points: list[Point]) -> list[Point]:
        return [*points, replace(points[-1], id=UUID(int=7))]


@pytest.mark.parametrize(
    ("bug", "store", "seen"),
    [
        ("a build that loses a point", Forgetful, Found(lost=1, doubled=0, litter=0)),
        ("a build that doubles a point", Doubling, Found(lost=0, doubled=1, litter=0)),
    ],
)
def test_a_lost_and_a_doubled_point_are_noticed(
    place: Place, figures: Figures, bug: str, store: type[Forgetful], seen: Found
) -> None:
    parts = replace(wiring.parts(), store=store(place.home))
    generation = place.candidate()
    publication.finish(generation, parts=parts)
    row = Generation.objects.get(pk=generation)
    figures.caught("publication", bug, noticed=place.look(row) == seen)


def test_a_pointer_that_moves_before_the_build_is_done_is_noticed(
    place: Place, figures: Figures
) -> None:
    with place.readers.asking():
        generation = place.candidate()
        rows = Generation.objects.filter(workspace=SLUG)
        rows.filter(state="active").update(state="superseded")
        rows.filter(pk=generation).update(state="active")
        deadline = time.monotonic() + 10
        while not place.readers.wrong and time.monotonic() < deadline:
            time.sleep(0.02)
    noticed = bool(place.readers.wrong)
    figures.caught("publication", "a pointer that moves before the build", noticed=noticed)
