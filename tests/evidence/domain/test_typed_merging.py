"""Three versions of a form: each field is somebody's, or a dispute, and no word goes missing."""

from __future__ import annotations

from collections.abc import Mapping

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evidence.domain.typed_merging import merge_fields

NAMES = ("title", "body", "purposes", "payload_values", "scope_tables")


@pytest.mark.parametrize(
    ("base", "ours", "theirs", "now", "taken", "disputed"),
    [
        ("a", "a", "b", "b", ("title",), ()),
        ("a", "b", "a", "b", (), ()),
        ("a", "b", "b", "b", (), ()),
        ("a", "b", "c", "b", (), ("title",)),
        ("a\nb", "a\r\nb", "c", "c", ("title",), ()),
    ],
)
def test_one_field_of_three_versions(
    base: str, ours: str, theirs: str, now: str, taken: tuple[str, ...], disputed: tuple[str, ...]
) -> None:
    merged = merge_fields({"title": base}, {"title": ours}, {"title": theirs})
    assert (merged.fields["title"], merged.taken_over, merged.disputed) == (now, taken, disputed)


@pytest.mark.parametrize(
    ("name", "base", "ours"),
    [
        ("payload_values", "1\tuno", "1\tuno\r\n\r\n"),
        ("scope_tables", "a.b\nc.d", "a.b\r\n\r\nc.d\r\n"),
        ("purposes", ["rewriting", "disambiguation"], ["disambiguation", "rewriting"]),
    ],
)
def test_what_only_looks_different_is_no_change_of_ours(
    name: str, base: str | list[str], ours: str | list[str]
) -> None:
    theirs: Mapping[str, str | list[str]] = {name: "x.y" if isinstance(base, str) else []}
    merged = merge_fields({name: base}, {name: ours}, theirs)
    assert merged.fields[name] == theirs[name]
    assert not merged.disputed


versions = st.fixed_dictionaries(
    {name: st.sampled_from("xyz") for name in NAMES if name != "purposes"}
)


@given(versions, versions, versions)
def test_no_change_of_anybody_is_lost_unseen(
    base: dict[str, str], ours: dict[str, str], theirs: dict[str, str]
) -> None:
    merged = merge_fields(base, ours, theirs)
    for name, mine in ours.items():
        now = merged.fields[name]
        assert mine in (base[name], now)
        assert theirs[name] in (base[name], now) or name in merged.disputed
