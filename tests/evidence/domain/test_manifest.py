from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evidence.domain.file_models import MAX_FILE_CHARS
from evidence.domain.manifest import (
    Manifest,
    ManifestInvalid,
    ManifestSource,
    dump_manifest,
    parse_manifest,
)

SHA = "sha256:" + "a" * 64
TEXT = f"""schema_version: 1
pipeline_version: evidence-authoring-v1
sources:
  source/a.md:
    sha256: {SHA}
    units:
      - evidence:one
      - evidence:two
  source/b.md:
    sha256: {SHA}
    units: []
orphans: []
"""


def test_the_example_of_the_specification_is_read() -> None:
    manifest = parse_manifest(TEXT)
    assert manifest.sources["source/a.md"].units == ("evidence:one", "evidence:two")
    assert manifest.owners() == {"evidence:one": "source/a.md", "evidence:two": "source/a.md"}


def test_an_orphan_belongs_to_no_source() -> None:
    assert Manifest(orphans=("evidence:x",)).owners() == {"evidence:x": None}


def test_keys_and_lists_are_written_sorted() -> None:
    manifest = Manifest(
        sources={
            "source/b.md": ManifestSource(sha256=SHA),
            "source/a.md": ManifestSource(sha256=SHA, units=("evidence:two", "evidence:one")),
        },
        orphans=("evidence:z", "evidence:y"),
    )
    written = dump_manifest(manifest)
    assert written.index("source/a.md") < written.index("source/b.md")
    assert written.index("evidence:one") < written.index("evidence:two")
    assert written.index("evidence:y") < written.index("evidence:z")


ids = st.integers(0, 10_000).map(lambda number: f"evidence:u-{number}")


@given(
    st.lists(ids, unique=True, max_size=30),
    st.lists(st.text(st.characters(codec="utf-8", categories=("L", "N")), min_size=1), max_size=8),
)
def test_a_manifest_survives_the_round_trip(units: list[str], names: list[str]) -> None:
    half = len(units) // 2
    sources = {f"source/{name}.md": ManifestSource(sha256=SHA) for name in names}
    sources["source/all.md"] = ManifestSource(sha256=SHA, units=tuple(sorted(units[:half])))
    manifest = Manifest(sources=sources, orphans=tuple(sorted(units[half:])))
    text = dump_manifest(manifest)
    assert dump_manifest(parse_manifest(text)) == text
    assert parse_manifest(text).owners() == manifest.owners()


@pytest.mark.parametrize(
    ("old", "new", "code"),
    [
        ("schema_version: 1", "schema_version: 2", "manifest_invalid"),
        ("schema_version: 1\n", "", "manifest_invalid"),
        ("pipeline_version: evidence-authoring-v1\n", "", "manifest_invalid"),
        ("orphans: []", "surprise: []", "manifest_invalid"),
        ("    units: []", "    unit: []", "manifest_invalid"),
        ("source/b.md", "curated/b.md", "manifest_invalid"),
        ("source/b.md", "source/a.md", "manifest_invalid"),
        ("evidence:one", "one", "manifest_invalid"),
        ("evidence:one", "evidence:two", "manifest_invalid"),
        ("orphans: []", "orphans: [evidence:one]", "manifest_invalid"),
        ("orphans: []", "orphans: [evidence:x, evidence:x]", "manifest_invalid"),
        ("    units: []", "    units: [evidence:one]", "multiple_sources"),
        (SHA, "sha256:xyz", "manifest_invalid"),
        ("sources:", "sources: &anchor", "manifest_invalid"),
    ],
)
def test_what_a_manifest_may_not_say_is_refused_with_its_code(
    old: str, new: str, code: str
) -> None:
    assert old in TEXT
    with pytest.raises(ManifestInvalid) as refused:
        parse_manifest(TEXT.replace(old, new))
    assert refused.value.code == code


def test_another_pipeline_version_is_read_and_left_to_the_reader() -> None:
    assert parse_manifest(TEXT.replace("-v1", "-v0")).pipeline_version == "evidence-authoring-v0"


@pytest.mark.parametrize("text", ["", "- a\n", "a: [\n", "\t", "schema_version: 1\n---\na: b\n"])
def test_a_text_that_is_no_manifest_is_refused(text: str) -> None:
    with pytest.raises(ManifestInvalid):
        parse_manifest(text)


def test_a_manifest_beyond_all_reason_is_refused_before_it_is_parsed() -> None:
    with pytest.raises(ManifestInvalid, match="too large"):
        parse_manifest("#" * (MAX_FILE_CHARS + 1))


def test_broken_yaml_is_refused_with_its_line() -> None:
    with pytest.raises(ManifestInvalid) as refused:
        parse_manifest(TEXT + "orphans: []\n")
    assert refused.value.line == len(TEXT.splitlines()) + 1
