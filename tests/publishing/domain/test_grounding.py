"""Grounding against a brute-force reading of the same units: nothing collapsed, nothing missed."""

from __future__ import annotations

import re
import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rapidfuzz.distance import Indel

from evidence.domain.units import CuratedEvidence, build_unit
from publishing.domain.grounding import FUZZY_CUTOFF, GroundingIndex, Match, fold
from publishing.domain.places import places_from_json, places_of


def a_unit(kind: str, slug: str, payload: dict[str, object], **more: object) -> CuratedEvidence:
    return build_unit(
        {
            "schema_version": 1,
            "id": f"evidence:{slug}",
            "kind": kind,
            "title": slug.replace("-", " ").capitalize(),
            "purposes": ["schema_linking"],
            "provenance": {
                "source_file": "source/note.md",
                "source_sha256": "sha256:" + "0" * 64,
                "supporting_excerpts": ["as it was said"],
            },
            "payload": payload,
            **more,
        }
    )


def an_enum(slug: str, column: str, **values: str) -> CuratedEvidence:
    listed = [{"value": value, "meaning": meaning} for value, meaning in values.items()]
    return a_unit("enum", slug, {"column": column, "values": listed})


def a_mapping(slug: str, term: str, *targets: dict[str, str]) -> CuratedEvidence:
    return a_unit("mapping", slug, {"term": term, "targets": list(targets)})


UNITS = [
    an_enum("regime", "clinical.admission.regime", DH="day hospital, senza notte", O="ordinario"),
    an_enum("sesso", "clinical.patient.sex", F="femmina", M="maschio"),
    a_mapping(
        "ablazione",
        "ablazione",
        {"column": "clinical.procedure.code", "value": "37.34"},
        {"column": "clinical.procedure.text", "condition": "clinical.procedure.text ~ 'abl'"},
    ),
    an_enum("intervento", "clinical.surgery.kind", ABL="Ablazione"),
    an_enum("drg", "clinical.drg.code", **{"DRG 123": "morte", "DRG 124": "infarto"}),
    a_unit(
        "formula",
        "riammissione-entro-30-giorni",
        {"concept": "riammissione entro 30 giorni", "columns": ["a.b.c"], "sql": "a.b.c > 1"},
        scope={"concepts": ["rientro"]},
    ),
]


def index_of(units: list[CuratedEvidence]) -> GroundingIndex:
    kept = places_from_json(places_of(units).as_json())
    return GroundingIndex(kept.places, kept.formulas)


def rows(value: str) -> list[tuple[str, str | None, str]]:
    found = index_of(UNITS).ground(value).matches
    return [(one.place.column, one.place.stored_value, one.match.value) for one in found]


def test_every_column_of_a_term_is_a_row_of_its_own():
    assert rows("ablazione") == [
        ("clinical.procedure.code", "37.34", "exact"),
        ("clinical.procedure.text", None, "exact"),
        ("clinical.surgery.kind", "ABL", "normalized"),
    ]
    condition = index_of(UNITS).ground("ablazione").matches[1].place.meaning
    assert condition == "ablazione: clinical.procedure.text ~ 'abl'"


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ("DH", [("clinical.admission.regime", "DH", "exact")]),
        ("dh", [("clinical.admission.regime", "DH", "normalized")]),
        ("Day Hospital", [("clinical.admission.regime", "DH", "normalized")]),
        (" maschio ", [("clinical.patient.sex", "M", "exact")]),
        ("femina", [("clinical.patient.sex", "F", "fuzzy")]),
        ("DRG 123", [("clinical.drg.code", "DRG 123", "exact")]),
        ("DRG 129", []),  # Nearly alike, and another code altogether.
        ("fm", []),
        ("?!", []),
    ],
)
def test_a_value_is_found_as_it_is_typed(value, expected):
    assert rows(value) == expected


def test_a_fuzzy_match_is_below_one_and_at_least_the_cutoff():
    [only] = index_of(UNITS).ground("femina").matches
    assert only.match is Match.FUZZY
    assert FUZZY_CUTOFF <= only.score < 1


@pytest.mark.parametrize("term", ["riammissione", "Riammissione entro 30 giorni", "RIENTRO"])
def test_a_formula_that_covers_the_term_is_linked(term):
    assert index_of(UNITS).ground(term).formulas == ("evidence:riammissione-entro-30-giorni",)


@pytest.mark.parametrize("term", ["30", "ammissione", "?", "giorni entro"])
def test_a_formula_is_not_linked_for_less_than_its_words(term):
    assert index_of(UNITS).ground(term).formulas == ()


WORDS = ["ablazione", "Ablazione", "ablazioni", "età", "eta", "DH", "dh", "D.H.", "cuore", "cuori"]
NAMES = st.lists(st.sampled_from(WORDS), min_size=1, max_size=3).map(" ".join)
COLUMNS = st.sampled_from(["s.a.x", "s.a.y", "s.b.z"])


@st.composite
def some_units(draw: st.DrawFn) -> list[CuratedEvidence]:
    enums = draw(
        st.lists(st.tuples(COLUMNS, st.dictionaries(NAMES, NAMES, min_size=1)), max_size=4)
    )
    mappings = draw(st.lists(st.tuples(NAMES, COLUMNS, NAMES), max_size=4))
    return [an_enum(f"e-{n}", column, **values) for n, (column, values) in enumerate(enums)] + [
        a_mapping(f"m-{n}", term, {"column": column, "value": value})
        for n, (term, column, value) in enumerate(mappings)
    ]


def plain(text: str) -> str:
    """The oracle's own folding, one character at a time."""
    kept = ""
    for letter in unicodedata.normalize("NFKD", text).casefold():
        if letter.isalnum():
            kept += letter
        elif not unicodedata.combining(letter):
            kept += " "
    return " ".join(kept.split())


def likeness(first: str, second: str) -> float:
    """Two times the longest common subsequence over both lengths, by a table."""
    table = [[0] * (len(second) + 1) for _ in range(len(first) + 1)]
    for i, a in enumerate(first):
        for j, b in enumerate(second):
            table[i + 1][j + 1] = (
                table[i][j] + 1 if a == b else max(table[i][j + 1], table[i + 1][j])
            )
    return 2 * table[-1][-1] / (len(first) + len(second))


def named_rows(unit: CuratedEvidence) -> list[tuple[list[str], tuple[str, str, str]]]:
    """Read the names and the row of each value or target of a unit."""
    data = unit.payload.model_dump()
    if unit.kind == "enum":
        return [
            (
                [one["value"], one["meaning"], re.split(r"[,;:(\n]", one["meaning"])[0]],
                (data["column"], one["value"], unit.id),
            )
            for one in data["values"]
        ]
    return [
        ([data["term"], one["value"]], (one["column"], one["value"], unit.id))
        for one in data["targets"]
    ]


def grade(names: list[str], value: str) -> str:
    asked, offered = plain(value), [plain(name) for name in names]
    if value.strip() in [name.strip() for name in names]:
        return "exact"
    if asked in offered:
        return "normalized"
    alike = len(asked) > 3 and any(likeness(asked, name) >= 0.85 for name in offered)
    return "fuzzy" if alike else ""


def brute(units: list[CuratedEvidence], value: str) -> set[tuple[str, str, str, str]]:
    """Read every unit for every value: exact or folded, and only then what is alike."""
    graded = {(*row, grade(names, value)) for unit in units for names, row in named_rows(unit)}
    certain = {row for row in graded if row[-1] in {"exact", "normalized"}}
    return certain or {row for row in graded if row[-1]}


@given(some_units(), NAMES)
def test_the_index_agrees_with_reading_every_unit(units, value):
    found = index_of(units).ground(value).matches
    rows = [
        (one.place.column, one.place.stored_value, one.place.evidence_id, one.match.value)
        for one in found
    ]
    assert set(rows) == brute(units, value)


@given(some_units(), NAMES, st.randoms())
def test_the_order_of_the_units_does_not_matter(units, value, random):
    shuffled = list(units)
    random.shuffle(shuffled)
    assert index_of(units).ground(value) == index_of(shuffled).ground(value)


def test_the_likeness_of_the_oracle_is_the_one_that_is_documented():
    assert likeness("femina", "femmina") == pytest.approx(
        Indel.normalized_similarity("femina", "femmina")
    )
    assert fold("  Età, D.H. ") == "eta d h"
