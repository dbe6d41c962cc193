from __future__ import annotations

from typing import Any

import pytest
from pydantic import ValidationError

from evidence.domain.units import (
    CuratedEvidence,
    EvidenceKind,
    EvidencePurpose,
    EvidenceScope,
    UnitInvalid,
    build_unit,
)
from evidence.messages import Message
from tests.evidence.domain.test_payloads import VALID


def fields(**changes: Any) -> dict[str, Any]:
    return {
        "schema_version": "1",
        "id": "evidence:ablazione",
        "kind": "glossary",
        "title": "Ablazione",
        "purposes": ["disambiguation"],
        "provenance": provenance(),
        "payload": VALID["glossary"],
        **changes,
    }


def provenance(**changes: Any) -> dict[str, Any]:
    return {
        "source_file": "source/cardio/note.md",
        "source_sha256": "sha256:" + "0f" * 32,
        "supporting_excerpts": ["L'ablazione è una distruzione mirata."],
        **changes,
    }


def problems_of(**changes: Any) -> dict[str, str]:
    with pytest.raises(UnitInvalid) as caught:
        build_unit(fields(**changes))
    assert caught.value.code == "unit_invalid"
    assert all(isinstance(problem.message, Message) for problem in caught.value.problems)
    return {problem.field: str(problem.message) for problem in caught.value.problems}


@pytest.mark.parametrize("kind", EvidenceKind)
def test_a_unit_of_each_kind_is_built(kind: EvidenceKind) -> None:
    unit = build_unit(fields(kind=str(kind), payload=VALID[kind], body="Testo."))
    assert unit.kind is kind
    assert unit.schema_version == 1
    assert unit.language is None
    assert unit.scope == EvidenceScope()
    assert unit.review_items == ()
    assert build_unit(unit.model_dump()) == unit


def test_a_unit_is_frozen() -> None:
    unit = build_unit(fields())
    with pytest.raises(ValidationError, match="frozen"):
        unit.title = "x"  # type: ignore[misc]


@pytest.mark.parametrize("version", ["2", 2, "", "1.0", "01", True, None, 1.5])
def test_another_schema_version_is_refused(version: Any) -> None:
    assert list(problems_of(schema_version=version)) == ["schema_version"]


@pytest.mark.parametrize(
    "evidence_id",
    [
        "ablazione",
        "evidence:",
        "evidence:Ablazione",
        "evidence:a--b",
        "evidence:-a",
        "evidence:a-",
        "evidence:a_b",
        "evidence:è",
        "evidence:a\n",
        "evidence:glossary/a",
        "evidence:" + "a" * 81,
    ],
)
def test_what_is_no_id_is_refused(evidence_id: str) -> None:
    assert list(problems_of(id=evidence_id)) == ["id"]


def test_an_id_of_eighty_characters_is_taken() -> None:
    assert build_unit(fields(id="evidence:" + "a" * 80)).id.endswith("a" * 80)


def test_an_unknown_kind_is_refused_once() -> None:
    assert list(problems_of(kind="formulas")) == ["kind"]
    assert "glossary" in problems_of(kind="formulas")["kind"]


@pytest.mark.parametrize("title", ["", "  ", "a\nb", "a\u2028b", "a\rb", "x" * 201, "a\x85b"])
def test_a_title_is_one_line_of_at_most_two_hundred_characters(title: str) -> None:
    assert list(problems_of(title=title)) == ["title"]


def test_a_title_is_counted_in_nfc() -> None:
    assert build_unit(fields(title="e\u0301" * 200)).title == "é" * 200


@pytest.mark.parametrize("language", ["italiano", "it-IT", "IT", "i", "1", "it\n"])
def test_a_language_is_a_primary_tag(language: str) -> None:
    assert list(problems_of(language=language)) == ["language"]


def test_norwegian_is_a_language() -> None:
    assert build_unit(fields(language="no")).language == "no"
    assert build_unit(fields(language="")).language is None


def test_purposes_are_one_to_four_and_distinct() -> None:
    everything = [str(purpose) for purpose in EvidencePurpose]
    assert len(build_unit(fields(purposes=everything)).purposes) == 4
    assert list(problems_of(purposes=[])) == ["purposes"]
    assert list(problems_of(purposes=["rewriting", "rewriting"])) == ["purposes"]
    assert list(problems_of(purposes=["rewriting", "guessing"])) == ["purposes.1"]
    assert list(problems_of(purposes="rewriting")) == ["purposes"]


def test_a_scope_names_distinct_concepts_tables_and_columns() -> None:
    scope = {
        "concepts": ["ablazione"],
        "tables": ["Clinical.Patient", 'clinical."Patient"'],
        "columns": ['clinical."Patient"."Birth Date"'],
    }
    unit = build_unit(fields(scope=scope))
    assert unit.scope.tables == ("clinical.patient", 'clinical."Patient"')
    assert unit.scope.columns == ('clinical."Patient"."Birth Date"',)
    assert list(problems_of(scope={"concepts": ["a", "a"]})) == ["scope.concepts"]
    assert list(problems_of(scope={"tables": ["a.b", "A.B"]})) == ["scope.tables"]
    assert list(problems_of(scope={"tables": ["a.b", "patient"]})) == ["scope.tables.1"]
    assert list(problems_of(scope={"columns": ["a.b"]})) == ["scope.columns.0"]
    assert list(problems_of(scope={"schemas": ["a"]})) == ["scope.schemas"]


@pytest.mark.parametrize(
    "path",
    [
        "note.md",
        "source",
        "source/",
        "/source/a.md",
        "source/../a.md",
        "source//a.md",
        "source/.git/config",
        "source/.a.md",
        "source\\a.md",
        "curated/a.md",
        "source/a\n.md",
    ],
)
def test_a_source_lies_under_source(path: str) -> None:
    assert list(problems_of(provenance=provenance(source_file=path))) == ["provenance.source_file"]


@pytest.mark.parametrize("digest", ["0f" * 32, "sha256:" + "0F" * 32, "sha256:0f", "md5:x", ""])
def test_a_source_hash_is_sha256(digest: str) -> None:
    assert list(problems_of(provenance=provenance(source_sha256=digest))) == [
        "provenance.source_sha256"
    ]


def test_excerpts_are_one_to_five_of_at_most_a_thousand_characters() -> None:
    field = "provenance.supporting_excerpts"
    build_unit(fields(provenance=provenance(supporting_excerpts=["x" * 1_000] * 5)))
    for excerpts, where in (
        ([], field),
        (["x"] * 6, field),
        (["x", "x" * 1_001], f"{field}.1"),
        (["x", " "], f"{field}.1"),
        ("x", field),
    ):
        assert list(problems_of(provenance=provenance(supporting_excerpts=excerpts))) == [where]


def test_a_unit_has_one_source() -> None:
    more = provenance(source_files=["source/a.md"])
    assert list(problems_of(provenance=more)) == ["provenance.source_files"]


def test_a_review_item_has_a_snake_case_code_and_a_message() -> None:
    item = {"code": "column_unknown", "message": "Which table?", "field": "payload.column"}
    assert build_unit(fields(review_items=[item])).review_items[0].field == "payload.column"
    for change, where in (
        ({"code": "Column-Unknown"}, "review_items.0.code"),
        ({"code": "a__b"}, "review_items.0.code"),
        ({"message": ""}, "review_items.0.message"),
        ({"status": "open"}, "review_items.0.status"),
        ({"author": "x"}, "review_items.0.author"),
    ):
        assert list(problems_of(review_items=[{**item, **change}])) == [where]


def test_a_body_is_normalized_when_the_unit_is_built() -> None:
    unit = build_unit(fields(body="\n \n    code\r\ntext e\u0301\r\n\t\n\n"))
    assert unit.body == "    code\ntext é"


def test_a_domain_unit_needs_a_body() -> None:
    for body in ("", " \n\n", "\u00a0"):
        problems = problems_of(kind="domain", payload={"topic": "Ricoveri"}, body=body)
        assert "body" in next(iter(problems.values()))
    assert build_unit(fields(body="")).body == ""


def test_an_unknown_field_is_refused() -> None:
    assert list(problems_of(status="approved")) == ["status"]


def test_a_payload_of_another_kind_is_refused_field_by_field() -> None:
    problems = problems_of(kind="enum")
    assert set(problems) == {
        "payload.column",
        "payload.values",
        "payload.term",
        "payload.definition",
        "payload.synonyms",
    }
    with pytest.raises(UnitInvalid):
        build_unit(fields(kind="domain", payload=build_unit(fields()).payload, body="x"))
    assert list(problems_of(payload="text")) == ["payload"]


def test_a_problem_names_its_field_by_path_and_can_be_translated() -> None:
    values = [{"value": "a", "meaning": "x"}, {"value": "b", "meaning": "y"}, {"value": "c"}]
    payload = {"column": "clinical.patient.sex", "values": values}
    with pytest.raises(UnitInvalid) as caught:
        build_unit(fields(kind="enum", payload=payload))
    (problem,) = caught.value.problems
    assert problem.field == "payload.values.2.meaning"
    assert problem.message.template == "This field is required."
    assert caught.value.message.template == "%(field)s: %(problem)s"
    assert str(caught.value) == "payload.values.2.meaning: This field is required."


def test_every_problem_is_told_at_once() -> None:
    assert set(problems_of(id="x", title="", purposes=[])) == {"id", "title", "purposes"}
    with pytest.raises(UnitInvalid) as caught:
        build_unit({})
    assert len(caught.value.problems) >= 6


def test_the_model_itself_refuses_what_the_builder_refuses() -> None:
    with pytest.raises(ValidationError) as caught:
        CuratedEvidence.model_validate(fields(kind="enum", payload={"column": "a.b.c"}))
    assert [error["loc"] for error in caught.value.errors()] == [("payload", "values")]
