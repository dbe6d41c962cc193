"""Units that speak of one thing and disagree."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest

from evidence.domain.codec import dump_curated_markdown
from evidence.domain.contradictions import check_subject, speakers_of
from evidence.domain.dismissals import Dismissal, Dismissals, Side
from evidence.domain.findings import ValidationFinding
from evidence.domain.identifiers import unit_path
from evidence.domain.unit_inspection import UnitInspection, inspect_unit
from tests.evidence.domain.corpus import a_unit

Payload = Mapping[str, Any]


def units(kind: str, *payloads: Payload, **fields: Any) -> list[UnitInspection]:
    """Give one unit a payload: `a`, `b`, `c`, …."""
    made = []
    for number, payload in enumerate(payloads):
        name = f"evidence:{chr(97 + number)}"
        unit = a_unit(kind, id=name, title=name, payload=payload, **fields)
        data = dump_curated_markdown(unit).encode()
        made.append(inspect_unit(unit_path(unit.kind, unit.id), data))
    return made


def findings(
    some: list[UnitInspection], dismissed: Dismissals = frozenset(), *, language: str = "it"
) -> list[ValidationFinding]:
    return [
        found
        for subject, speakers in speakers_of(some, language=language).items()
        for found in check_subject(subject, speakers, dismissed)
    ]


def pairs(some: list[UnitInspection], dismissed: Dismissals = frozenset()) -> set[tuple[str, str]]:
    """Give who is told of whom, by the letters of the units."""
    return {
        (found.path.rpartition("/")[2][0], str(found.message.values["other"]).rpartition("/")[2][0])
        for found in findings(some, dismissed)
    }


def formula(concept: str, sql: str) -> Payload:
    return {"concept": concept, "columns": ["c.p.age"], "sql": sql}


def enum(column: str, **values: str) -> Payload:
    entries = [{"value": value.lstrip("_"), "meaning": said} for value, said in values.items()]
    return {"column": column, "values": entries}


def term(word: str, definition: str) -> Payload:
    return {"term": word, "definition": definition}


def mapping(word: str, *targets: Payload) -> Payload:
    return {"term": word, "targets": list(targets)}


TWO = {("a", "b"), ("b", "a")}
CONFLICTS: list[tuple[str, str, Payload, Payload]] = [
    (
        "conflicting_formula",
        "formula",
        formula("Fascia pediatrica", "c.p.age < 18"),
        formula("fascia  PEDIATRICA", "c.p.age <= 18"),
    ),
    (
        "conflicting_enum",
        "enum",
        enum("c.p.sex", M="maschio", F="femmina"),
        enum("c.p.sex", F="fratello"),
    ),
    (
        "conflicting_term",
        "glossary",
        term("Età", "Anni compiuti."),
        term("eta'", "Mesi compiuti."),
    ),
    (
        "conflicting_term",
        "mapping",
        mapping("decesso", {"column": "c.p.died_at"}),
        mapping("Decesso", {"column": "c.a.outcome", "value": "D"}),
    ),
    (
        "conflicting_term",
        "mapping",
        mapping("decesso", {"column": "c.p.x", "condition": "x > 1"}),
        mapping("decesso", {"column": "c.p.x", "condition": "x > 2"}),
    ),
]
AGREEMENTS: list[tuple[str, Payload, Payload]] = [
    ("formula", formula("x", "c.p.age<18"), formula("X", "C.P.AGE  <  /* anni */ 18")),
    ("formula", formula("x", "c.p.age < 18"), formula("y", "c.p.age < 16")),
    ("enum", enum("c.p.sex", M="maschio"), enum("c.p.sex", M="Maschio.", F="femmina")),
    ("enum", enum("c.p.sex", M="maschio"), enum("c.q.sex", M="medico")),
    ("enum", enum("c.p.sex", m="maschio"), enum("c.p.sex", M="medico")),
    ("glossary", term("età", "Anni compiuti."), term("Età", "anni  COMPIUTI")),
    ("glossary", term("età", "Anni compiuti."), term("età gestazionale", "Settimane.")),
    (
        "mapping",
        mapping("x", {"column": "c.p.a", "condition": "a>1"}, {"column": "c.p.b"}),
        mapping("x", {"column": "c.p.b"}, {"column": "c.p.a", "condition": "a > 1"}),
    ),
    ("domain", {"topic": "Ricoveri"}, {"topic": "Ricoveri"}),
]


@pytest.mark.parametrize(("code", "kind", "one", "other"), CONFLICTS)
def test_units_that_disagree_are_each_told_of_the_other(
    code: str, kind: str, one: Payload, other: Payload
) -> None:
    some = units(kind, one, other)
    assert pairs(some) == TWO
    assert {found.code for found in findings(some)} == {code}


@pytest.mark.parametrize(("kind", "one", "other"), AGREEMENTS)
def test_units_that_agree_or_speak_of_other_things_are_not(
    kind: str, one: Payload, other: Payload
) -> None:
    body = {"body": "# Ricoveri\n\nTesto."} if kind == "domain" else {}
    assert findings(units(kind, one, other, **body)) == []


def test_a_definition_and_a_mapping_of_one_term_do_not_contradict_each_other() -> None:
    some = units("glossary", term("decesso", "Morte."))
    some += units("mapping", mapping("decesso", {"column": "c.p.died_at"}))
    assert findings(some) == []


def test_words_are_compared_within_one_language_and_sql_across_all() -> None:
    both = (term("RFA", "Ablazione."), term("RFA", "Ablation."))
    italian, english = units("glossary", both[0]), units("glossary", *both, language="en")[1:]
    assert findings(italian + english) == []
    assert findings(italian + english, language="en") != []
    formulas = (formula("BMI", "c.p.age < 1"), formula("BMI", "c.p.age < 2"))
    assert findings(units("formula", formulas[0]) + units("formula", *formulas, language="en")[1:])


def test_the_values_in_conflict_are_named_as_they_are_stored() -> None:
    one = enum("c.p.mode", _0802="sospeso", NO="mai", A="attivo")
    other = enum("c.p.mode", _0802="attivo", NO="sempre", A="attivo")
    (first, _) = findings(units("enum", one, other))
    assert str(first.message) == (
        "c.p.mode: the values 0802, NO mean something else in curated/enum/b.md."
    )


def test_a_message_stays_short_however_much_is_in_conflict() -> None:
    one = enum("c.p.mode", **{f"v{n}" + "x" * 200: "uno" for n in range(50)})
    other = enum("c.p.mode", **{f"v{n}" + "x" * 200: "due" for n in range(50)})
    assert all(len(found.message) <= 500 for found in findings(units("enum", one, other)))


def side(inspection: UnitInspection) -> Side:
    return Side(inspection.evidence_id, inspection.sha256)


def test_a_dismissal_silences_both_sides_and_no_third_one() -> None:
    some = units("glossary", *(term("età", words) for words in ("Anni.", "Mesi.", "Giorni.")))
    assert pairs(some) == {("a", "b"), ("b", "a"), ("c", "a")}
    dismissed = frozenset({Dismissal.of("conflicting_term", side(some[1]), side(some[0]))})
    assert pairs(some, dismissed) == {("a", "c"), ("b", "c"), ("c", "a")}
    assert pairs(some[:2], dismissed) == set()


@pytest.mark.parametrize("changed", [0, 1])
def test_a_dismissal_lapses_when_either_side_changes(changed: int) -> None:
    some = units("glossary", term("età", "Anni."), term("età", "Mesi."))
    dismissed = frozenset({Dismissal.of("conflicting_term", side(some[0]), side(some[1]))})
    some[changed] = units("glossary", *[term("età", "Settimane.")] * 2)[changed]
    assert pairs(some, dismissed) == TWO


def test_a_dismissal_of_another_warning_or_of_other_line_ends_counts_as_expected() -> None:
    some = units("glossary", term("età", "Anni."), term("età", "Mesi."))
    other = frozenset({Dismissal.of("near_duplicate", side(some[0]), side(some[1]))})
    assert pairs(some, other) == TWO
    data = dump_curated_markdown(a_unit("glossary")).encode()
    windows = inspect_unit("curated/glossary/x.md", b"\xef\xbb\xbf" + data.replace(b"\n", b"\r\n"))
    assert windows.sha256 == inspect_unit("curated/glossary/x.md", data).sha256


def test_many_units_on_one_subject_are_told_once_each() -> None:
    same = [term("età", "Anni.")] * 12
    some = units("glossary", *same, term("età", "Mesi."))
    assert len(findings(some)) == 13
