"""`dismissals.yaml`: read, written, and honoured while neither side changes."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evidence.domain.dismissals import (
    DISMISSIBLE,
    Dismissal,
    DismissalsInvalid,
    Side,
    dump_dismissals,
    parse_dismissals,
    with_dismissal,
)

ONE, OTHER = Side("evidence:b", "sha256:" + "1" * 64), Side("evidence:a", "sha256:" + "2" * 64)
DISMISSED = Dismissal.of("near_duplicate", ONE, OTHER)

sides = st.builds(
    Side,
    st.from_regex(r"evidence:[a-z0-9]{1,9}(-[a-z0-9]{1,9})?", fullmatch=True),
    st.from_regex(r"sha256:[0-9a-f]{64}", fullmatch=True),
)
dismissals = st.builds(Dismissal.of, st.sampled_from(sorted(DISMISSIBLE)), sides, sides)


def test_a_dismissal_is_one_line_whichever_side_comes_first() -> None:
    assert Dismissal.of("near_duplicate", OTHER, ONE) == DISMISSED
    assert dump_dismissals([DISMISSED]) == (
        "schema_version: 1\ndismissals:\n"
        f"- near_duplicate evidence:a sha256:{'2' * 64} evidence:b sha256:{'1' * 64}\n"
    )


@given(st.frozensets(dismissals))
def test_what_is_written_is_read_again_and_sorted(some: frozenset[Dismissal]) -> None:
    text = dump_dismissals(some)
    assert parse_dismissals(text) == some
    assert dump_dismissals(parse_dismissals(text)) == text
    assert text.split("\n")[2:-1] == sorted(text.split("\n")[2:-1])


@pytest.mark.parametrize("text", ["schema_version: 1\n", "schema_version: 1\ndismissals:\n"])
def test_a_file_may_dismiss_nothing(text: str) -> None:
    assert parse_dismissals(text) == frozenset()


def line(code: str = "near_duplicate", *sides: str) -> str:
    return " ".join((code, *sides))


GOOD = ("evidence:a sha256:" + "2" * 64, "evidence:b sha256:" + "1" * 64)


@pytest.mark.parametrize(
    "entry",
    [
        line(),
        line("hidden_text", *GOOD),
        line("unit_invalid", *GOOD),
        line("near_duplicate", GOOD[0]),
        line("near_duplicate", *GOOD, GOOD[0]),
        line("near_duplicate", *GOOD, "evidence:c"),
        line("near_duplicate", "evidence:A sha256:" + "2" * 64, GOOD[1]),
        line("near_duplicate", "evidence:a sha256:" + "2" * 63, GOOD[1]),
        "[a]",
        "{a: b}",
        "''",
    ],
)
def test_a_line_that_says_anything_else_is_refused(entry: str) -> None:
    with pytest.raises(DismissalsInvalid, match=r"dismissals\.0"):
        parse_dismissals(f"schema_version: 1\ndismissals:\n- {entry}\n")


@pytest.mark.parametrize("text", ["", "dismissals: []\n", "schema_version: 1\nother: x\n", "- x\n"])
def test_a_file_of_another_shape_is_refused(text: str) -> None:
    with pytest.raises(DismissalsInvalid):
        parse_dismissals(text)


def test_dismissing_again_after_a_change_takes_the_place_of_what_lapsed() -> None:
    changed = Side(ONE.evidence_id, "sha256:" + "3" * 64)
    again = Dismissal.of("near_duplicate", OTHER, changed)
    other_warning = Dismissal.of("conflicting_term", OTHER, ONE)
    assert with_dismissal(frozenset({DISMISSED, other_warning}), again) == {again, other_warning}
