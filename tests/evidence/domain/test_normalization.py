from __future__ import annotations

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evidence.domain.normalization import (
    InvalidUtf8,
    contains_excerpt,
    excerpt_position,
    normalize_source,
    source_hash,
)

ITALIAN = "Perché è così: il paziente è già stato dimesso, e la città è più lontana.\n" * 5


@pytest.mark.parametrize(
    ("raw", "text"),
    [
        (b"", "\n"),
        (b"a", "a\n"),
        (b"a\n\n\n", "a\n"),
        (b"\n\na\n", "\n\na\n"),
        (b"\xef\xbb\xbfa\r\nb\rc", "a\nb\nc\n"),
        ("e\u0300".encode(), "è\n"),
        (b"| a | b |\n|---|---|\n\n    code  \n", "| a | b |\n|---|---|\n\n    code  \n"),
    ],
)
def test_normalization_changes_only_mark_form_line_ends_and_the_last_newline(
    raw: bytes, text: str
) -> None:
    assert normalize_source(raw) == text


def test_a_checkout_that_rewrites_line_ends_keeps_the_hash() -> None:
    unix = normalize_source(ITALIAN.encode())
    windows = normalize_source(ITALIAN.replace("\n", "\r\n").encode("utf-8-sig"))
    assert source_hash(unix) == source_hash(windows)


def test_the_hash_is_the_known_sha256_of_the_normalized_text() -> None:
    expected = "sha256:87428fc522803d31065e7bce3cf03fe475096631e5e07bbd7a0fde60c4cf25c7"
    assert source_hash(normalize_source(b"a")) == expected


@pytest.mark.parametrize(
    ("written", "guessed", "offset"),
    [
        ("latin-1", "cp1252", 5),
        ("cp1252", "cp1252", 5),
        ("mac_roman", "mac_roman", 5),
        ("cp850", "cp850", 5),
        ("utf-16", "utf_16", 0),
        ("utf-16-le", "utf_16_le", 1),
    ],
)
def test_a_file_that_is_not_utf8_names_the_byte_and_the_likely_encoding(
    written: str, guessed: str, offset: int
) -> None:
    with pytest.raises(InvalidUtf8) as refused:
        normalize_source(ITALIAN.encode(written), path="source/a.md")
    assert (refused.value.offset, refused.value.encoding) == (offset, guessed)
    assert refused.value.path == "source/a.md"
    assert f"byte {offset}" in str(refused.value)


def test_bytes_that_are_no_text_at_all_are_refused_without_a_guess_being_needed() -> None:
    with pytest.raises(InvalidUtf8) as refused:
        normalize_source(bytes(range(256)) * 4)
    assert refused.value.encoding is None


@pytest.mark.parametrize(
    ("excerpt", "found"),
    [
        ("il paziente è già stato dimesso", True),
        ("il paziente e\u0300 gia\u0300 stato dimesso\n", True),
        ("Il paziente è già stato dimesso", False),
        ("il  paziente", False),
        ("", False),
        ("\n", False),
    ],
)
def test_an_excerpt_is_found_word_for_word_or_not_at_all(excerpt: str, found: bool) -> None:
    assert contains_excerpt(normalize_source(ITALIAN.encode()), excerpt) is found


def test_the_same_excerpt_twice_is_two_places() -> None:
    text = "D1 ordinario\nD1 ordinario\n"
    assert excerpt_position(text, "D1") == 0
    assert excerpt_position(text, "D1", start=1) == 13
    assert excerpt_position(text, "D1", start=14) is None


@given(st.text(st.characters(codec="utf-8", exclude_characters="\0")))
def test_normalization_is_a_fixed_point(text: str) -> None:
    once = normalize_source(text.encode())
    assert normalize_source(once.encode()) == once or once.startswith("\ufeff")
    assert once.endswith("\n")
    assert "\r" not in once
    assert unicodedata.is_normalized("NFC", once)
