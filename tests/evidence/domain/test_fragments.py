from __future__ import annotations

import re
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evidence.domain.fragments import AtomicContentTooLarge, Fragment, render_fragments
from evidence.domain.markdown import blocks_of
from evidence.domain.payloads import EnumPayload
from tests.evidence.domain.corpus import PAYLOADS, a_unit

SNAPSHOTS = Path(__file__).parents[2] / "snapshots" / "fragments"
SCOPE = {
    "concepts": ["fascia pediatrica", "età"],
    "tables": ["clinical.patient"],
    "columns": ["clinical.patient.birth_date", "clinical.patient.sex"],
}
BODY = """Premessa.

# Ricoveri

Il ricovero è un periodo di degenza.

## Tipi

| codice | tipo |
| --- | --- |
| O | ordinario |
| D | day hospital |

```sql
SELECT '# not a heading'
FROM clinical.admission
```

## Esiti

- dimesso
- deceduto
  - in reparto
  - altrove

# Reparti

Vedi [elenco].

[elenco]: https://example.org/reparti
"""


@pytest.mark.parametrize("kind", PAYLOADS)
def test_the_text_of_each_kind_is_as_its_snapshot_says(kind: str) -> None:
    unit = a_unit(kind, scope=SCOPE, purposes=["sql_generation", "rewriting"])
    (fragment,) = render_fragments(unit)
    assert fragment.text + "\n" == (SNAPSHOTS / f"{kind}.txt").read_text("utf-8")


def test_a_domain_that_must_be_split_is_as_its_snapshot_says() -> None:
    unit = a_unit("domain", scope={"tables": ["clinical.admission"]}, body=BODY)
    parts = [fragment.text for fragment in render_fragments(unit, 200)]
    assert "\n=====\n".join(parts) + "\n" == (SNAPSHOTS / "split_domain.txt").read_text("utf-8")


def test_no_label_is_printed_without_a_value_or_twice() -> None:
    text = render_fragments(a_unit(scope={"concepts": ["fascia pediatrica"]}))[0].text
    assert [line.partition(":")[0] for line in text.split("\n")] == [
        "Formula",
        "Concept",
        "Columns",
        "SQL",
        "Limitations",
        "Purposes",
    ]


def test_provenance_and_notes_are_not_in_the_text() -> None:
    text = render_fragments(a_unit(body="Una nota del curatore."))[0].text
    assert "nota del curatore" not in text
    assert "source/" not in text
    assert "sha256" not in text


@pytest.mark.parametrize("kind", ["glossary", "example", "formula", "reference"])
def test_kinds_that_never_split_are_refused_when_they_do_not_fit(kind: str) -> None:
    unit = a_unit(kind)
    length = len(render_fragments(unit)[0].text)
    assert len(render_fragments(unit, length)) == 1
    with pytest.raises(AtomicContentTooLarge):
        render_fragments(unit, length - 1)


values = st.text(
    st.characters(codec="utf-8", categories=("L", "N", "P", "Zs")), min_size=1, max_size=60
).filter(lambda text: text.strip() != "")


@given(st.lists(values, min_size=1, max_size=40, unique=True), st.integers(180, 400))
def test_every_value_of_an_enum_is_whole_in_exactly_one_fragment(
    meanings: list[str], limit: int
) -> None:
    entries = [{"value": f"v{at}.", "meaning": meaning} for at, meaning in enumerate(meanings)]
    unit = a_unit("enum", payload={"column": "clinical.patient.sex", "values": entries})
    payload = unit.payload
    assert isinstance(payload, EnumPayload)
    fragments = render_fragments(unit, limit)
    check_frame(fragments, limit, "Enum: Fascia pediatrica\nColumn: clinical.patient.sex\n")
    lines = [line for each in fragments for line in each.text.split("\n")]
    said = [line for line in lines if line.startswith("Value: ")]
    assert said == [f"Value: {each.value} = {each.meaning}" for each in payload.values]


@pytest.mark.parametrize(
    ("kind", "field", "entry"),
    [
        ("mapping", "targets", {"column": "a.b.c{}", "value": "x" * 40}),
        ("normalization", "rules", {"match": "m{}", "replacement": "y" * 40}),
    ],
)
def test_targets_and_rules_are_split_between_and_never_cut(
    kind: str, field: str, entry: dict[str, str]
) -> None:
    entries = [{key: text.format(at) for key, text in entry.items()} for at in range(30)]
    fragments = render_fragments(a_unit(kind, payload={**PAYLOADS[kind], field: entries}), 300)
    label = {"targets": "Target: a", "rules": "Rule: m"}[field]
    lines = [line for each in fragments for line in each.text.split("\n")]
    assert len([line for line in lines if line.startswith(label)]) == 30
    assert len(fragments) > 1
    check_frame(fragments, 300, f"{kind.capitalize()}: Fascia pediatrica\n")


def check_frame(fragments: tuple[Fragment, ...], limit: int, head: str) -> None:
    assert [each.ordinal for each in fragments] == list(range(len(fragments)))
    for each in fragments:
        assert len(each.text) <= limit
        assert each.text.startswith(head)
        assert "Purposes: sql_generation" in each.text


words = st.lists(st.sampled_from(["ricovero", "età", "codice", "D", "O"]), min_size=1, max_size=5)
lines = words.map(" ".join)
markdown_blocks = st.one_of(
    lines,
    st.tuples(st.integers(1, 4), lines).map(lambda pair: f"{'#' * pair[0]} {pair[1]}"),
    st.lists(lines, min_size=1, max_size=6).map(lambda items: "\n".join(f"- {x}" for x in items)),
    st.lists(lines, min_size=1, max_size=3).map(lambda rows: "\n".join(["```", *rows, "", "```"])),
    st.lists(lines, min_size=1, max_size=6).map(
        lambda rows: "\n".join(["| a |", "| --- |", *(f"| {row} |" for row in rows)])
    ),
    lines.map(lambda text: f"[{text}]: https://example.org/x"),
    lines.map(lambda text: f"> {text}\n> fine"),
    st.just("---"),
)


@given(st.lists(markdown_blocks, min_size=1, max_size=14), st.integers(440, 900))
def test_a_body_is_split_without_losing_or_cutting_anything(parts: list[str], limit: int) -> None:
    body = "\n\n".join(parts)
    unit = a_unit("domain", body=body)
    fragments = render_fragments(unit, limit)
    check_frame(fragments, limit, "Domain: Fascia pediatrica\nTopic: Ricoveri\n")
    text = "\n".join(each.text for each in fragments)
    for block in blocks_of(unit.body):
        if block.heading:
            assert block.heading in text
        else:
            assert all(piece in text for piece in block.pieces or (block.text,))
    for fence in re.findall(r"^```.*?^```$", unit.body, re.DOTALL | re.MULTILINE):
        assert fence in text


@given(st.text(alphabet="# -`|>[]:.1a\n\t", max_size=300))
def test_the_blocks_of_any_text_hold_every_line_with_words_in_order(body: str) -> None:
    wanted = [line.strip() for line in body.split("\n") if line.strip()]
    held = [
        line.strip() for block in blocks_of(body) for line in block.text.split("\n") if line.strip()
    ]
    assert held == wanted


@pytest.mark.parametrize(
    "body",
    [
        "# Lungo\n\n" + "parola " * 60,
        "```\n" + "x\n" * 200 + "```",
        "| a |\n| --- |\n| " + "x" * 400 + " |",
        "- " + "x" * 400,
        "https://example.org/" + "x" * 400,
        "# " + "titolo " * 60 + "\n\ntesto",
    ],
)
def test_a_block_that_does_not_fit_is_refused_and_not_cut(body: str) -> None:
    with pytest.raises(AtomicContentTooLarge) as refused:
        render_fragments(a_unit("domain", body=body), 300)
    assert refused.value.code == "atomic_content_too_large"


def test_a_long_table_repeats_its_header_in_each_part() -> None:
    rows = "\n".join(f"| {number:03} | descrizione del codice |" for number in range(40))
    body = f"# Codici\n\n| codice | descrizione |\n| --- | --- |\n{rows}"
    fragments = render_fragments(a_unit("domain", body=body), 400)
    assert len(fragments) > 2
    for each in fragments:
        assert "Section: Codici" in each.text
        assert "| codice | descrizione |\n| --- | --- |\n| 0" in each.text
    assert "".join(each.text for each in fragments).count("descrizione del codice") == 40
