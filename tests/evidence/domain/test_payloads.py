from __future__ import annotations

from typing import Any

import pytest
from pydantic import ValidationError

from evidence.domain.payloads import PAYLOADS, EnumPayload, FormulaPayload
from evidence.domain.problems import problems_of
from evidence.domain.units import EvidenceKind

COLUMN = "clinical.patient.sex"
VALID: dict[str, dict[str, Any]] = {
    "glossary": {"term": "ablazione", "definition": "Distruzione mirata.", "synonyms": ["RFA"]},
    "domain": {"topic": "Ricoveri"},
    "enum": {"column": COLUMN, "values": [{"value": "0802", "meaning": "ignoto"}]},
    "example": {"question": "Quanti?", "sql": "SELECT count(*) FROM t", "explanation": "Conta."},
    "mapping": {
        "term": "decesso",
        "targets": [
            {"column": COLUMN, "value": "NO"},
            {"column": COLUMN, "condition": "a IS NULL"},
        ],
    },
    "normalization": {"target": COLUMN, "rules": [{"match": "M.", "replacement": ""}]},
    "formula": {
        "concept": "età",
        "columns": ["clinical.patient.birth_date"],
        "sql": "age(clinical.patient.birth_date)",
        "limitations": "Oggi.",
    },
    "reference": {"url": "https://example.org/a?b=c#d", "label": "AIFA", "description": "Nota."},
}
REQUIRED = {
    "glossary": ["term", "definition"],
    "domain": ["topic"],
    "enum": ["column", "values"],
    "example": ["question", "sql"],
    "mapping": ["term", "targets"],
    "normalization": ["target", "rules"],
    "formula": ["concept", "sql"],
    "reference": ["url", "label", "description"],
}


def problem_of(kind: str, **changes: Any) -> tuple[str, str]:
    with pytest.raises(ValidationError) as caught:
        PAYLOADS[kind].model_validate({**VALID[kind], **changes})
    problems = problems_of(caught.value)
    assert len(problems) == 1
    return problems[0].field, str(problems[0].message)


def test_there_is_one_payload_for_each_kind() -> None:
    assert set(PAYLOADS) == set(VALID) == {str(kind) for kind in EvidenceKind}


@pytest.mark.parametrize("kind", VALID)
def test_a_payload_of_each_kind_is_taken_and_frozen(kind: str) -> None:
    payload = PAYLOADS[kind].model_validate(VALID[kind])
    with pytest.raises(ValidationError, match="frozen"):
        payload.term = "x"


@pytest.mark.parametrize(
    ("kind", "field"), [(kind, field) for kind, fields in REQUIRED.items() for field in fields]
)
def test_each_required_field_is_named_when_it_is_missing(kind: str, field: str) -> None:
    without = {name: value for name, value in VALID[kind].items() if name != field}
    with pytest.raises(ValidationError) as caught:
        PAYLOADS[kind].model_validate(without)
    assert [problem.field for problem in problems_of(caught.value)] == [field]
    assert "required" in str(problems_of(caught.value)[0].message)


@pytest.mark.parametrize("kind", VALID)
@pytest.mark.parametrize("other", VALID)
def test_a_field_of_another_kind_is_refused(kind: str, other: str) -> None:
    for field in VALID[other].keys() - VALID[kind].keys():
        assert problem_of(kind, **{field: VALID[other][field]}) == (
            field,
            "This field is not known here.",
        )


@pytest.mark.parametrize(
    ("kind", "field"),
    [
        ("glossary", "term"),
        ("glossary", "definition"),
        ("domain", "topic"),
        ("example", "question"),
        ("mapping", "term"),
        ("normalization", "target"),
        ("formula", "concept"),
        ("reference", "label"),
        ("reference", "description"),
    ],
)
@pytest.mark.parametrize("blank", ["", " \n\t"])
def test_a_text_must_say_something(kind: str, field: str, blank: str) -> None:
    assert problem_of(kind, **{field: blank}) == (field, "This may not be empty.")


@pytest.mark.parametrize("value", [None, 1, True, ["x"], {"x": "y"}, b"x"])
def test_only_text_is_text(value: Any) -> None:
    assert problem_of("glossary", term=value) == ("term", "This must be text.")


@pytest.mark.parametrize("letter", ["\x00", "\x07", "\x1b", "\x7f", "\x85", "\ud800", "\uffff"])
def test_a_control_character_is_refused_and_named(letter: str) -> None:
    field, message = problem_of("glossary", term=f"ab{letter}")
    assert field == "term"
    assert f"U+{ord(letter):04X}" in message
    assert "position 3" in message


def test_an_empty_optional_field_counts_as_absent() -> None:
    formula = FormulaPayload.model_validate({**VALID["formula"], "limitations": ""})
    assert formula.limitations is None
    glossary = PAYLOADS["glossary"].model_validate({**VALID["glossary"], "synonyms": ""})
    assert glossary.synonyms == ()
    mapping = PAYLOADS["mapping"].model_validate(
        {"term": "x", "targets": [{"column": COLUMN, "value": "", "condition": ""}]}
    )
    assert (mapping.targets[0].value, mapping.targets[0].condition) == (None, None)


@pytest.mark.parametrize("value", ["0802", "NO", "1e3", "null", " x ", "e\u0301", "a\r\nb"])
def test_an_enum_value_stays_exactly_as_it_is_stored(value: str) -> None:
    payload = EnumPayload.model_validate(
        {"column": COLUMN, "values": [{"value": value, "meaning": "m"}]}
    )
    assert payload.values[0].value == value


def test_enum_values_are_distinct_and_at_least_one() -> None:
    assert problem_of("enum", values=[])[0] == "values"
    twice = [{"value": "M", "meaning": "a"}, {"value": "M", "meaning": "b"}]
    assert problem_of("enum", values=twice)[1] == "“M” is listed twice."
    assert problem_of("enum", values=[{"value": "", "meaning": "a"}])[0] == "values.0.value"
    assert problem_of("enum", values=[{"value": "M"}])[0] == "values.0.meaning"


def test_a_list_holds_at_most_two_thousand_entries() -> None:
    values = [{"value": str(number), "meaning": "m"} for number in range(2_001)]
    assert problem_of("enum", values=values) == ("values", "At most 2000 entries are allowed.")
    EnumPayload.model_validate({"column": COLUMN, "values": values[:2_000]})


@pytest.mark.parametrize("column", ["sex", "patient.sex", "a.b.c.d", "", "a.b.c; drop table t"])
def test_a_column_is_written_in_full(column: str) -> None:
    assert problem_of("enum", column=column)[0] == "column"
    assert problem_of("mapping", targets=[{"column": column}])[0] == "targets.0.column"
    assert problem_of("formula", sql="1", columns=[column])[0] == "columns.0"


def test_a_mapping_needs_a_target_and_a_sound_condition() -> None:
    assert problem_of("mapping", targets=[])[0] == "targets"
    target = {"column": COLUMN, "condition": "a IS NULL; DROP TABLE t"}
    field, message = problem_of("mapping", targets=[target])
    assert field == "targets.0.condition"
    assert "semicolon" in message


def test_a_normalization_needs_a_rule_and_may_replace_with_nothing() -> None:
    assert problem_of("normalization", rules=[])[0] == "rules"
    rule = {"match": "", "replacement": "x"}
    assert problem_of("normalization", rules=[rule])[0] == "rules.0.match"
    assert problem_of("normalization", rules=[{"match": "x"}])[0] == "rules.0.replacement"


@pytest.mark.parametrize(
    "sql", ["", "SELECT 1; SELECT 2", "a + b", "DELETE FROM t", "SELECT a FROM t FOR UPDATE"]
)
def test_an_example_holds_exactly_one_read_only_query(sql: str) -> None:
    assert problem_of("example", sql=sql)[0] == "sql"


@pytest.mark.parametrize("sql", ["", "SELECT 1", "(SELECT 1)", "a b", "*", "a;", "a -- b", "f("])
def test_a_formula_is_one_expression(sql: str) -> None:
    assert problem_of("formula", sql=sql)[0] == "sql"


def test_a_formula_declares_the_columns_it_names_in_full() -> None:
    field, message = problem_of("formula", sql="clinical.patient.died_at - birth_date")
    assert field == "sql"
    assert "clinical.patient.died_at" in message
    FormulaPayload.model_validate(
        {"concept": "x", "columns": ["a.b.C"], "sql": "A.B.c + short + t.other"}
    )
    FormulaPayload.model_validate({"concept": "x", "sql": "now()"})


@pytest.mark.parametrize(
    "url",
    [
        "",
        "ftp://example.org",
        "javascript:alert(1)",
        "file:///etc/passwd",
        "//example.org",
        "example.org",
        "https://",
        "https:///path",
        "http://user@example.org",
        "http://user:secret@example.org",
        "http://exa mple.org",
        "http://example.org\\@evil.org",
        "http://example.org:port",
        "http://[::1",
        "http://example.org/\n",
        "http://example.org/" + "x" * 2_048,
    ],
)
def test_a_reference_is_a_plain_web_address(url: str) -> None:
    field, message = problem_of("reference", url=url)
    assert field == "url"
    assert "secret" not in message


@pytest.mark.parametrize("url", ["http://a.it", "HTTPS://A.IT:8443/b?c#d", "https://è.it/à"])
def test_a_web_address_is_kept_as_written(url: str) -> None:
    payload = PAYLOADS["reference"].model_validate({**VALID["reference"], "url": url})
    assert payload.url == url
