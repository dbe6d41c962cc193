"""The quick way through a manifest gives what the strict one gives, or nothing."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evidence.domain.manifest import (
    Manifest,
    ManifestInvalid,
    ManifestSource,
    _write_strictly,
    dump_manifest,
    parse_manifest,
)
from evidence.domain.plain_manifest import PlainManifest, read_plain, write_plain

DIGEST = "sha256:" + "0" * 64
ids = st.from_regex(r"evidence:[a-z0-9]{1,4}(-[a-z0-9]{1,80})?", fullmatch=True).filter(
    lambda each: len(each) <= 89
)
paths = st.one_of(
    st.from_regex(r"source/[A-Za-z0-9_./-]{1,130}", fullmatch=True),
    st.text(st.sampled_from("aà :#'\"\u200b."), min_size=1, max_size=9).map("source/x{}".format),
)
manifests = st.builds(
    PlainManifest,
    st.sampled_from(["evidence-authoring-v1", "evidence-authoring-v2", "1.0", "a: b"]),
    st.dictionaries(
        paths, st.tuples(st.just(DIGEST), st.lists(ids, max_size=3).map(tuple)), max_size=4
    ),
    st.lists(ids, max_size=3).map(tuple),
)


@given(manifests)
def test_both_writers_write_the_same(manifest: PlainManifest) -> None:
    assert (write_plain(manifest) or _write_strictly(manifest)) == _write_strictly(manifest)


@given(manifests)
def test_both_readers_read_the_same(manifest: PlainManifest) -> None:
    plain = read_plain(_write_strictly(manifest))
    assert plain is None or plain == manifest


def test_the_manifests_that_we_write_take_the_quick_way() -> None:
    sources = {"source/a/b-1.md": ManifestSource(sha256=DIGEST, units=("evidence:a",))}
    text = dump_manifest(Manifest(sources=sources, orphans=("evidence:b",)))
    assert read_plain(text) is not None
    assert parse_manifest(text) == Manifest(sources=sources, orphans=("evidence:b",))


@pytest.mark.parametrize("name", ["source/a.md:\n    units: []\n  source/a.md", "source/è.md"])
def test_what_is_not_plain_is_left_to_the_strict_reader(name: str) -> None:
    text = dump_manifest(Manifest(sources={"source/a.md": ManifestSource(sha256=DIGEST)}))
    assert read_plain(text.replace("source/a.md", name)) is None


def test_a_source_given_twice_is_refused_with_its_line() -> None:
    text = dump_manifest(Manifest(sources={"source/a.md": ManifestSource(sha256=DIGEST)}))
    head, entry, tail = text.partition(text[text.index("  source") : text.index("orphans")])
    with pytest.raises(ManifestInvalid) as refused:
        parse_manifest(head + entry + entry + tail)
    assert refused.value.line == 7
