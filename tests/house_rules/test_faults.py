"""Rules that every fault keeps."""

from __future__ import annotations

import re
from collections import Counter

import pytest

from evidence.faults import Fault
from tests.house_rules import codes


@pytest.fixture(scope="module")
def faults() -> list[type[Fault]]:
    codes.import_everything()
    return sorted(set(codes.faults()), key=lambda fault: fault.__qualname__)


def test_every_fault_has_a_code_of_its_own(faults: list[type[Fault]]) -> None:
    counted = Counter(fault.code for fault in faults)
    assert {code: count for code, count in counted.items() if count > 1} == {}


def test_every_code_is_a_snake_case_word(faults: list[type[Fault]]) -> None:
    assert [f for f in faults if not re.fullmatch(r"[a-z][a-z0-9]*(_[a-z0-9]+)*", f.code)] == []


def test_every_fault_says_who_can_act(faults: list[type[Fault]]) -> None:
    assert [f for f in faults if not issubclass(f, tuple(codes.ACTS))] == []


def test_the_page_of_codes_is_up_to_date(faults: list[type[Fault]]) -> None:
    assert codes.PAGE.read_text(encoding="utf-8") == codes.page(), (
        "renew it: python -m tests.house_rules.codes"
    )
