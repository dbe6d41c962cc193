"""Units drawn at random by Hypothesis: every kind, and the text that breaks front matter."""

from __future__ import annotations

from typing import Any

from hypothesis import strategies as st

from evidence.domain.text import UNSAFE
from evidence.domain.units import CuratedEvidence, EvidenceKind, EvidencePurpose, build_unit

# Letters that YAML, Markdown, NFC or a bad reader could trip over, drawn far more often than fair.
NASTY = (
    "\n\t :#-?,[]{}&*!|>'\"%@`~\\=.\u00e8\u0301\u0338\u0323\u2028\u202e\u200b\ufeff\u00a0\U0001f600"
)
WORDS = ["no", "null", "~", "0802", "1e3", "2024-01-01", "12:30:45", "---", "...", "- a", "a: b"]
WORDS += [
    "a #b",
    "<<",
    "=",
    "0x1F",
    "1_000",
    ".inf",
    "true",
    "*a",
    "&a",
    "!a",
    "| ",
    "> ",
    "'",
    '"',
]
WORDS += [
    "  two\n spaces",
    "\n\nlead",
    "trail \nx",
    "a\n\n",
    "\tb\nc",
    "x\n---\ny",
    "\u0301x",
    "\u1100\u1161",
]

letters = st.one_of(
    st.sampled_from(NASTY),
    st.characters(codec="utf-8", exclude_categories=["Cs"]).filter(lambda c: not UNSAFE.match(c)),
)
any_text = st.one_of(st.sampled_from(WORDS), st.text(letters, max_size=30))
said = any_text.filter(lambda text: bool(text.strip()))
stored = any_text.filter(bool)
lines = said.map(lambda text: " ".join(text.split())).filter(bool)
identifiers = st.sampled_from(["patient", "età", '"Birth Date"', '"a.b"', "X", "t$1", "no"])
tables = st.tuples(identifiers, identifiers).map(".".join)
columns = st.tuples(identifiers, identifiers, identifiers).map(".".join)
expressions = st.sampled_from(["a + b", "count(*)", "a -- why\n  + b", "'it''s' || \"C\"", "  no"])
queries = st.sampled_from(
    ["SELECT 1", "WITH q AS (\n  SELECT 1\n)\nSELECT * FROM q;", "VALUES (1)"]
)


def _several(
    one: st.SearchStrategy[Any], least: int = 0, key: Any = None
) -> st.SearchStrategy[Any]:
    return st.lists(one, min_size=least, max_size=3, unique_by=key)


payloads: dict[str, st.SearchStrategy[dict[str, Any]]] = {
    "glossary": st.fixed_dictionaries(
        {"term": said, "definition": said}, optional={"synonyms": _several(said)}
    ),
    "domain": st.fixed_dictionaries({"topic": said}),
    "enum": st.fixed_dictionaries(
        {
            "column": columns,
            "values": _several(
                st.fixed_dictionaries({"value": stored, "meaning": said}),
                1,
                key=lambda entry: entry["value"],
            ),
        }
    ),
    "example": st.fixed_dictionaries(
        {"question": said, "sql": queries}, optional={"explanation": said}
    ),
    "mapping": st.fixed_dictionaries(
        {
            "term": said,
            "targets": _several(
                st.fixed_dictionaries(
                    {"column": columns}, optional={"value": stored, "condition": expressions}
                ),
                1,
            ),
        }
    ),
    "normalization": st.fixed_dictionaries(
        {
            "target": said,
            "rules": _several(st.fixed_dictionaries({"match": stored, "replacement": any_text}), 1),
        }
    ),
    "formula": st.fixed_dictionaries(
        {"concept": said, "sql": expressions},
        optional={"columns": _several(columns), "limitations": said},
    ),
    "reference": st.fixed_dictionaries(
        {"url": st.just("https://example.org/a?b=c#d"), "label": said, "description": said}
    ),
}


def fields_of(kind: str) -> st.SearchStrategy[dict[str, Any]]:
    """Draw the fields of a unit of one kind, as plain data."""
    return st.fixed_dictionaries(
        {
            "schema_version": st.sampled_from([1, "1"]),
            "id": st.just("evidence:drawn-1"),
            "kind": st.just(kind),
            "title": lines.map(lambda line: line[:60]),
            "purposes": _several(st.sampled_from([str(p) for p in EvidencePurpose]), 1, key=str),
            "provenance": st.fixed_dictionaries(
                {
                    "source_file": st.sampled_from(["source/a.md", "source/b c/#d: e.md"]),
                    "source_sha256": st.just("sha256:" + "0f" * 32),
                    "supporting_excerpts": _several(said, 1),
                }
            ),
            "payload": payloads[kind],
            "body": said if kind == "domain" else any_text,
        },
        optional={
            "language": st.sampled_from(["it", "no", "en"]),
            "scope": st.fixed_dictionaries(
                {},
                optional={
                    "concepts": st.just(["a", "no"]),
                    "tables": _several(tables, key=str.lower),
                },
            ),
            "review_items": _several(
                st.fixed_dictionaries(
                    {"code": st.just("kind_inferred"), "message": said}, optional={"field": said}
                )
            ),
        },
    )


units: st.SearchStrategy[CuratedEvidence] = (
    st.sampled_from([str(kind) for kind in EvidenceKind]).flatmap(fields_of).map(build_unit)
)
