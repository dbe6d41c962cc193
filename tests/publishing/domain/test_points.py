"""Points have the ids, the payload and the digest that the specification says."""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Iterator
from uuid import UUID, uuid5

import pytest
from hypothesis import given
from hypothesis import strategies as st

from publishing.domain.digests import PointsDigest, canonical
from publishing.domain.payload import PAYLOAD_KEYS, FragmentPayload, MalformedPayload, parse_payload
from publishing.domain.points import draft_points, points_digest
from publishing.domain.vectors import VectorRefused, checked_vector
from tests.publishing.points import REVISION, a_generation, a_unit

ALLOWED = [
    "record_kind",
    "record_key",
    "workspace_id",
    "workspace_revision",
    "vector_generation",
    "document_id",
    "content_hash",
    "kind",
    "evidence_id",
    "evidence_kind",
    "purposes",
    "concepts",
    "tables",
    "columns",
    "language",
    "ordinal",
    "title",
    "text",
    "source_file",
    "source_sha256",
    "path",
]
PATH = "curated/glossary/eta.md"


def drafts(**changes: object):
    return draft_points(a_unit("Età", **changes), path=PATH, key=a_generation().key)


def test_the_payload_is_the_allow_list_and_nothing_else():
    assert sorted(ALLOWED) == sorted(PAYLOAD_KEYS) == sorted(drafts()[0].payload.as_json())


def test_the_payload_says_where_a_fragment_comes_from():
    generation = a_generation()
    text = drafts()[0].text
    assert drafts(scope={"concepts": ["età"]})[0].payload.as_json() | {
        "text": "",
        "content_hash": "",
    } == {
        "record_kind": "evidence",
        "record_key": "evidence:eta#0",
        "workspace_id": "clinica-demo",
        "workspace_revision": REVISION,
        "vector_generation": str(generation.id),
        "document_id": "evidence:eta",
        "content_hash": "",
        "kind": "evidence",
        "evidence_id": "evidence:eta",
        "evidence_kind": "glossary",
        "purposes": ["disambiguation"],
        "concepts": ["età"],
        "tables": [],
        "columns": [],
        "language": "it",
        "ordinal": 0,
        "title": "Età",
        "text": "",
        "source_file": "source/note.md",
        "source_sha256": "sha256:" + "0" * 64,
        "path": PATH,
    }
    digest = hashlib.sha256(text.encode()).hexdigest()
    assert drafts()[0].payload.content_hash == f"sha256:{digest}"


def test_a_unit_that_names_a_language_keeps_it():
    assert drafts(language="en")[0].payload.language == "en"


def test_ids_are_derived_from_generation_and_record_key():
    generation = a_generation()
    assert drafts()[0].id == uuid5(generation.id, "evidence:eta#0")
    other = draft_points(a_unit("Età"), path=PATH, key=a_generation("two").key)
    assert other[0].id != drafts()[0].id


def test_a_long_unit_gives_one_point_a_fragment_in_ordinal_order():
    unit = a_unit(
        "Regole",
        kind="domain",
        payload={"topic": "regole"},
        body="\n\n".join(f"## Sezione {number}\n\n{'parola ' * 200}" for number in range(8)),
    )
    found = draft_points(unit, path="curated/domain/regole.md", key=a_generation().key)
    assert len(found) > 1
    assert [draft.payload.ordinal for draft in found] == list(range(len(found)))
    assert len({draft.id for draft in found}) == len(found)


def test_a_point_needs_the_vector_of_its_fragment():
    draft = draft_points(a_unit("Età"), path=PATH, key=a_generation().key)[0]
    point = draft.with_vector([1.0, 2.0], dimension=2)
    assert (point.dense, point.text) == ((1.0, 2.0), point.payload.text)
    with pytest.raises(VectorRefused):
        draft.with_vector(None, dimension=2)


@pytest.mark.parametrize(
    "vector",
    [None, [], [1.0], [1.0] * 3, [math.nan, 1.0], [math.inf, 1.0], [0.0, -0.0], [1e200, 1e200]],
)
def test_a_vector_that_the_engine_would_take_is_refused(vector):
    with pytest.raises(VectorRefused):
        checked_vector(vector, dimension=2)
    with pytest.raises(VectorRefused):
        drafts()[0].with_vector(vector, dimension=2)


@given(st.permutations(["a", "b", "c", "d"]))
def test_the_digest_ignores_order_and_repeats(titles):
    def pairs(names: list[str]) -> Iterator[tuple[UUID, FragmentPayload]]:
        for name in names:
            for draft in draft_points(a_unit(name), path=PATH, key=a_generation().key):
                yield draft.id, draft.payload

    summary = points_digest(pairs(["a", "b", "c", "d"]))
    assert points_digest(pairs([*titles, titles[0]])) == summary
    assert summary.count == 4
    assert points_digest(pairs(titles[1:])) != summary


@pytest.mark.parametrize("field", ["title", "text", "path", "source_sha256", "language"])
def test_the_digest_sees_every_change_of_a_payload(field):
    draft = drafts()[0]
    digest, other = PointsDigest(), PointsDigest()
    digest.add(draft.id, canonical(draft.payload.as_json()))
    changed = draft.payload.model_copy(update={field: "altro"})
    other.add(draft.id, canonical(changed.as_json()))
    assert digest.summary() != other.summary()


def test_a_payload_survives_json():
    payload = drafts()[0].payload
    assert parse_payload(json.loads(json.dumps(payload.as_json()))) == payload


@pytest.mark.parametrize(
    "changes",
    [{"secret": "x"}, {"record_kind": "memory"}, {"ordinal": "zero"}, {"purposes": ["poetry"]}],
)
def test_a_payload_that_differs_is_malformed_and_named_by_key_only(changes):
    with pytest.raises(MalformedPayload) as malformed:
        parse_payload(drafts()[0].payload.as_json() | changes)
    assert next(iter(changes)) in str(malformed.value)
    assert "poetry" not in str(malformed.value)


@pytest.mark.parametrize("key", ALLOWED)
def test_a_missing_key_is_malformed(key):
    stored = drafts()[0].payload.as_json()
    del stored[key]
    with pytest.raises(MalformedPayload, match=key):
        parse_payload(stored)
    with pytest.raises(MalformedPayload):
        parse_payload(None)
