"""Passwords and keys that stand in a text; only their positions are ever told."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class _Shape:
    """One form of secret: words of which one must be in the text (cheap), and the pattern."""

    needles: tuple[str, ...]
    pattern: re.Pattern[str]


_TOKENS = (
    _Shape(("PRIVATE KEY",), re.compile(r"-----BEGIN [A-Z ]{0,40}PRIVATE KEY")),
    _Shape(("AKIA", "ASIA"), re.compile(r"\b(?:AKIA|ASIA)[0-9A-Z]{16}\b")),
    _Shape(("AIza",), re.compile(r"\bAIza[\w-]{35}")),
    _Shape(("ghp_", "gho_", "ghu_", "ghs_", "ghr_"), re.compile(r"\bgh[pousr]_[A-Za-z0-9]{30,}")),
    _Shape(("github_pat_",), re.compile(r"\bgithub_pat_\w{30,}")),
    _Shape(("glpat-",), re.compile(r"\bglpat-[\w-]{20,}")),
    _Shape(("xox",), re.compile(r"\bxox[abeprs]-[\w-]{10,}")),
    _Shape(("sk-",), re.compile(r"\bsk-(?=[\w-]{0,200}\d)[\w-]{20,}")),
    _Shape(("_live_", "_test_"), re.compile(r"\b[rs]k_(?:live|test)_[A-Za-z0-9]{16,}")),
    _Shape(("hf_",), re.compile(r"\bhf_[A-Za-z0-9]{30,}")),
    _Shape(("npm_",), re.compile(r"\bnpm_[A-Za-z0-9]{36}")),
    _Shape(("pypi-",), re.compile(r"\bpypi-[\w-]{50,}")),
    _Shape(("dop_v1_",), re.compile(r"\bdop_v1_[0-9a-f]{64}")),
    _Shape(("SG.",), re.compile(r"\bSG\.[\w-]{16,64}\.[\w-]{16,}")),
    _Shape(("eyJ",), re.compile(r"\beyJ[\w-]{10,}\.[\w-]{10,}\.[\w-]{10,}")),
    _Shape(("AccountKey=",), re.compile(r"AccountKey=[A-Za-z0-9+/]{40,}")),
)
_USER_INFO = re.compile(r"://[^\s/@:]{0,200}:([^\s/@]{1,200})@")
_BEARER = re.compile(r"\b(?:bearer|basic)\s{1,3}([\w.~+/-]{16,500}={0,2})", re.IGNORECASE)
_PASSWORD_WORDS = ("password", "passwd", "passphrase", "pwd")
_ASSIGNED_WORDS = (
    *_PASSWORD_WORDS,
    *("secret", "token", "credential", "api_key", "api-key", "apikey"),
    *("access_key", "access-key", "accesskey"),
)
_ASSIGNED = re.compile(
    r"(?P<word>" + "|".join(_ASSIGNED_WORDS) + r")s?(?:[_-][\w-]{0,40})?"
    r"[\"'`*]{0,3}[^\S\n]{0,3}[:=]{1,2}>?[\s*]{0,3}"
    r"(?P<quote>[\"'`]?)(?P<value>[^\s\"'`,;]{6,300})",
    re.IGNORECASE,
)
_STAND_IN = re.compile(r"[<\[{(*•…$%]|x{3,}|\.{3}", re.IGNORECASE)
_DOTTED_NAME = re.compile(r"[a-z_]\w*(?:\.[a-z_]\w*)+\Z", re.IGNORECASE)


def find_credentials(text: str) -> tuple[int, ...]:
    """Give the character offsets where something secret seems to begin, in order.

    Known key formats, private keys, user info in URLs, bearer headers, and values assigned to
    words such as `password` (spec 20, Validation). Stand-ins such as `<password>`, `***` or
    `${SECRET}` are none.
    """
    return tuple(sorted({*_tokens(text), *_in_addresses(text), *_assigned(text)}))


def _tokens(text: str) -> Iterator[int]:
    for shape in _TOKENS:
        if any(needle in text for needle in shape.needles):
            yield from (match.start() for match in shape.pattern.finditer(text))


def _in_addresses(text: str) -> Iterator[int]:
    if "://" not in text or "@" not in text:
        return
    for match in _USER_INFO.finditer(text):
        if not _STAND_IN.match(match[1]):
            yield match.start(1)


def _assigned(text: str) -> Iterator[int]:
    lowered = text.lower()
    if "bearer" in lowered or "basic" in lowered:
        yield from (
            match.start(1)
            for match in _BEARER.finditer(text)
            if _mixes_letters_and_digits(match[1])
        )
    if any(word in lowered for word in _ASSIGNED_WORDS):
        for match in _ASSIGNED.finditer(text):
            if _looks_secret(match["value"], named=bool(match["quote"]) and _is_password(match)):
                yield match.start("value")


def _is_password(match: re.Match[str]) -> bool:
    return match["word"].lower() in _PASSWORD_WORDS


def _looks_secret(value: str, *, named: bool) -> bool:
    if _STAND_IN.match(value) or _DOTTED_NAME.match(value) or "(" in value:
        return False
    return named or _mixes_letters_and_digits(value)


def _mixes_letters_and_digits(value: str) -> bool:
    return any(letter.isdigit() for letter in value) and any(letter.isalpha() for letter in value)
