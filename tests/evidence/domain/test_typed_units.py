"""Typed forms as data: a form that nobody touched gives the unit back, byte for byte."""

from __future__ import annotations

import html
import re
from typing import Any

import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

from evidence.domain.cells import read_list, read_rows, written_list, written_rows
from evidence.domain.codec import dump_curated_markdown
from evidence.domain.sql_remarks import expression_remark, query_remark
from evidence.domain.typed_units import (
    FieldPlace,
    field_names,
    is_covered,
    place_of_problem,
    typed,
    unit_of,
)
from evidence.domain.units import CuratedEvidence, EvidenceKind, UnitInvalid, build_unit
from tests.evidence.domain.drawn import units
from tests.evidence.domain.test_payloads import VALID
from tests.evidence.domain.test_units import fields

cells = st.text(st.sampled_from('a"\t\n ;,b'), max_size=6)


def through_a_browser(value: Any) -> Any:
    """Do to a text what HTML does: written with escapes, read, posted with CRLF."""
    if not isinstance(value, str):
        return list(value)
    shown = html.unescape(html.escape(value))
    return re.sub(r"\r\n|\r|\n", "\r\n", shown)


def posted(unit: CuratedEvidence) -> dict[str, Any]:
    return {name: through_a_browser(value) for name, value in typed(unit).items()}


def unit_of_kind(kind: str, **payload: object) -> CuratedEvidence:
    return build_unit(fields(kind=kind, payload={**VALID[kind], **payload}, body="Corpo."))


@settings(max_examples=600, suppress_health_check=[HealthCheck.too_slow])
@given(units)
def test_a_form_that_nobody_touched_gives_the_same_bytes(unit: CuratedEvidence) -> None:
    assume(is_covered(unit))
    again = unit_of(unit, posted(unit))
    assert again == unit
    assert dump_curated_markdown(again) == dump_curated_markdown(unit)


@settings(max_examples=600, suppress_health_check=[HealthCheck.too_slow])
@given(units)
def test_only_a_stored_carriage_return_is_more_than_a_form_can_hold(unit: CuratedEvidence) -> None:
    texts = [value for value in typed(unit).values() if isinstance(value, str)]
    assert is_covered(unit) == all("\r" not in text for text in texts)


@settings(max_examples=500)
@given(st.lists(st.tuples(cells, cells).filter(any), max_size=4))
def test_rows_are_read_as_they_were_written(rows: list[tuple[str, str]]) -> None:
    assert list(read_rows(written_rows(rows).replace("\n", "\r\n"))) == rows


@settings(max_examples=500)
@given(st.lists(cells.filter(str.strip), max_size=4))
def test_lists_are_read_as_they_were_written(entries: list[str]) -> None:
    assert list(read_list(written_list(entries).replace("\n", "\r\n"))) == entries


@pytest.mark.parametrize(
    ("pasted", "rows"),
    [
        ("01\tOrdinario\r\n02\tDay hospital\r\n", [("01", "Ordinario"), ("02", "Day hospital")]),
        ('01\t"due\nrighe"\n02\tuna', [("01", "due\nrighe"), ("02", "una")]),
        ('01\t"detto ""così"""\n', [("01", '"detto ""così"""')]),
        ('"A"\tfra virgolette', [('"A"', "fra virgolette")]),
        ("NO; non fumatore, mai\nSI; fumatore", [("NO", "non fumatore, mai"), ("SI", "fumatore")]),
        ('NO,"mai, davvero"', [("NO", "mai, davvero")]),
        ("\n \n01\tx\n\t\n", [("01", "x")]),
        ('"aperto\t1', [('"aperto', "1")]),
        (" 01\t x ", [(" 01", " x ")]),
    ],
)
def test_a_paste_from_a_spreadsheet_is_read(pasted: str, rows: list[tuple[str, ...]]) -> None:
    assert list(read_rows(pasted)) == rows


def test_a_row_with_too_many_cells_is_refused_at_its_place() -> None:
    unit = unit_of_kind("enum")
    filled = typed(unit) | {"payload_values": "1\tuno\n2\tdue\ttre"}
    with pytest.raises(UnitInvalid) as refused:
        unit_of(unit, filled)
    assert [problem.field for problem in refused.value.problems] == ["payload.values.1"]


@pytest.mark.parametrize("name", ["payload_values", "scope_concepts"])
def test_more_entries_than_a_unit_holds_are_one_problem_and_not_a_million(name: str) -> None:
    unit = unit_of_kind("enum")
    with pytest.raises(UnitInvalid) as refused:
        unit_of(unit, typed(unit) | {name: "\tx\n" * 300_000})
    assert [problem.field for problem in refused.value.problems] == [name.replace("_", ".")]


def test_what_no_field_holds_is_kept_and_a_settled_doubt_is_not() -> None:
    items = [{"code": "a", "message": "Uno?"}, {"code": "b", "message": "Due?", "field": "title"}]
    unit = build_unit(fields(review_items=items, language="it"))
    saved = unit_of(unit, typed(unit) | {"title": "Altro"}, settled=[0])
    assert [item.code for item in saved.review_items] == ["b"]
    assert (saved.id, saved.language, saved.provenance) == (unit.id, "it", unit.provenance)


def test_purposes_keep_their_order_and_new_ones_follow() -> None:
    unit = build_unit(fields(purposes=["rewriting", "disambiguation"]))
    ticked = ["disambiguation", "schema_linking", "rewriting"]
    saved = unit_of(unit, typed(unit) | {"purposes": ticked})
    assert saved.purposes == ("rewriting", "disambiguation", "schema_linking")


@pytest.mark.parametrize("kind", list(EvidenceKind))
def test_every_field_of_a_payload_has_a_place_in_the_form(kind: EvidenceKind) -> None:
    unit = unit_of_kind(kind.value)
    assert {f"payload_{name}" for name in type(unit.payload).model_fields} <= set(field_names(kind))


@pytest.mark.parametrize(
    ("kind", "field", "place"),
    [
        ("enum", "payload.values.3.meaning", FieldPlace("payload_values", 3, "meaning")),
        ("enum", "payload", FieldPlace("payload_values")),
        ("enum", "scope.tables.0", FieldPlace("scope_tables", 0)),
        ("formula", "payload.sql", FieldPlace("payload_sql")),
        ("domain", "", FieldPlace("body")),
        ("enum", "", FieldPlace("")),
        ("enum", "provenance.source_file", FieldPlace("")),
    ],
)
def test_a_problem_is_shown_at_its_field(kind: str, field: str, place: FieldPlace) -> None:
    assert place_of_problem(EvidenceKind(kind), field) == place


def test_a_remark_on_sql_says_where_the_reader_stumbled() -> None:
    remark = expression_remark("età >= 18\r\n  AND age(a.b.c, ) > 1")
    assert remark is not None
    assert (remark.line, remark.source) == (2, "  AND age(a.b.c, ) > 1")
    assert remark.source[remark.column - 1] == ")"
    assert expression_remark("a.b.c = 1", declared=["A.b.c"]) is None
    undeclared = expression_remark("a.b.c = 1", declared=[])
    assert undeclared is not None
    assert undeclared.offset == 0
    assert query_remark("SELECT 1") is None
    assert query_remark("DELETE FROM t") is not None
