from __future__ import annotations

import hashlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evidence.domain.identifiers import (
    EVIDENCE_ID,
    column_name,
    evidence_id_for,
    identifier_parts,
    slug_from_id,
    slug_of,
    table_name,
    unit_path,
)
from evidence.domain.problems import FieldRefused


@pytest.mark.parametrize(
    ("title", "slug"),
    [
        ("Fascia pediatrica", "fascia-pediatrica"),
        ("Età al ricovero", "eta-al-ricovero"),
        ("  Indice di Charlson (2012) — note ", "indice-di-charlson-2012-note"),
        ("\uff26\uff21 \ufb01brillazione", "fa-fibrillazione"),
        ("NO", "no"),
        ('L\'esito: "positivo"', "l-esito-positivo"),
        ("x" * 81, "x" * 80),
        ("a" * 40 + " " + "b" * 40, "a" * 40),
        ("a" * 40 + " " + "b" * 39, "a" * 40 + "-" + "b" * 39),
        ("a" * 80 + " b", "a" * 80),
    ],
)
def test_a_slug_is_the_title_in_plain_letters_cut_on_a_hyphen(title: str, slug: str) -> None:
    assert slug_of(title) == slug


@pytest.mark.parametrize("title", ["患者", "Пациент", "—", "😀"])
def test_a_title_without_latin_letters_is_named_after_its_hash(title: str) -> None:
    slug = slug_of(title)
    assert slug.startswith("unit-")
    assert len(slug) == 13
    assert slug == slug_of(title)
    assert slug != slug_of(title + title)


def test_the_hash_is_of_the_title_in_utf_8() -> None:
    assert slug_of("患者") == "unit-" + hashlib.sha256("患者".encode()).hexdigest()[:8]


def test_a_collision_counts_up_from_two() -> None:
    taken = {"evidence:ablazione", "evidence:ablazione-2"}
    assert evidence_id_for("Ablazione", ()) == "evidence:ablazione"
    assert evidence_id_for("Ablazione", taken) == "evidence:ablazione-3"


def test_a_suffix_counts_within_the_eighty_characters() -> None:
    first = evidence_id_for("a" * 40 + " " + "b" * 39, ())
    assert first == "evidence:" + "a" * 40 + "-" + "b" * 39
    assert evidence_id_for("a" * 40 + " " + "b" * 39, {first}) == "evidence:" + "a" * 40 + "-2"
    unbroken = {f"evidence:{'x' * 80}"}
    assert evidence_id_for("x" * 90, unbroken) == f"evidence:{'x' * 78}-2"


@given(st.text(max_size=200), st.integers(0, 12))
def test_every_title_gives_a_valid_id_that_was_not_taken(title: str, collisions: int) -> None:
    taken: set[str] = set()
    for _ in range(collisions + 1):
        evidence_id = evidence_id_for(title, taken)
        assert EVIDENCE_ID.match(evidence_id)
        assert evidence_id not in taken
        taken.add(evidence_id)


def test_a_unit_lies_in_the_folder_of_its_kind() -> None:
    assert unit_path("formula", "evidence:fascia-pediatrica") == (
        "curated/formula/fascia-pediatrica.md"
    )
    assert slug_from_id("evidence:fascia-pediatrica") == "fascia-pediatrica"


@pytest.mark.parametrize(
    ("name", "canonical"),
    [
        ("clinical.patient", "clinical.patient"),
        ("Clinical.PATIENT", "clinical.patient"),
        ('clinical."Patient"', 'clinical."Patient"'),
        ('"clinical"."patient"', "clinical.patient"),
        ('"a.b"."c""d"', '"a.b"."c""d"'),
        ("città.È", "città.È"),
        ("_a.b$1", "_a.b$1"),
    ],
)
def test_unquoted_names_fold_and_quoted_ones_keep_their_case(name: str, canonical: str) -> None:
    assert table_name(name) == canonical
    assert table_name(canonical) == canonical


@pytest.mark.parametrize(
    "name",
    [
        "patient",
        "a.b.c",
        "a..b",
        ".a.b",
        "a.b.",
        "a.1b",
        "a b.c",
        "a-b.c",
        'a."',
        'a.""',
        'a."b"c',
        "a.b;drop",
        "a." + "b" * 64,
        'a."' + "é" * 32 + '"',
        "a.b\n",
    ],
)
def test_what_is_no_table_is_refused(name: str) -> None:
    with pytest.raises(FieldRefused, match=r"schema\.table"):
        table_name(name)


def test_a_column_needs_schema_and_table() -> None:
    assert column_name('clinical.patient."Sex"') == 'clinical.patient."Sex"'
    for name in ("patient.sex", "sex", "db.clinical.patient.sex"):
        with pytest.raises(FieldRefused, match=r"schema\.table\.column"):
            column_name(name)


def test_the_parts_of_a_name_are_canonical() -> None:
    assert identifier_parts('A."B".c') == ("a", '"B"', "c")
    assert identifier_parts("a.") == ()
    assert identifier_parts("a." + "b" * 63) == ("a", "b" * 63)
