from __future__ import annotations

import random
import re
from typing import Any

import pytest
import yaml
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from evidence.domain.codec import (
    FileUnreadable,
    UnitTooLarge,
    dump_curated_markdown,
    parse_curated_markdown,
    read_front_matter,
    read_yaml_mapping,
    write_yaml,
)
from evidence.domain.units import CuratedEvidence, EvidenceKind, UnitInvalid, build_unit
from tests.evidence.domain.drawn import any_text, stored, units
from tests.evidence.domain.test_payloads import VALID
from tests.evidence.domain.test_units import fields

FILE = f"""---
schema_version: 1
id: evidence:fascia-pediatrica
kind: formula
title: Fascia pediatrica
language: it
purposes:
- sql_generation
scope:
  concepts:
  - fascia pediatrica
  tables:
  - clinical.patient
  columns:
  - clinical.patient.birth_date
provenance:
  source_file: source/domain/pazienti.md
  source_sha256: sha256:{"0f3c" * 16}
  supporting_excerpts:
  - Sono pediatrici i pazienti con meno di 18 anni al ricovero.
payload:
  concept: fascia pediatrica
  columns:
  - clinical.patient.birth_date
  - clinical.admission.admitted_at
  sql: |-
    age(clinical.admission.admitted_at, clinical.patient.birth_date)
      < interval '18 years'
  limitations: Età al ricovero, non alla dimissione.
---
Note del curatore.
"""


def refusal_of(text: str) -> UnitInvalid:
    with pytest.raises(UnitInvalid) as caught:
        parse_curated_markdown(text, path="curated/formula/x.md")
    assert caught.value.code == "unit_invalid"
    assert caught.value.path == "curated/formula/x.md"
    return caught.value


def place_of(text: str) -> tuple[int | None, int | None]:
    refused = refusal_of(text)
    return refused.line, refused.column


def unreadable(text: str) -> tuple[str, int | None, int | None]:
    with pytest.raises(FileUnreadable) as caught:
        read_yaml_mapping(text)
    return str(caught.value), caught.value.line, caught.value.column


def test_the_complete_file_of_the_specification_is_read_and_written_back() -> None:
    unit = parse_curated_markdown(FILE)
    assert unit.title == "Fascia pediatrica"
    assert unit.body == "Note del curatore."
    assert dump_curated_markdown(unit) == FILE


@pytest.mark.parametrize("kind", EvidenceKind)
def test_a_unit_of_each_kind_survives_the_file(kind: EvidenceKind) -> None:
    unit = build_unit(fields(kind=str(kind), payload=VALID[kind], body="# Testo\n\n---\n"))
    assert parse_curated_markdown(dump_curated_markdown(unit)) == unit


@settings(max_examples=150, deadline=None, suppress_health_check=list(HealthCheck))
@given(units)
def test_every_unit_is_read_back_as_it_was_and_its_text_is_a_fixed_point(
    unit: CuratedEvidence,
) -> None:
    text = dump_curated_markdown(unit)
    assert parse_curated_markdown(text) == unit
    assert dump_curated_markdown(parse_curated_markdown(text)) == text
    assert text.endswith("\n")
    assert not text.endswith("\n\n")


@settings(max_examples=150, deadline=None, suppress_health_check=list(HealthCheck))
@given(units)
def test_another_yaml_reader_reads_the_same_text(unit: CuratedEvidence) -> None:
    front = dump_curated_markdown(unit).removeprefix("---\n").split("\n---\n")[0] + "\n"
    theirs = yaml.load(front, yaml.SafeLoader)
    assert theirs == unit.model_dump(mode="json", exclude_defaults=True, exclude={"body"})


values = st.recursive(
    st.one_of(any_text, stored),
    lambda inner: st.one_of(
        st.lists(inner, max_size=3), st.dictionaries(any_text, inner, max_size=3)
    ),
    max_leaves=8,
)


@settings(max_examples=150, deadline=None, suppress_health_check=list(HealthCheck))
@given(st.dictionaries(any_text, values, min_size=1, max_size=4))
def test_any_mapping_of_text_survives_the_writer(data: dict[str, Any]) -> None:
    assert read_yaml_mapping(write_yaml(data)) == data


@pytest.mark.parametrize(
    "written",
    [
        "0802",
        "NO",
        "no",
        "null",
        "~",
        "2024-01-01",
        "2024-02-31",
        "1e3",
        "12:30:45",
        "0x1F",
        "True",
    ],
)
def test_every_scalar_is_text_exactly_as_written(written: str) -> None:
    assert read_yaml_mapping(f"a: {written}\nb:\n- {written}\n") == {"a": written, "b": [written]}


def test_nothing_behind_a_colon_is_the_empty_text() -> None:
    assert read_yaml_mapping("a:\nb: ''\n") == {"a": "", "b": ""}


MISTAKABLE = ["0802", "no", "Y", "null", "~", "", "2024-01-01", "1e3", "12:30:45", ".5", "0o17"]
MISTAKABLE += [
    "=",
    "<<",
    "- a",
    "a: b",
    "a #b",
    "#a",
    "a:",
    "@a",
    "*a",
    "&a",
    "!a",
    "%a",
    "?",
    "[a]",
]
MISTAKABLE += [" a", "a ", "..."]


@pytest.mark.parametrize("text", MISTAKABLE)
def test_what_another_reader_would_mistake_is_quoted(text: str) -> None:
    assert write_yaml({"a": text}) == f"a: '{text}'\n"
    assert yaml.safe_load(write_yaml({"a": text})) == {"a": text}


@pytest.mark.parametrize(
    "text", ["Età", "evidence:a-b", "a, b [c]", "l'esito", "18 anni", "a#b", "x:y"]
)
def test_plain_text_stays_plain(text: str) -> None:
    assert write_yaml({"a": text}) == f"a: {text}\n"


@pytest.mark.parametrize(
    ("text", "written"),
    [
        ("a\nb", "|-\n  a\n  b"),
        ("a\nb\n", "|\n  a\n  b"),
        ("a\n\n", "|+\n  a\n"),
        ("\na", "|-\n\n  a"),
        ("  a\nb", "|2-\n    a\n  b"),
        ("\n\ta\nb", "|2-\n\n  \ta\n  b"),
        ("a \nb", '"a \\nb"'),
        ("\n", '"\\n"'),
        ("a\u202eb", '"a\\u202Eb"'),
        ("a\u2028b", '"a\\u2028b"'),
        ("\ufeffa", '"\\uFEFFa"'),
        ("a\u200bb\nc", '"a\\u200Bb\\nc"'),
        ("e\u0301", '"e\\u0301"'),
        ("a\n\u0303", "|-\n  a\n  \u0303"),
        ("x\t\n\u0303", '"x\\t\\n\\u0303"'),
        ("a\tb", '"a\\tb"'),
        ("a\rb", '"a\\rb"'),
        ("\U000e0041", '"\\U000E0041"'),
    ],
)
def test_multi_line_text_is_a_literal_block_and_hidden_letters_are_shown(
    text: str, written: str
) -> None:
    assert write_yaml({"k": text}) == f"k: {written}\n"
    assert read_yaml_mapping(f"k: {written}\n") == {"k": text}
    assert yaml.safe_load(f"k: {written}\n") == {"k": text}


def test_the_writer_keeps_the_order_and_knows_numbers_and_empty_collections() -> None:
    data = {"b": 1, "a": True, "c": [], "d": {}, "e": [["x", "y"], {"k": ("z",)}]}
    text = "b: 1\na: true\nc: []\nd: {}\ne:\n-\n  - x\n  - 'y'\n- k:\n  - z\n"
    assert write_yaml(data) == text
    assert yaml.safe_load(text) == {**data, "e": [["x", "y"], {"k": ["z"]}]}
    with pytest.raises(TypeError, match="float"):
        write_yaml({"a": 1.5})


def test_a_long_key_is_written_so_that_any_reader_finds_its_value() -> None:
    data = {"source/" + "x" * 3_000 + ": y.md": {"sha256": "s", "units": ["u"]}}
    assert read_yaml_mapping(write_yaml(data)) == data
    assert yaml.safe_load(write_yaml(data)) == data


def test_flow_collections_are_read_and_never_written() -> None:
    flow = FILE.replace("purposes:\n- sql_generation", "purposes: [sql_generation]")
    assert dump_curated_markdown(parse_curated_markdown(flow)) == FILE


def test_absent_optional_fields_are_left_out() -> None:
    text = dump_curated_markdown(build_unit(fields()))
    for name in ("language", "scope", "review_items", "null", "[]", "{}"):
        assert name not in text
    assert text.endswith("  synonyms:\n  - RFA\n---\n")


def test_keys_come_in_one_order_whatever_the_order_in_the_file() -> None:
    front, body = read_front_matter(FILE)
    backwards = "---\n" + write_yaml(dict(reversed(front.items()))) + "---\n" + body
    assert backwards != FILE
    assert dump_curated_markdown(parse_curated_markdown(backwards)) == FILE


@pytest.mark.parametrize(
    ("old", "new", "place"),
    [
        ("language: it", "title: Doppio", (6, 1)),
        ("  concept: fascia", "  sql: x\n  concept: fascia", (27, 3)),
        ("title: Fascia", "title: &a Fascia", (5, 8)),
        ("language: it", "language: *a", (6, 11)),
        ("title: Fascia", "title: !!str Fascia", (5, 8)),
        ("title: Fascia", "title: ! Fascia", (5, 8)),
        ("scope:\n", "scope: &s\n", (9, 8)),
        ("language: it", "\tlanguage: it", (6, 1)),
        ("  tables:", "  \ttables:", (12, 3)),
        ("purposes:\n- sql_generation", "purposes: [\n\tsql_generation]", (8, 1)),
        ("title: Fascia", "? [a]\n: b\ntitle: Fascia", (5, 3)),
        ("title: Fascia", "? {a: b}\n: b\ntitle: Fascia", (5, 3)),
        ("language: it", "<<: *a", (6, 5)),
        ("language: it", "language: 'it", None),
        ("language: it", "language: it: no", (6, 13)),
        ("language: it", "--- more: documents", (6, 1)),
        ("language: it", "language: \u0007it", (6, 11)),
        ("language: it", "language: \u0085it", (6, 11)),
        ("Note del", "Note\u0000 del", (31, 5)),
        ("Note del", "Note\ud800 del", (31, 5)),
        ("language: it", 'language: "\\ud800"', None),
        ("language: it", "language: it\nbody: twice", (7, 7)),
        ("language: it", "language: it\nstatus: approved", (7, 9)),
        ("kind: formula", "kind: formulas", (4, 7)),
        (
            "  - clinical.patient.birth_date\n  - clinical.adm",
            "  - birth_date\n  - clinical.adm",
            (24, 5),
        ),
        ("title: Fascia pediatrica\n", "", (1, 1)),
    ],
)
def test_a_refusal_names_line_and_column(old: str, new: str, place: tuple[int, int] | None) -> None:
    assert old in FILE
    found = place_of(FILE.replace(old, new, 1))
    assert found[0] is not None
    assert place is None or found == place


def test_the_place_of_a_missing_field_is_the_mapping_around_it() -> None:
    refused = refusal_of(FILE.replace("  concept: fascia pediatrica\n", ""))
    assert refused.problems[0].field == "payload.concept"
    assert (refused.line, refused.column) == (22, 3)


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("", 1),
        ("Just text.\n", 1),
        ("\n" + FILE, 1),
        ("----\n" + FILE, 1),
        (" " + FILE, 1),
        ("---\n", 1),
        ("---\nid: x\n", 1),
        ("---\n---\n", 2),
        ("---\n- a\n- b\n---\n", 2),
        ("---\njust text\n---\n", 2),
        ("---\n# only a comment\n---\n", 2),
        ("---\n[a, b]\n---\n", 2),
    ],
)
def test_front_matter_is_a_mapping_between_two_lines_of_hyphens(text: str, line: int) -> None:
    assert refusal_of(text).line == line


def test_hyphens_in_the_body_a_fence_or_a_block_scalar_end_nothing() -> None:
    body = "Prima\n\n---\n\n```yaml\n---\na: b\n---\n```\n---"
    unit = parse_curated_markdown(FILE.replace("Note del curatore.", body))
    assert unit.body == body
    text = FILE.replace("Età al", "|-\n    sopra\n    ---\n    sotto\n    Età al")
    assert "\n---\n" in str(parse_curated_markdown(text).payload.limitations)  # type: ignore[union-attr]


def test_a_byte_order_mark_line_ends_and_composition_change_nothing() -> None:
    unit = parse_curated_markdown(FILE)
    for text in (
        "\ufeff" + FILE,
        FILE.replace("\n", "\r\n"),
        FILE.replace("\n", "\r"),
        FILE.replace("à", "a\u0300"),
        FILE.rstrip("\n"),
        FILE + "\n\n",
        FILE.replace("---\n", "--- \t\n"),
    ):
        assert parse_curated_markdown(text) == unit


def test_a_file_holds_at_most_64_kib() -> None:
    room = 64 * 1024 - len(FILE.encode())
    assert parse_curated_markdown(FILE.replace("Note", "x" * room + "Note")).body.startswith("x")
    for filling in ("x" * (room + 1), "é" * (room // 2 + 1)):
        with pytest.raises(UnitTooLarge) as caught:
            parse_curated_markdown(FILE.replace("Note", filling + "Note"), path="curated/x.md")
        assert (caught.value.code, caught.value.path) == ("unit_too_large", "curated/x.md")
    with pytest.raises(UnitTooLarge):
        dump_curated_markdown(build_unit(fields(body="x" * 64 * 1024)))


def test_yaml_that_is_too_deep_is_refused() -> None:
    assert read_yaml_mapping("a: " + "[" * 11 + "x" + "]" * 11)
    assert "deep" in unreadable("a: " + "[" * 12 + "x" + "]" * 12)[0]
    assert "deep" in unreadable("a: " + "{b: " * 10_000)[0]


def test_a_manifest_like_file_may_begin_with_a_document_line_but_holds_one_document() -> None:
    assert read_yaml_mapping("---\na: b\n") == {"a": "b"}
    assert read_yaml_mapping("# note\na: b\n...\n") == {"a": "b"}
    assert unreadable("a: b\n---\nc: d\n") == ("Only one YAML document is allowed.", 2, 1)
    assert "directives" in unreadable("%YAML 1.1\n---\na: b\n")[0]
    assert "directives" in unreadable("%TAG ! tag:x,2000:\n---\na: b\n")[0]


def test_a_tab_is_allowed_where_it_does_not_indent() -> None:
    assert read_yaml_mapping("a: |2\n  \tx\nb: y\n") == {"a": "\tx\n", "b": "y"}
    assert read_yaml_mapping("a:\tb\n") == {"a": "b"}
    assert unreadable("a: {\n\tb: c}\n") == ("Tabs are not allowed in the indentation.", 2, 1)


def mutated(drawn: random.Random) -> str:
    letters = "\n\t :#-?,[]{}&*!|>'\"%@`~\\.\x00\x85\u2028\ud800\ufeffaé0"
    text = FILE
    for _ in range(drawn.randint(1, 4)):
        place = drawn.randrange(len(text))
        cut = drawn.choice((0, 0, 1, 1, drawn.randrange(60)))
        text = text[:place] + drawn.choice(("", drawn.choice(letters))) + text[place + cut :]
    return text


def outcome_of(text: str) -> CuratedEvidence | UnitInvalid:
    try:
        return parse_curated_markdown(text, path="x.md")
    except UnitInvalid as refused:
        return refused


@pytest.mark.parametrize("seed", range(5))
def test_a_damaged_file_is_read_or_refused_with_code_path_and_place(seed: int) -> None:
    drawn = random.Random(seed)  # noqa: S311 - no secret is made here
    for _ in range(300):
        text = mutated(drawn)
        outcome = outcome_of(text)
        if isinstance(outcome, UnitInvalid):
            assert (outcome.code, outcome.path) == ("unit_invalid", "x.md")
            assert outcome.line is not None
            assert outcome.column is not None
            assert 1 <= outcome.line <= text.count("\n") + 2
        else:
            assert parse_curated_markdown(dump_curated_markdown(outcome)) == outcome


def test_a_credential_in_a_broken_line_is_not_repeated() -> None:
    refused = refusal_of(FILE.replace("language: it", "language: 'hunter2hunter2"))
    assert not re.search("hunter2", str(refused))
