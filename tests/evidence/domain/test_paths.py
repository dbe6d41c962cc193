from __future__ import annotations

import pytest

from evidence.domain.paths import Place, is_allowed, is_safe_name, place_of, twins


@pytest.mark.parametrize(
    "path",
    [
        "/etc/passwd",
        "../x.md",
        "source/../x.md",
        "source/./x.md",
        "source//x.md",
        "source/.git/x.md",
        "source/.GIT/x.md",
        "source/git~1/x.md",
        "source/.git./x.md",
        "source/a\\b.md",
        "source/a\nb.md",
        "source/a\x00b.md",
        "source/a\u200bb.md",
        "source/a\u202eb.md",
        "source/a\u2028b.md",
        "source/e\u0300.md",
        "source/\udcff.md",
        "source/" + "x" * 1_000 + ".md",
        "",
    ],
)
def test_names_that_could_mean_another_file_are_refused(path: str) -> None:
    assert not is_safe_name(path)


@pytest.mark.parametrize("path", ["source/già più.md", "source/日本.md", "-rf", "source/a..b.md"])
def test_names_in_any_language_are_safe(path: str) -> None:
    assert is_safe_name(path)


@pytest.mark.parametrize(
    ("path", "place"),
    [
        ("curated/formula/a.md", Place.UNIT),
        ("curated/a.md", Place.UNIT),
        ("curated/formula/a.txt", None),
        ("curated/formula/.a.md", None),
        ("curated/.x/a.md", None),
        ("source/a.md", Place.SOURCE),
        ("source/a.exe", Place.SOURCE),
        ("source/.x/a.md", Place.IGNORED),
        ("manifest.yaml", Place.MANIFEST),
        ("evaluation.yaml", Place.EVALUATION),
        ("dismissals.yaml", Place.DISMISSALS),
        ("README.md", Place.IGNORED),
        ("readme.txt", None),
        ("source", None),
        ("other/a.md", None),
    ],
)
def test_a_path_says_what_its_file_is(path: str, place: Place | None) -> None:
    assert place_of(path) is place
    assert is_allowed(path) is (place is not None)


def test_names_equal_after_folding_are_twins() -> None:
    paths = ["source/A.md", "source/a.md", "source/b.md", "source/\u00e8.md", "source/e\u0300.md"]
    assert twins(paths) == {*paths} - {"source/b.md"}
