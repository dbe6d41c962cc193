"""Hostile answers of a model: refused, or units with open items (spec 90, Figures)."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import replace
from typing import Any

import pytest

from evidence.adapters.wire import read_answer
from evidence.domain.normalization import source_hash
from evidence.domain.tree import EvidenceTree
from evidence.domain.units import CuratedEvidence
from evidence.faults import Fault
from evidence.preparation import prepare
from tests.evidence.pi.hostile_answers import (
    EXCERPT,
    HOSTILE,
    KNOWN_ID,
    NOTE,
    SOURCE,
    answer,
    candidate,
)
from tests.evidence.pi.test_hostile_answers import CODES, Model, units_of
from tests.evidence.trees import a_tree
from tests.robustness.figures import Figures

Units = Mapping[str, CuratedEvidence]
Preparing = Callable[[EvidenceTree, str | bytes], Units | None]
"""Gives the units that an answer led to, None when it was refused."""

NEW_IDS = {"evidence:limite-di-eta", f"{KNOWN_ID}-2"}


@pytest.fixture(scope="module")
def before() -> EvidenceTree:
    """One unit with an open doubt, whose note has changed since."""
    old = a_tree({SOURCE: f"# Età\n\n{EXCERPT}\n"})
    prepared = prepare(old, Model(answer(candidate(existing_id=None)))).change_set.apply(old)
    return replace(prepared, files=dict(prepared.files) | {SOURCE: NOTE.encode()})


def prepared(before: EvidenceTree, said: str | bytes) -> Units | None:
    """Prepare as the portal does. Raises what it must not refuse with."""
    try:
        return units_of(prepare(before, Model(said)).change_set.apply(before))
    except Fault as fault:
        if (fault.path, fault.code in CODES) != (SOURCE, True):
            raise
        return None


def harm_of(units: Units) -> tuple[bool, bool]:
    """Tell whether nothing waits for a person, and whether the model said what is ours to say."""
    taken_over = not set(units) <= {KNOWN_ID, *NEW_IDS} or any(
        unit.provenance.source_file != SOURCE
        or unit.provenance.source_sha256 != source_hash(NOTE)
        or (unit.schema_version, unit.language) != (1, None)
        for unit in units.values()
    )
    known = units.get(KNOWN_ID)
    return not (known and known.review_items), taken_over


def told_by(preparing: Preparing, before: EvidenceTree) -> tuple[int, int, int]:
    """Count the answers that were refused, that nobody has to look at, and that took over."""
    refused = unseen = taken_over = 0
    for said in HOSTILE.values():
        units = preparing(before, said)
        if units is None:
            refused += 1
            continue
        waits_for_nobody, took = harm_of(units)
        unseen += waits_for_nobody
        taken_over += took
    return refused, unseen, taken_over


def test_a_hostile_answer_is_refused_or_waits_for_a_person(
    before: EvidenceTree, figures: Figures
) -> None:
    refused, unseen, taken_over = told_by(prepared, before)
    waiting = len(HOSTILE) - refused - unseen
    words = (
        f"{len(HOSTILE)} answers: {refused} refused, {waiting} with open items,"
        f" {unseen} unseen, {taken_over} fields taken over"
    )
    holds = len(HOSTILE) >= 60 and not unseen and not taken_over
    figures.measured("model output", words, holds=holds)


def candidates_in(said: str | bytes) -> list[dict[str, Any]]:
    """Read an answer as generously as one would at first."""
    text = said if isinstance(said, str) else said.decode("utf-8", "replace")
    with suppress(ValueError, TypeError, LookupError, RecursionError):
        found = json.loads(text[text.index("{") : text.rindex("}") + 1])["candidates"]
        return [each for each in found if isinstance(each, dict)]
    return []


def believing(before: EvidenceTree, said: str | bytes) -> Units | None:
    """Prepare, and believe the model what it says of ids, origin and doubts: the seeded bug."""
    given = dict.fromkeys(("source_file", "source_sha256"))
    units: dict[str, CuratedEvidence] = {}
    sound = units_of(prepare(before, Model(answer(candidate()))).change_set.apply(before))
    for each in candidates_in(said):
        claimed = {name: each[name] for name in ("id", "language") if name in each}
        origin = {name: each[name] for name in given if name in each} | each.get("provenance", {})
        unit = sound[KNOWN_ID]
        provenance = unit.provenance.model_copy(update=origin)
        doubts = unit.review_items if each.get("review_items") else ()
        update = claimed | {"provenance": provenance, "review_items": doubts}
        units[str(claimed.get("id", KNOWN_ID))] = unit.model_copy(update=update)
    return units or None


def test_a_preparation_that_believes_the_model_would_be_noticed(
    before: EvidenceTree, figures: Figures
) -> None:
    _, unseen, taken_over = told_by(believing, before)
    words = f"a model believed: {unseen} unseen, {taken_over} fields taken over"
    figures.caught("model output", words, noticed=unseen > 0 and taken_over > 0)


def test_an_answer_read_generously_would_be_noticed(before: EvidenceTree, figures: Figures) -> None:
    strict = {name for name, said in HOSTILE.items() if prepared(before, said) is None}
    generous = {name for name in strict if candidates_in(HOSTILE[name])}
    assert "a fence" in generous
    assert read_answer(answer(candidate()).encode())
    words = f"a generous reader takes {len(generous)} of the {len(strict)} refused"
    figures.caught("model output", words, noticed=len(generous) > 0)
