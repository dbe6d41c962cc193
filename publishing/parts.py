"""What a publication works with, handed in by wiring, and the embedder that a revision asks for."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from datetime import datetime

from django.utils import timezone

from evidence.domain.tree import EvidenceTree
from evidence.domain.workspace import WorkspaceFile, WorkspaceInvalid
from evidence.faults import OperatorFault
from evidence.messages import Message, gettext_noop
from evidence.ports import Repository
from evidence.reading import read_revision
from publishing.leases import Watch
from publishing.models import Generation
from publishing.ports import Embedder, QuestionLog, VectorStore


class EmbedderChanged(OperatorFault):
    """The generation was built with another embedder than the portal uses now."""

    code = "embedder_changed"
    hint = gettext_noop("Approve the revision again; it is built afresh.")


@dataclass(frozen=True, slots=True)
class Parts:
    """The ports of one publication; `publishing.wiring` puts them together."""

    repository: Callable[[str], Repository]
    embedder: Callable[[WorkspaceFile], Embedder]
    store: VectorStore
    clock: Callable[[], datetime] = timezone.now
    watch: Watch | None = None
    questions: QuestionLog | None = None
    """Who knows what people asked; without it a rehearsal asks nothing again."""
    kept: dict[tuple[str, str], EvidenceTree] = field(default_factory=dict, compare=False)
    """The tree read last, by workspace and revision; see `for_one_candidate`."""

    def for_one_candidate(self) -> Parts:
        """Give the same parts with a tree of their own, which is let go with them."""
        return replace(self, kept={})

    def tree(self, generation: Generation) -> EvidenceTree:
        """Give the generation's revision, read from Git once: its three steps want the same.

        Raises the faults of the repository.
        """
        wanted = (generation.workspace, generation.revision)
        if wanted not in self.kept:
            repository = self.repository(generation.workspace)
            tree = read_revision(repository, generation.revision)
            self.kept.clear()
            self.kept[wanted] = tree
        return self.kept[wanted]


def workspace_of(tree: EvidenceTree) -> WorkspaceFile:
    """Give the tree's own `workspace.yaml`. Raises `WorkspaceInvalid` when it has none."""
    if tree.workspace is None:
        raise WorkspaceInvalid(Message(gettext_noop("The revision has no usable workspace.yaml.")))
    return tree.workspace


def embedder_of(generation: Generation, tree: EvidenceTree, parts: Parts) -> Embedder:
    """Give the embedder that a built generation needs. Raises `EmbedderChanged`."""
    embedder = parts.embedder(workspace_of(tree))
    check_embedder(generation, embedder)
    return embedder


def check_embedder(generation: Generation, embedder: Embedder) -> None:
    """Refuse a generation whose vectors are not this embedder's. Raises `EmbedderChanged`."""
    if embedder.id != generation.embedder:
        raise EmbedderChanged(
            Message(
                gettext_noop("Built with %(built)s; the portal uses %(used)s now."),
                built=generation.embedder,
                used=embedder.id,
            )
        )
