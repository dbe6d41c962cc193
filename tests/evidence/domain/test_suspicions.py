from __future__ import annotations

import pytest

from evidence.domain.suspicions import has_hidden_text, has_personal_data, hidden_in, is_fiscal_code


@pytest.mark.parametrize("code", ["RSSMRA85T10A562S", "rssmra85t10a562s", "MRTMTT91D08F205J"])
def test_a_fiscal_code_with_a_valid_check_letter_is_personal_data(code: str) -> None:
    assert is_fiscal_code(code)
    assert has_personal_data(f"Il paziente {code} è ricoverato.")


def test_a_fiscal_code_with_another_check_letter_is_none() -> None:
    assert not has_personal_data("Il codice RSSMRA85T10A562T è di esempio.")


@pytest.mark.parametrize(
    "text",
    [
        "ada@example.org",
        "Scrivere a ADA.Rossi+reparto@posta.asl.example.it.",
        "+39 02 1234567",
        "cell. 347 123 4567",
        "0039 347-1234567",
        "Tel. 0532 123456",
        "telefono: (02) 1234.5678",
        "fax n. 06/12345678",
    ],
)
def test_addresses_and_phone_numbers_are_suspected(text: str) -> None:
    assert has_personal_data(text)


@pytest.mark.parametrize(
    "text",
    [
        "dal 2024-01-01 al 2024-12-31",
        "codice 0802 e 390912",
        "a @> b",
        "interval '18 years'",
        "12.345.678",
        "id 3471234567890",
        "0532 123456",
        "tel 12",
        "il telefono 0 vuol dire assente",
        "SELECT a FROM t WHERE x @ y.z",
    ],
)
def test_dates_codes_and_operators_are_not_personal(text: str) -> None:
    assert not has_personal_data(text)


@pytest.mark.parametrize(
    "text",
    [
        "a <!-- b -->",
        "a\u200bb",
        "a\u202eb",
        "a\u2066b",
        "\ufeffa",
        "a\x1b[8mb",
        "a\x85",
        "\U000e0041",
    ],
)
def test_comments_and_invisible_characters_are_hidden_text(text: str) -> None:
    assert has_hidden_text(text)


def test_accents_and_comparisons_are_not_hidden() -> None:
    assert not has_hidden_text("è già\tpiù < di 3 -- e 😀\n")


def test_what_a_text_hides_is_named_once_and_with_its_first_line():
    assert hidden_in("a\nb\u202e\u200b\u202e\n<!-- x -->") == (2, ["<!--", "U+202E", "U+200B"])
    assert hidden_in("<!--") == (1, ["<!--"])
    assert hidden_in("a\n\n\U000e0041") == (3, ["U+E0041"])
