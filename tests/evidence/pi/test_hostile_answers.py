"""A hostile answer is refused, or becomes units that wait for a person (spec 90, Figures)."""

from __future__ import annotations

import time
from dataclasses import replace

import pytest

from evidence.adapters.strict_json import JsonRefused
from evidence.adapters.wire import read_answer, write_answer
from evidence.domain.codec import parse_curated_markdown
from evidence.domain.normalization import source_hash
from evidence.domain.tree import EvidenceTree
from evidence.domain.units import CuratedEvidence
from evidence.faults import Fault
from evidence.messages import Message
from evidence.ports import RestructureCandidate, RestructureRequest
from evidence.preparation import PreparationReport, prepare
from tests.evidence.pi.hostile_answers import (
    EXCERPT,
    HOSTILE,
    KNOWN_ID,
    NOTE,
    SOUND,
    SOURCE,
    answer,
    candidate,
    new,
)
from tests.evidence.trees import a_tree

CODES = {
    "answer_invalid",
    "credential_detected",
    "excerpt_not_found",
    "existing_id_repeated",
    "existing_id_unknown",
    "unit_invalid",
}


class AnswerInvalid(Fault):
    """What the model said is not as agreed."""

    code = "answer_invalid"


class Model:
    """A model elsewhere that gives one prepared answer, read as Pi's is."""

    name = "model"
    local = False
    model = "m"
    skill_digest = "sha256:s"

    def __init__(self, said: str | bytes) -> None:
        self._said = said if isinstance(said, bytes) else said.encode()

    def restructure(self, request: RestructureRequest) -> tuple[RestructureCandidate, ...]:
        try:
            return read_answer(self._said)
        except JsonRefused as refused:
            raise AnswerInvalid(refused.message) from refused


def units_of(tree: EvidenceTree) -> dict[str, CuratedEvidence]:
    """Give the units of a tree by id."""
    files = tree.under("curated/")
    units = (parse_curated_markdown(data.decode(), path=path) for path, data in files.items())
    return {unit.id: unit for unit in units}


@pytest.fixture(scope="module")
def before() -> EvidenceTree:
    """One unit with an open doubt, whose note has changed since."""
    old = a_tree({SOURCE: f"# Età\n\n{EXCERPT}\n"})
    first = answer(candidate(existing_id=None))
    prepared = prepare(old, Model(first)).change_set.apply(old)
    assert list(units_of(prepared)) == [KNOWN_ID]
    return replace(prepared, files=dict(prepared.files) | {SOURCE: NOTE.encode()})


def outcome(
    before: EvidenceTree, said: str | bytes
) -> tuple[str, dict[str, CuratedEvidence], PreparationReport | None]:
    """Give the code of the refusal, or "" and the units with the report."""
    try:
        made = prepare(before, Model(said))
    except Fault as fault:
        return fault.code if fault.path == SOURCE else "without its source", {}, None
    return "", units_of(made.change_set.apply(before)), made.report


def test_there_are_at_least_sixty() -> None:
    assert len(HOSTILE) >= 60


@pytest.mark.parametrize("name", HOSTILE)
def test_a_hostile_answer_is_refused_or_waits_for_a_person(before: EvidenceTree, name: str) -> None:
    began = time.monotonic()
    code, units, report = outcome(before, HOSTILE[name])
    assert time.monotonic() - began < 5
    if code:
        assert code in CODES
        return
    assert report is not None
    assert report.review_required
    assert units[KNOWN_ID].review_items
    for unit in units.values():  # what is ours to say is as we say it
        assert unit.provenance.source_file == SOURCE
        assert unit.provenance.source_sha256 == source_hash(NOTE)
        assert (unit.schema_version, unit.language) == (1, None)
        assert set(units) <= {KNOWN_ID, "evidence:limite-di-eta", f"{KNOWN_ID}-2"}


def test_most_hostile_answers_are_refused(before: EvidenceTree) -> None:
    accepted = {name for name, said in HOSTILE.items() if not outcome(before, said)[0]}
    assert accepted == {
        "a previous unit left out",
        "a previous unit under a new id",
        "a previous unit's doubt left out",
        "a previous unit's support denied",
    }


def test_a_sound_answer_is_not_refused(before: EvidenceTree) -> None:
    code, units, _ = outcome(before, answer(candidate(), new()))
    assert code == ""
    assert sorted(units) == ["evidence:limite-di-eta", KNOWN_ID]


def test_a_doubt_stays_until_a_person_settles_it(before: EvidenceTree) -> None:
    _, units, _ = outcome(before, HOSTILE["a previous unit's doubt left out"])
    assert [item.code for item in units[KNOWN_ID].review_items] == ["ambiguous_statement"]


@pytest.mark.parametrize(
    "said",
    [
        '{"c4n4ry": 1}',
        answer(new(c4n4ry=1)),
        answer(new(kind="c4n4ry")),
        answer(new(scope={"tables": ["c4n4ry"]})),
        answer(new(review_items=[{"code": "C4N4RY!", "message": "c4n4ry"}])),
        "c4n4ry",
        '{"schema_version": 1, "candidates": [], "candidates": "c4n4ry"}',
    ],
)
def test_no_refusal_repeats_what_the_model_wrote(said: str) -> None:
    with pytest.raises(JsonRefused) as refused:
        read_answer(said.encode())
    assert isinstance(refused.value.message, Message)
    assert "c4n4ry" not in refused.value.message.casefold()


def test_a_refusal_names_the_place(before: EvidenceTree) -> None:
    with pytest.raises(JsonRefused, match=r"unknown field in candidates\.1$"):
        read_answer(answer(candidate(), new(id="x")).encode())
    with pytest.raises(JsonRefused, match=r"candidates\.0\.title is missing"):
        read_answer(answer(candidate(title=None)).encode())
    with pytest.raises(JsonRefused, match=r"line 1, column 1"):
        read_answer(f"Sure: {SOUND}".encode())


def test_an_answer_survives_being_kept(before: EvidenceTree) -> None:
    read = read_answer(
        answer(candidate(), new(body="à\n\u2028", scope={"concepts": ["x"]})).encode()
    )
    assert read_answer(write_answer(read)) == read
