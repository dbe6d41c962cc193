"""What a publication works with, handed in by wiring, and the embedder that a revision asks for."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
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
from publishing.ports import Embedder, VectorStore


class EmbedderChanged(OperatorFault):
    """The candidate was built with another embedder than the portal uses now."""

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

    def tree(self, generation: Generation) -> EvidenceTree:
        """Read the generation's revision from Git. Raises the faults of the repository."""
        return read_revision(self.repository(generation.workspace), generation.revision)


def workspace_of(tree: EvidenceTree) -> WorkspaceFile:
    """Give the tree's own `workspace.yaml`. Raises `WorkspaceInvalid` when it has none."""
    if tree.workspace is None:
        raise WorkspaceInvalid(Message(gettext_noop("The revision has no usable workspace.yaml.")))
    return tree.workspace


def embedder_of(generation: Generation, tree: EvidenceTree, parts: Parts) -> Embedder:
    """Give the embedder that a built generation needs. Raises `EmbedderChanged`."""
    embedder = parts.embedder(workspace_of(tree))
    if embedder.id != generation.embedder:
        raise EmbedderChanged(
            Message(
                gettext_noop("Built with %(built)s; the portal uses %(used)s now."),
                built=generation.embedder,
                used=embedder.id,
            )
        )
    return embedder
