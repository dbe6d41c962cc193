from __future__ import annotations

import time

import pytest

from evidence.domain.credentials import find_credentials

# Written in pieces so that no scanner of this repository takes them for real ones.
SECRETS = [
    "https://ada:" + "s3cr3t@example.org/x",
    "postgres://ada:" + "correcthorse@db:5432/clinica",
    "AKIA" + "IOSFODNN7EXAMPLE",
    "ghp_" + "a1B2" * 9,
    "github_pat_" + "a1B2_" * 8,
    "glpat-" + "a1B2c3D4e5F6g7H8i9J0",
    "xoxb-" + "123456789012-abcdefghij",
    "sk-" + "proj-a1B2c3D4e5F6g7H8i9J0",
    "sk_" + "live_a1B2c3D4e5F6g7H8",
    "hf_" + "aBcDeFgHiJ" * 3 + "abcd",
    "AIza" + "a1B2c3D" * 5,
    "eyJ" + "hbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0In0.dBjftJeZ4CVPmB92K27u",
    "-----BEGIN RSA " + "PRIVATE KEY-----",
    "Authorization: Bearer " + "a1B2c3D4e5F6g7H8i9",
    "password: " + "hunter2",
    "db_password = '" + "correcthorse'",
    '"api_key": "' + 'a1b2c3d4e5f6"',
    "API-KEY=" + "a1b2c3d4e5",
    "AWS_SECRET_ACCESS_KEY=" + "wJalrXUtnFEMI/K7MDENG",
    "client_secret: " + "a1b2c3d4",
    "**Password**: " + "hunter2",
]
HARMLESS = [
    "La password va cambiata ogni 90 giorni.",
    "password: obbligatoria",
    "password: <la tua password>",
    "password: ${DB_PASSWORD}",
    "password = ********",
    "token: clinical.session.token_id",
    "Il token di accesso scade.",
    "https://example.org:8080/a@b",
    "https://ada:<password>@example.org",
    "scrivi a ada@example.org: risponde",
    "tokenization: iso8859x",
    "sk-learn è una libreria",
    "secretary: 2024-01-01x",
    "risk_test_results_2024_final",
    "sha256:" + "0f3c" * 16,
    "column: auth.user.password",
    "Basic statistics on admissions",
]


@pytest.mark.parametrize("secret", SECRETS)
def test_what_looks_like_a_secret_is_found_where_it_begins(secret: str) -> None:
    text = f"Prima riga.\n{secret}\nAltro.\n"
    (position,) = find_credentials(text)
    assert 12 <= position < 12 + len(secret)


@pytest.mark.parametrize("text", HARMLESS)
def test_words_about_secrets_and_stand_ins_are_none(text: str) -> None:
    assert find_credentials(text) == ()


@pytest.mark.parametrize(
    "piece", ["password", "a", "://a:", "sk-", "eyJ.", "token_-", "bearer ", "AKIA", "-----BEGIN "]
)
def test_hostile_text_is_scanned_in_linear_time(piece: str) -> None:
    text = piece * (1_000_000 // len(piece))
    before = time.process_time()
    find_credentials(text)
    assert time.process_time() - before < 5
