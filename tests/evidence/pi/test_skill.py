"""The skill tells a model what the code checks: its schema and its examples are tried."""

from __future__ import annotations

import json
import re
from dataclasses import replace

import pytest

from evidence.adapters.skill import SKILL, answer_schema
from evidence.adapters.wire import read_answer
from evidence.candidates import units_from
from evidence.domain.units import EvidenceKind
from tests.evidence.pi.stand_ins import REQUEST

TEXT = SKILL.read_text(encoding="utf-8")
EXAMPLE = re.compile(r"^### (\w+)\n\n> ([^\n]+)\n\n```json\n(.*?)\n```", re.MULTILINE | re.DOTALL)
EXAMPLES = {kind: (quote, answer) for kind, quote, answer in EXAMPLE.findall(TEXT)}


def test_the_skill_quotes_the_schema_that_the_models_generate() -> None:
    assert f"```json\n{answer_schema()}\n```" in TEXT, (
        "renew it: python -m tests.evidence.pi.renew_skill"
    )


def test_the_schema_names_every_field_and_no_field_of_ours() -> None:
    schema = json.loads(answer_schema())["$defs"]
    assert set(schema["candidate"]["properties"]) == {
        "existing_id",
        "kind",
        "title",
        "purposes",
        "scope",
        "excerpts",
        "payload",
        "body",
        "review_items",
    }
    assert len(schema["candidate"]["properties"]["payload"]["anyOf"]) == len(EvidenceKind)


def test_there_is_one_example_of_each_kind() -> None:
    assert sorted(EXAMPLES) == sorted(EvidenceKind)


@pytest.mark.parametrize("kind", EvidenceKind)
def test_each_example_is_a_valid_unit_of_the_note_above_it(kind: EvidenceKind) -> None:
    quote, candidate = EXAMPLES[kind]
    answer = f'{{"schema_version": 1, "candidates": [{candidate}]}}'
    request = replace(REQUEST, normalized_text=quote + "\n")
    (unit,) = units_from(request, read_answer(answer.encode()), taken=())
    assert (unit.kind, unit.review_items) == (kind, ())


def test_the_skill_is_short_enough_for_a_mid_size_model() -> None:
    assert len(TEXT) < 16_000
