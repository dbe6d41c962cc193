"""Any course of a session against an oracle of its own, and writers that come at one instant."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from threading import Barrier
from typing import Any
from uuid import UUID

import pytest
from django.db import connection
from django.utils import timezone
from hypothesis import given, settings
from hypothesis import strategies as st

from search_api import formula_proposals, receipts, sessions
from search_api.models import FormulaProposal, HarnessSession, ProposalState, ReturnedUnit
from search_api.session_schemas import ProposedFormula, Receipt
from search_api.stages import Stage, purpose_of
from tests.search_api.test_sessions import FORMULA

ORDER = ["clarification", "rewriting", "schema_linking", "cte", "final_sql"]
"""The oracle's own table: the order that the specification gives."""
NAMES = st.sampled_from(["a", "b"])
OWNERS = st.sampled_from(["first", "second"])
STAGES = st.sampled_from(ORDER)
UNITS = st.lists(st.sampled_from(["evidence:x", "evidence:y", "evidence:z"]), unique=True)
STEPS = st.lists(
    st.one_of(
        st.tuples(st.just("put"), NAMES, OWNERS, STAGES, UNITS),
        st.tuples(st.just("propose"), NAMES, OWNERS, STAGES, st.booleans()),
        st.tuples(st.just("back"), NAMES, OWNERS, STAGES, st.none()),
    ),
    max_size=25,
)


class Oracle:
    """What a session must hold, said once more with plain dictionaries."""

    def __init__(self) -> None:
        self.owners: dict[str, str] = {}
        self.receipts: dict[str, dict[str, list[str]]] = {"a": {}, "b": {}}
        self.proposals: list[dict[str, Any]] = []

    def take(self, kind, name, owner, stage, more) -> bool:
        """Do a step and tell whether it is allowed."""
        if kind == "back" and name not in self.owners:
            return True
        if self.owners.setdefault(name, owner) != owner:
            return False
        if kind == "put":
            self.receipts[name][stage] = more
        elif kind == "propose":
            made = {"name": name, "stage": stage, "taken": more, "withdrawn": False}
            self.proposals.append(made)
        else:
            self.forget(name, ORDER[ORDER.index(stage) :])
        return True

    def forget(self, name, stages) -> None:
        for stage in stages:
            self.receipts[name].pop(stage, None)
        gone = [p for p in self.proposals if p["name"] == name and p["stage"] in stages]
        self.proposals = [p for p in self.proposals if p not in gone or p["taken"]]
        for each in gone:
            each["withdrawn"] = True


def receipt(stage: str, units: list[str]) -> Receipt:
    return Receipt(
        stage=Stage(stage),
        purpose=purpose_of(Stage(stage)),
        vector_generation=UUID(int=1),
        evidence_ids=tuple(units),
    )


def do(kind, name, owner, stage, more) -> bool:
    """Do a step of ours and tell whether it was allowed."""
    shared = {"workspace": "w", "session": name, "owner": owner, "now": timezone.now()}
    try:
        if kind == "put":
            receipts.keep(receipt=receipt(stage, more), **shared)
        elif kind == "propose":
            formula = ProposedFormula.model_validate(FORMULA | {"stage": stage})
            kept = formula_proposals.propose(formula=formula, **shared)
            state = ProposalState.DRAFTED if more else ProposalState.OPEN
            FormulaProposal.objects.filter(pk=kept.id).update(state=state)
        else:
            receipts.step_back(stage=Stage(stage), **shared)
    except sessions.SessionOfAnotherKey:
        return False
    return True


@pytest.mark.django_db
@settings(max_examples=60)
@given(steps=STEPS)
def test_any_course_of_puts_retries_proposals_and_steps_back_agrees_with_the_oracle(steps):
    HarnessSession.objects.all().delete()
    oracle = Oracle()
    for step in steps:
        assert do(*step) == oracle.take(*step), step
    for name, expected in oracle.receipts.items():
        found = receipts.of_session(workspace="w", session=name)
        assert [(r.stage.value, list(r.evidence_ids)) for r in found] == [
            (stage, expected[stage]) for stage in ORDER if stage in expected
        ]
    told = sorted(
        unit for held in oracle.receipts.values() for units in held.values() for unit in units
    )
    assert sorted(ReturnedUnit.objects.values_list("evidence_id", flat=True)) == told
    rows = FormulaProposal.objects.order_by("pk").values_list(
        "session__name", "stage", "withdrawn_at"
    )
    assert [(name, stage, at is not None) for name, stage, at in rows] == [
        (p["name"], p["stage"], p["withdrawn"]) for p in oracle.proposals
    ]


def at_once(jobs: Sequence[Callable[[], bool]]) -> list[bool]:
    """Run jobs in threads that start at one instant, and give what each gave."""
    barrier = Barrier(len(jobs))

    def run(job: Callable[[], bool]) -> bool:
        barrier.wait()
        try:
            return job()
        finally:
            connection.close()

    with ThreadPoolExecutor(len(jobs)) as pool:
        return list(pool.map(run, jobs))


@pytest.mark.django_db(transaction=True)
def test_of_two_first_writers_one_owns_the_session():
    for number in range(10):
        jobs = [
            partial(do, "put", f"s{number}", owner, "cte", [])
            for owner in ("first", "second", "third", "fourth")
        ]
        assert sorted(at_once(jobs)) == [False, False, False, True]
    assert HarnessSession.objects.count() == 10


@pytest.mark.django_db(transaction=True)
def test_writers_of_one_session_leave_one_receipt_a_stage_and_units_that_fit_it():
    units = ["evidence:x", "evidence:y", "evidence:z"]
    jobs = [partial(do, "put", "a", "first", "cte", units[: n % 4]) for n in range(8)]
    jobs += [partial(do, "back", "a", "first", "rewriting", None)] * 2
    assert all(at_once(jobs))
    found = receipts.of_session(workspace="w", session="a")
    assert len(found) <= 1
    told = {unit for each in found for unit in each.evidence_ids}
    assert set(ReturnedUnit.objects.values_list("evidence_id", flat=True)) == told
