"""SQL that may be another database's."""

from __future__ import annotations

import pytest

from evidence.domain.dialects import foreign_words
from evidence.domain.findings import Severity
from evidence.domain.payloads import ExamplePayload, FormulaPayload, MappingPayload, Payload
from evidence.domain.unit_inspection import inspect_unit
from tests.evidence.domain.corpus import UNIT, unit_file


def formula(sql: str) -> FormulaPayload:
    return FormulaPayload(concept="x", columns=(), sql=sql)


@pytest.mark.parametrize(
    ("sql", "words"),
    [
        ("nvl(a, 0)", ("nvl",)),
        ("IFNULL(a, 0) + ifnull(b, 0)", ("IFNULL", "ifnull")),
        ("datediff(a, b) > 3", ("datediff",)),
        ("if(a > 1, b, c)", ("if",)),
        ("a::string", ("string",)),
        ("CAST(a AS NUMBER)", ("NUMBER",)),
        ("cast(coalesce(a, b) as int64)", ("int64",)),
        ("count(*) FILTER (WHERE len(a) > 1)", ("len",)),
    ],
)
def test_functions_and_types_of_other_databases_are_named(sql: str, words: tuple[str, ...]) -> None:
    assert foreign_words(formula(sql)) == words


@pytest.mark.parametrize(
    "sql",
    [
        "coalesce(a, 0)",
        "a::text || 'nvl(a, 0)'",
        "a /* nvl(a, 0) */ > 1",
        '"nvl"(a)',
        "util.nvl(a, 0)",
        "len + instr",
        "a ISNULL",
        "CAST(a AS double precision)",
        "a::double precision",
        "to_number(a, '99') > decode('00', 'hex')::text::int",
        "substring(a from 1 for 2)",
    ],
)
def test_what_postgresql_has_or_quotes_is_no_doubt(sql: str) -> None:
    assert foreign_words(formula(sql)) == ()


def test_examples_and_conditions_of_mappings_are_looked_at_too() -> None:
    payloads: tuple[Payload, ...] = (
        ExamplePayload(question="?", sql="SELECT nvl(a, 0) AS number FROM b;"),
        MappingPayload.model_validate(
            {"term": "x", "targets": [{"column": "a.b.c", "condition": "nvl(c, 0) = 1"}]}
        ),
    )
    assert [foreign_words(payload) for payload in payloads] == [("nvl",), ("nvl",)]


def test_a_doubtful_unit_is_warned_of_and_not_refused() -> None:
    payload = {
        "concept": "x",
        "columns": ["clinical.patient.birth_date"],
        "sql": "nvl(clinical.patient.birth_date, now())",
    }
    inspection = inspect_unit(UNIT, unit_file(payload=payload))
    assert inspection.unit is not None
    (found,) = inspection.findings
    assert (found.code, found.severity) == ("dialect_uncertain", Severity.WARNING)
    assert str(found.message) == "This SQL may not be PostgreSQL: nvl."
