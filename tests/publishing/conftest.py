"""The real edge store and a quick embedder for tests of publication."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from publishing.adapters.qdrant_edge import QdrantEdgeStore
from tests.fakes import BagOfWordsEmbedder
from tests.makers import a_repository
from tests.publishing.making import Clock, Scene, a_store, workspace_files


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def embedder() -> BagOfWordsEmbedder:
    return BagOfWordsEmbedder()


@pytest.fixture
def store(portal_home: Path) -> Iterator[QdrantEdgeStore]:
    opened = a_store(portal_home)
    yield opened
    opened.close()


@pytest.fixture
def scene(
    store: QdrantEdgeStore, embedder: BagOfWordsEmbedder, clock: Clock, tmp_path: Path
) -> Scene:
    """Give a workspace in Git, ready to be published."""
    repository = a_repository(tmp_path / "clinica.git", workspace_files())
    return Scene(repository=repository, store=store, embedder=embedder, clock=clock)
