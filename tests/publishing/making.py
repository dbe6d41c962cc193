"""A small publishable workspace, and the rows and parts that tests of publication work on."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Final

from django.contrib.auth import get_user_model
from django.contrib.auth.models import Permission

from evidence import mirror, overview
from evidence.adapters.git import GitRepository
from evidence.domain.codec import dump_curated_markdown
from evidence.domain.manifest import Manifest, dump_manifest
from evidence.domain.normalization import normalize_source, source_hash
from evidence.domain.tree import EvidenceTree
from evidence.domain.units import CuratedEvidence, build_unit
from evidence.domain.workspace import parse_workspace
from evidence.models import PortalCommit, Workspace
from evidence.overview import RevisionSummary
from evidence.ports import Actor, Author
from evidence.reading import read_revision
from publishing import approval, leases, publication, transitions, wiring
from publishing.adapters.qdrant_edge import QdrantEdgeStore
from publishing.approval import Approved
from publishing.domain.lifecycle import GenerationState
from publishing.domain.query import build_request
from publishing.generations import stored
from publishing.hybrid import search_generation
from publishing.leases import Hold
from publishing.models import Approval, Generation
from publishing.parts import Parts
from publishing.transitions import Cause
from tests.fakes import BagOfWordsEmbedder
from tests.makers import SOMEBODY, a_repository, put

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


def an_approver(username: str = "approvatore", *, is_superuser: bool = False) -> Actor:
    """Give a staff user who may approve, as an actor."""
    user = get_user_model().objects.create_user(
        username, email=f"{username}@example.org", is_staff=True, is_superuser=is_superuser
    )
    user.user_permissions.add(Permission.objects.get(codename="approve_revision"))
    return Actor(username=username, name="", email=user.email)


def an_open_approval(generation: Generation, **columns: object) -> Approval:
    """Give an open approval of a candidate's own revision, bound to it."""
    approval = Approval(
        workspace=generation.workspace,
        revision=generation.revision,
        content_digest=generation.content_digest,
        approved_by="approvatore",
        approved_at=NOON,
        note="Marzo",
        **columns,
    )
    generation.approval = transitions.open_approval(approval, cause=CAUSE)
    generation.save(update_fields=["approval"])
    return approval


def close_store() -> None:
    """Close the store that commands and tasks were wired with."""
    opened = wiring.store()
    assert isinstance(opened, QdrantEdgeStore)
    opened.close()


@dataclass(frozen=True)
class Registered:
    """A workspace that the portal knows, with its repository and mirror."""

    repository: GitRepository

    def commit(
        self,
        files: Mapping[str, bytes | None],
        *,
        author: Author = SOMEBODY,
        message: str = "Commit",
    ) -> str:
        """Commit from outside, mirror it, and give the commit."""
        commit = put(self.repository.path, files, author=author, message=message)
        mirror.sync_workspace(SLUG)
        return commit

    def written_here(self, commit: str, username: str) -> None:
        """Record that this commit was made through the portal by a user."""
        workspace = Workspace.objects.get(slug=SLUG)
        PortalCommit.objects.create(workspace=workspace, commit=commit, username=username)

    def head(self) -> RevisionSummary:
        return overview.revision(SLUG, self.repository.head("main"))

    def approve(self, actor: Actor, revision: RevisionSummary | None = None) -> Approved:
        """Let somebody approve a revision (the head), as the page that showed it would."""
        chosen = revision or self.head()
        return approval.approve(
            workspace=SLUG,
            revision=chosen.commit,
            content_digest=chosen.content_digest,
            actor=actor,
            note="Marzo",
        )


def a_registered(home: Path, *, single_approver: bool = False) -> Registered:
    """Register a publishable workspace whose first commit an outsider made."""
    Workspace.objects.create(
        slug=SLUG, title="Clinica", language="it", single_approver=single_approver
    )
    repository = a_repository(home / "repositories" / f"{SLUG}.git", workspace_files())
    mirror.sync_workspace(SLUG)
    return Registered(repository)


@dataclass(frozen=True)
class Scene:
    """A repository, a store and an embedder, and the parts that publication gets of them."""

    repository: GitRepository
    store: QdrantEdgeStore
    embedder: BagOfWordsEmbedder
    clock: Clock

    @property
    def parts(self) -> Parts:
        return Parts(
            repository=lambda slug: self.repository,
            embedder=lambda workspace: self.embedder,
            store=self.store,
            clock=self.clock,
        )

    def commit(self, files: Mapping[str, bytes | None]) -> str:
        return put(self.repository.path, files)

    def candidate(self, *, approved: bool = False) -> Generation:
        """Give a new candidate of the head, made a minute after the last one."""
        self.clock.forward(minutes=1)
        revision = self.repository.head("main")
        row = a_candidate(read_revision(self.repository, revision), revision=revision)
        Generation.objects.filter(pk=row.pk).update(created_at=self.clock.now)
        if approved:
            an_open_approval(row)
        return row

    def advance(self, generation: Generation, *, worker: str = "worker") -> GenerationState:
        return publication.advance(generation.pk, worker=worker, parts=self.parts)

    def published(self) -> Generation:
        """Give the head's generation after it became active."""
        row = self.candidate(approved=True)
        assert self.advance(row) == GenerationState.ACTIVE
        row.refresh_from_db()
        return row

    def ask(self, generation: Generation, query: str) -> list[str]:
        """Give the ids that a generation finds, the best first."""
        row = Generation.objects.get(pk=generation.pk)
        request = build_request({"query": query, "purpose": "sql_generation"})
        found = search_generation(
            stored(row), request, store=self.store, embedder=self.embedder, threshold=None
        )
        return [unit.evidence_id for unit in found.units]
