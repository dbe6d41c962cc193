"""The real Pi, installed by `make setup-tests`, against a scripted model on loopback."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from evidence.adapters.answer_cache import FileAnswerCache
from evidence.adapters.pi import PiRestructurer
from evidence.adapters.skill import SKILL
from evidence.domain.codec import parse_curated_markdown
from evidence.domain.tree import EvidenceTree
from evidence.environment import PiSettings
from evidence.faults import Fault
from evidence.preparation import Terms, prepare
from tests.evidence.pi.endpoint import Endpoint, an_endpoint, request_in, system_of
from tests.evidence.pi.real_pi import NEEDS_PI, a_real_pi
from tests.evidence.trees import a_tree

NOTES = {f"source/{name}.md": f"# Nota\n\n**{name}**: significato di {name}.\n" for name in "abc"}

pytestmark = NEEDS_PI


def a_glossary_unit(request: dict[str, Any]) -> str:
    """Answer with the one term of a note, under its known id where there is one."""
    sentence = request["normalized_text"].splitlines()[2]
    term, _, meaning = sentence.replace("*", "").partition(": ")
    previous = request["previous_units"]
    known = {"existing_id": previous[0]["existing_id"]} if previous else {}
    candidate = known | {
        "kind": "glossary",
        "title": f"Termine {term}",
        "purposes": ["disambiguation"],
        "excerpts": [sentence],
        "payload": {"term": term, "definition": meaning},
    }
    return json.dumps({"schema_version": 1, "candidates": [candidate]})


@pytest.fixture
def pi(tmp_path: Path) -> Path:
    """Pi as an operator would wrap it: with the Node that it needs."""
    return a_real_pi(tmp_path)


@pytest.fixture
def endpoint() -> Iterator[Endpoint]:
    """A model that answers as it should."""
    with an_endpoint(a_glossary_unit) as serving:
        yield serving


@pytest.fixture
def restructurer(
    pi: Path, endpoint: Endpoint, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> PiRestructurer:
    """The restructurer that asks this endpoint through the real Pi."""
    monkeypatch.setenv("SCRIPTED_API_KEY", "a-key")
    settings = PiSettings(
        executable=str(pi),
        provider="scripted",
        model="scripted-35b",
        timeout_s=60,
        env=("SCRIPTED_API_KEY",),
        agent_dir=endpoint.agent_folder(tmp_path / "agent"),
    )
    return PiRestructurer(settings, debug=tmp_path / "debug")


@pytest.fixture
def prepared(restructurer: PiRestructurer, endpoint: Endpoint) -> EvidenceTree:
    """Three notes after their first preparation."""
    tree = a_tree(NOTES)
    after = prepare(tree, restructurer, terms=Terms(concurrency=2)).change_set.apply(tree)
    assert endpoint.asked_about == sorted(NOTES)
    endpoint.bodies.clear()
    return after


def test_the_model_receives_the_skill_and_the_note_and_no_tools(
    restructurer: PiRestructurer, endpoint: Endpoint
) -> None:
    note = "# Età\r\n\r\n**Pediatrico**: sotto i 18 anni, «e\u0301» @file /skill.\r\n"
    tree = a_tree({"source/età.md": note})
    report = prepare(tree, restructurer).report
    (body,) = endpoint.bodies
    assert SKILL.read_text(encoding="utf-8").strip() in system_of(body)
    assert request_in(body)["normalized_text"] == (
        "# Età\n\n**Pediatrico**: sotto i 18 anni, «é» @file /skill.\n"
    )
    assert "tools" not in body
    assert "functions" not in body
    assert endpoint.keys == ["Bearer a-key"]
    assert (report.model_calls, report.created) == (1, ("evidence:termine-pediatrico",))


def test_only_a_changed_note_is_asked_about_once_and_with_its_units(
    restructurer: PiRestructurer, endpoint: Endpoint, prepared: EvidenceTree
) -> None:
    changed = NOTES["source/b.md"].replace("significato", "nuovo significato")
    files = dict(prepared.files) | {"source/b.md": changed.encode()}
    tree = replace(prepared, files=files)
    made = prepare(tree, restructurer)
    (body,) = endpoint.bodies
    request = request_in(body)
    assert request["normalized_text"] == changed
    (previous,) = request["previous_units"]
    assert previous["existing_id"] == "evidence:termine-b"
    assert previous["payload"]["definition"] == "significato di b."
    assert (made.report.model_calls, made.report.updated) == (1, ("evidence:termine-b",))
    unit = parse_curated_markdown(
        made.change_set.apply(tree).files["curated/glossary/termine-b.md"].decode()
    )
    assert unit.provenance.supporting_excerpts == (f"**b**: nuovo {'significato di b.'}",)


def test_an_unchanged_workspace_asks_nobody(
    restructurer: PiRestructurer, endpoint: Endpoint, prepared: EvidenceTree
) -> None:
    report = prepare(prepared, restructurer).report
    assert (report.model_calls, endpoint.bodies) == (0, [])


def test_after_one_failed_source_the_others_are_not_paid_for_again(
    restructurer: PiRestructurer, endpoint: Endpoint, tmp_path: Path
) -> None:
    terms = Terms(concurrency=1, cache=FileAnswerCache(tmp_path / "cache"))
    endpoint.answer = lambda request: (
        "Sure! Here is the JSON:"
        if request["source_file"] == "source/c.md"
        else a_glossary_unit(request)
    )
    with pytest.raises(Fault) as refused:
        prepare(a_tree(NOTES), restructurer, terms=terms)
    assert (refused.value.code, refused.value.path) == ("pi_output_invalid", "source/c.md")
    endpoint.bodies.clear()
    endpoint.answer = a_glossary_unit
    report = prepare(a_tree(NOTES), restructurer, terms=terms).report
    assert endpoint.asked_about == ["source/c.md"]
    assert (report.model_calls, report.cached, len(report.created)) == (1, 2, 3)


@pytest.mark.parametrize("status", [400, 429, 503])
def test_a_provider_that_refuses_is_asked_once(
    restructurer: PiRestructurer, endpoint: Endpoint, status: int
) -> None:
    endpoint.answer = lambda _: status
    with pytest.raises(Fault) as refused:
        prepare(a_tree({"source/a.md": NOTES["source/a.md"]}), restructurer)
    assert (refused.value.code, refused.value.path) == ("pi_failed", "source/a.md")
    assert len(endpoint.bodies) == 1
