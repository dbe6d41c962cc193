"""A model that is hostile, or a program that is, costs one run and not one byte."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from evidence.domain.codec import parse_curated_markdown
from tests.acceptance.ways import RULES, Way, pi_and_a_scripted_model, pi_program
from tests.evidence.pi import hostile_answers, stand_ins
from tests.evidence.pi.endpoint import system_of
from tests.evidence.pi.hostile_answers import EXCERPT, KNOWN_ID, NOTE, answer, candidate, new
from tests.evidence.pi.real_pi import NEEDS_PI
from tests.evidence.trees import a_work_tree, bytes_below, commit_all, git, put

UNIT = "curated/glossary/paziente-pediatrico.md"
SOURCE = "source/età.md"
ANSWERS = [
    "a fence",
    "a sentence before",
    "the answer twice",
    "an answer cut off",
    "more than a megabyte",
    "Latin-1",
    "an invented excerpt",
    "an id of another source",
    "a provenance",
    "a state",
    "a credential",
    "SQL that changes data",
]


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """A note that gives orders to whoever reads it, beside one that was prepared before."""
    made = a_work_tree(
        tmp_path / "top", {"source/prima.md": "# Glossario\n\n**Termine**: senso.\n"}
    )
    assert RULES.tht("prepare", made)[0] == 0
    commit_all(made.parent)
    put(made, {SOURCE: NOTE})
    return made


def assert_refused(way: Way, root: Path, code: str) -> None:
    """Nothing is written, in Git neither, and the error names the note and a code."""
    before, head = bytes_below(root), git(root, "rev-parse", "HEAD")
    exit_code, told = way.tht("prepare", root)
    assert exit_code == 1
    assert (told["error"]["code"], told["error"]["path"]) == (code, SOURCE)
    assert bytes_below(root) == before
    assert git(root, "rev-parse", "HEAD") == head
    assert git(root, "status", "--short", "-uall") == '?? "evidence/source/et\\303\\240.md"'


@pytest.mark.parametrize("behaviour", stand_ins.HOSTILE)
def test_a_hostile_program_writes_nothing_and_is_gone(
    behaviour: str, root: Path, tmp_path: Path
) -> None:
    program = stand_ins.a_program(tmp_path, stand_ins.HOSTILE[behaviour])
    way = pi_program(program, tmp_path / "home", timeout_s=1)
    assert_refused(way, root, stand_ins.CODES[behaviour])
    assert stand_ins.survivors_soon(program) == []


@pytest.mark.parametrize("name", ANSWERS)
def test_a_hostile_answer_writes_nothing(name: str, root: Path, tmp_path: Path) -> None:
    said = hostile_answers.HOSTILE[name]
    program = stand_ins.a_program(tmp_path, f"os.write(1, {said!r})")
    if isinstance(said, str):
        program = stand_ins.obedient(tmp_path, said)
    exit_code, told = pi_program(program, tmp_path / "home").tht("prepare", root)
    assert exit_code == 1
    assert told["error"]["path"] == SOURCE
    assert told["error"]["code"] in {
        *("pi_output_invalid", "pi_output_too_large", "excerpt_not_found"),
        *("existing_id_unknown", "credential_detected", "unit_invalid"),
    }
    assert git(root, "status", "--short", "-uall") == '?? "evidence/source/et\\303\\240.md"'


def test_after_a_hostile_run_the_next_one_works_as_if_nothing_had_been(
    root: Path, tmp_path: Path
) -> None:
    hostile = pi_program(stand_ins.a_program(tmp_path, "sys.exit(3)"), tmp_path / "home")
    assert_refused(hostile, root, "pi_failed")
    sound = pi_program(stand_ins.obedient(tmp_path, answer(new())), tmp_path / "home")
    exit_code, report = sound.tht("prepare", root)
    assert (exit_code, report["model_calls"]) == (0, 1)
    assert report["created"] == ["evidence:limite-di-eta"]


def test_a_dirty_tree_is_refused_before_a_hostile_program_is_started(
    root: Path, tmp_path: Path
) -> None:
    put(root, {"curated/glossary/termine.md": "Modificato a mano.\n"})
    program = stand_ins.obedient(tmp_path)
    exit_code, told = pi_program(program, tmp_path / "home").tht("prepare", root)
    assert (exit_code, told["error"]["code"]) == (1, "dirty_curated_state")
    assert not Path(f"{program}.seen").exists()


@pytest.fixture
def pi(tmp_path: Path) -> Iterator[Way]:
    """The real Pi; what its model says is the test's to decide."""
    with pi_and_a_scripted_model(tmp_path) as way:
        yield way


@NEEDS_PI
def test_orders_in_a_note_reach_the_model_as_data_and_approve_nothing(pi: Way, root: Path) -> None:
    assert pi.endpoint
    pi.endpoint.answer = lambda _: answer(candidate(existing_id=None))
    exit_code, report = pi.tht("prepare", root)
    assert exit_code == 3
    (body,) = pi.endpoint.bodies
    assert "Ignore previous instructions" not in system_of(body)
    assert report["created"] == [KNOWN_ID]
    unit = parse_curated_markdown(bytes_below(root)[UNIT].decode())
    assert unit.review_items, "the doubt waits for a person"
    _, told = pi.tht("validate", root)
    assert told["publishable"] is False
    found = {each["code"] for each in told["findings"]}
    assert {"review_item_open", "hidden_text"} <= found


@NEEDS_PI
def test_a_model_that_reclassifies_keeps_the_id_and_a_split_gets_a_new_one(
    pi: Way, root: Path
) -> None:
    assert pi.endpoint
    pi.endpoint.answer = lambda _: answer(candidate(existing_id=None, review_items=None))
    assert pi.tht("prepare", root)[0] == 0
    commit_all(root.parent)
    put(root, {SOURCE: NOTE + "\nLo dice la direzione.\n"})
    mapping = {
        "kind": "mapping",
        "payload": {"term": "pediatrico", "targets": [{"column": "clinical.patient.is_child"}]},
        "review_items": None,
    }
    pi.endpoint.answer = lambda _: answer(candidate(**mapping), new())
    exit_code, report = pi.tht("prepare", root)
    assert exit_code == 0
    assert (report["updated"], report["created"]) == ([KNOWN_ID], ["evidence:limite-di-eta"])
    files = bytes_below(root)
    assert UNIT not in files
    moved = parse_curated_markdown(files["curated/mapping/paziente-pediatrico.md"].decode())
    assert moved.id == KNOWN_ID
    assert moved.provenance.supporting_excerpts == (EXCERPT,)


@NEEDS_PI
def test_a_unit_that_a_model_forgets_stays_and_waits_for_a_person(pi: Way, root: Path) -> None:
    assert pi.endpoint
    pi.endpoint.answer = lambda _: answer(candidate(existing_id=None, review_items=None))
    assert pi.tht("prepare", root)[0] == 0
    commit_all(root.parent)
    before = bytes_below(root)[UNIT]
    put(root, {SOURCE: NOTE + "\nAltro.\n"})
    pi.endpoint.answer = lambda _: answer()
    exit_code, _ = pi.tht("prepare", root)
    assert exit_code == 3
    kept = parse_curated_markdown(bytes_below(root)[UNIT].decode())
    assert [item.code for item in kept.review_items] == ["retirement_candidate"]
    assert kept.payload == parse_curated_markdown(before.decode()).payload
