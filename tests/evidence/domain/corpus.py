"""A small valid workspace as a tree, and ways to break exactly one thing in it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from evidence.domain.codec import dump_curated_markdown
from evidence.domain.inspection import inspect_workspace
from evidence.domain.manifest import Manifest, ManifestSource, dump_manifest
from evidence.domain.normalization import normalize_source, source_hash
from evidence.domain.tree import EvidenceTree, RefusedPath
from evidence.domain.units import CuratedEvidence, build_unit

SOURCE = "source/pazienti.md"
SOURCE_TEXT = "# Pazienti\n\nSono pediatrici i pazienti con meno di 18 anni.\n"
EXCERPT = "Sono pediatrici i pazienti con meno di 18 anni."
UNIT = "curated/formula/fascia-pediatrica.md"
GLOSSARY = "curated/glossary/ablazione.md"
WORKSPACE = b"schema_version: 1\nslug: clinica\ntitle: Clinica\nlanguage: it\n"
EVALUATION = b"""schema_version: 1
queries:
- id: one
  query: Come distinguo i pazienti pediatrici?
  profile: semantic
  purpose: sql_generation
  expected: [evidence:fascia-pediatrica]
- id: two
  query: ablazione
  profile: lexical
  purpose: disambiguation
  expected: [evidence:ablazione]
- id: three
  query: ablazione cardiaca
  profile: mixed
  purpose: disambiguation
  expected: [evidence:ablazione]
"""

PAYLOADS: Mapping[str, Mapping[str, Any]] = {
    "glossary": {
        "term": "ablazione",
        "definition": "Distruzione mirata di tessuto.",
        "synonyms": ["termoablazione", "RFA"],
    },
    "domain": {"topic": "Ricoveri"},
    "enum": {
        "column": "clinical.patient.sex",
        "values": [{"value": "0802", "meaning": "ignoto"}, {"value": "F", "meaning": "femmina"}],
    },
    "example": {
        "question": "Quanti ricoveri nel 2024?",
        "sql": "SELECT count(*)\nFROM clinical.admission",
        "explanation": "Conta le righe.",
    },
    "mapping": {
        "term": "decesso",
        "targets": [
            {"column": "clinical.patient.died_at", "condition": "died_at IS NOT NULL"},
            {"column": "clinical.admission.outcome", "value": "D"},
        ],
    },
    "normalization": {
        "target": "clinical.patient.city",
        "rules": [{"match": "S. ", "replacement": "San "}, {"match": "*", "replacement": ""}],
    },
    "formula": {
        "concept": "fascia pediatrica",
        "columns": ["clinical.patient.birth_date"],
        "sql": "age(clinical.patient.birth_date) < interval '18 years'",
        "limitations": "Età di oggi.",
    },
    "reference": {
        "url": "https://example.org/linee-guida?x=1",
        "label": "Linee guida",
        "description": "Le linee guida in uso.",
    },
}


def a_unit(kind: str = "formula", **fields: Any) -> CuratedEvidence:
    """Give a valid unit of a kind; `fields` replace those of the envelope."""
    unit = {
        "schema_version": "1",
        "id": "evidence:fascia-pediatrica",
        "kind": kind,
        "title": "Fascia pediatrica",
        "purposes": ["sql_generation"],
        "provenance": {
            "source_file": SOURCE,
            "source_sha256": source_hash(normalize_source(SOURCE_TEXT.encode())),
            "supporting_excerpts": [EXCERPT],
        },
        "payload": PAYLOADS[kind],
        "body": "# Ricoveri\n\nTesto." if kind == "domain" else "",
    }
    return build_unit(unit | fields)


def unit_file(kind: str = "formula", **fields: Any) -> bytes:
    """Give the file of such a unit."""
    return dump_curated_markdown(a_unit(kind, **fields)).encode()


def manifest_file(*units: str, orphans: tuple[str, ...] = (), **sources: ManifestSource) -> bytes:
    """Give a manifest in which the one source lists these units."""
    sha256 = source_hash(normalize_source(SOURCE_TEXT.encode()))
    entry = ManifestSource(sha256=sha256, units=units)
    manifest = Manifest(sources={SOURCE: entry, **sources}, orphans=orphans)
    return dump_manifest(manifest).encode()


def a_tree(
    changes: Mapping[str, bytes | None] | None = None,
    *,
    workspace_yaml: bytes | None = WORKSPACE,
    refused: tuple[RefusedPath, ...] = (),
) -> EvidenceTree:
    """Give a publishable tree of two units, with some files replaced or (None) left out."""
    files: dict[str, bytes | None] = {
        SOURCE: SOURCE_TEXT.encode(),
        UNIT: unit_file(),
        GLOSSARY: unit_file("glossary", id="evidence:ablazione", title="Ablazione"),
        "manifest.yaml": manifest_file("evidence:ablazione", "evidence:fascia-pediatrica"),
        "evaluation.yaml": EVALUATION,
        **(changes or {}),
    }
    return EvidenceTree(
        workspace=inspect_workspace(workspace_yaml).workspace,
        workspace_yaml=workspace_yaml,
        files={path: data for path, data in sorted(files.items()) if data is not None},
        refused=refused,
    )
