"""A small publishable workspace, and the rows and parts that tests of publication work on."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Final

from evidence.domain.codec import dump_curated_markdown
from evidence.domain.manifest import Manifest, dump_manifest
from evidence.domain.normalization import normalize_source, source_hash
from evidence.domain.tree import EvidenceTree
from evidence.domain.units import CuratedEvidence, build_unit
from evidence.domain.workspace import parse_workspace
from publishing import leases, transitions
from publishing.adapters.qdrant_edge import QdrantEdgeStore
from publishing.leases import Hold
from publishing.models import Generation
from publishing.transitions import Cause

SLUG: Final = "clinica"
NOON: Final = datetime(2026, 3, 1, 12, 0, tzinfo=UTC)
CAUSE: Final = Cause(actor="approvatore", at=NOON)
WORKSPACE_YAML: Final = f"schema_version: 1\nslug: {SLUG}\ntitle: Clinica\nlanguage: it\n"
TERMS: Final[Mapping[str, str]] = {
    "fascia pediatrica": "Un paziente con meno di quattordici anni compiuti.",
    "giornata di degenza": "Ogni mezzanotte passata in un letto della struttura.",
    "codice triage": "Colore assegnato dall'infermiere quando arriva un malato.",
    "terapia anticoagulante": "Farmaci che impediscono la formazione di trombi.",
}
OFF_TOPIC: Final = "Come si rammenda un calzino di lana?"


class Clock:
    """A clock that tests move by hand."""

    def __init__(self) -> None:
        self.now = NOON

    def __call__(self) -> datetime:
        return self.now

    def forward(self, **by: float) -> None:
        self.now += timedelta(**by)


def slug_of(term: str) -> str:
    return term.replace(" ", "-")


def note(terms: Mapping[str, str]) -> str:
    return "# Glossario\n\n" + "\n".join(f"{term}: {text}" for term, text in terms.items()) + "\n"


def glossary(term: str, text: str, *, source: str) -> CuratedEvidence:
    return build_unit(
        {
            "schema_version": 1,
            "id": f"evidence:{slug_of(term)}",
            "kind": "glossary",
            "title": term.capitalize(),
            "purposes": ["disambiguation", "sql_generation"],
            "provenance": {
                "source_file": "source/glossario.md",
                "source_sha256": source_hash(normalize_source(source.encode())),
                "supporting_excerpts": [f"{term}: {text}"],
            },
            "payload": {"term": term, "definition": text},
        }
    )


def questions(terms: Mapping[str, str], *, off_topic: bool = True) -> str:
    profiles = ("semantic", "lexical", "mixed")
    lines = ["schema_version: 1", "queries:"]
    for number, term in enumerate(terms):
        lines += [
            f"- id: {slug_of(term)}",
            f"  query: Che cosa si intende per {term}?",
            f"  profile: {profiles[number % 3]}",
            "  purpose: sql_generation",
            f"  expected: [evidence:{slug_of(term)}]",
        ]
    return "\n".join([*lines, *(["off_topic:", f"- {OFF_TOPIC}"] if off_topic else [])]) + "\n"


def workspace_files(
    terms: Mapping[str, str] = TERMS, *, workspace_yaml: str = WORKSPACE_YAML, evaluation: str = ""
) -> dict[str, bytes]:
    """Give the files of a publishable workspace, paths relative to its folder."""
    source = note(terms)
    units = [glossary(term, text, source=source) for term, text in terms.items()]
    manifest = Manifest.model_validate(
        {
            "sources": {
                "source/glossario.md": {
                    "sha256": source_hash(normalize_source(source.encode())),
                    "units": tuple(sorted(unit.id for unit in units)),
                }
            }
        }
    )
    texts = {
        "workspace.yaml": workspace_yaml,
        "evidence/source/glossario.md": source,
        "evidence/manifest.yaml": dump_manifest(manifest),
        "evidence/evaluation.yaml": evaluation or questions(terms),
    }
    for unit in units:
        slug = unit.id.removeprefix("evidence:")
        texts[f"evidence/curated/glossary/{slug}.md"] = dump_curated_markdown(unit)
    return {path: text.encode() for path, text in texts.items()}


def tree_of(files: Mapping[str, bytes]) -> EvidenceTree:
    """Give such files as a tree."""
    return EvidenceTree(
        workspace=parse_workspace(files["workspace.yaml"].decode()),
        workspace_yaml=files["workspace.yaml"],
        files={
            path.removeprefix("evidence/"): data
            for path, data in files.items()
            if path.startswith("evidence/")
        },
    )


def a_candidate(tree: EvidenceTree, *, revision: str = "a" * 40, **columns: object) -> Generation:
    """Give a new generation of this tree, in its first state."""
    row = Generation(
        workspace=SLUG,
        revision=revision,
        content_digest=tree.content_digest(),
        collection=SLUG,
        language="it",
        **columns,
    )
    return transitions.create(row, cause=CAUSE)


def held(generation: Generation, clock: Clock, *, worker: str = "worker") -> Hold:
    """Give a worker's hold on a generation."""
    hold = leases.claim(generation.pk, worker=worker, clock=clock)
    assert hold is not None
    return hold


def a_store(home: Path) -> QdrantEdgeStore:
    """Give the real edge store in a folder of the test's own."""
    return QdrantEdgeStore(home)
