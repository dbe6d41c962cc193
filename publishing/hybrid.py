"""Search one generation: one text, one vector, one filter, one ordered list (spec 50 and 60)."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

from publishing.domain.confidence import Confidence, judge, lexical_hits
from publishing.domain.query import SearchRequest, make_filter, render_query_text
from publishing.domain.scoring import Hit, UnitHit, group_by_unit
from publishing.domain.vectors import checked_vector
from publishing.ports import BRANCH, Embedder, HybridQuery, StoredGeneration, VectorStore


@dataclass(frozen=True, slots=True)
class Found:
    """What one generation has for a question, best unit first, at most `top_n` of them."""

    units: tuple[UnitHit, ...]
    confidence: Confidence
    best_dense: float | None
    """The best cosine similarity under the request's filter; None when nothing passes it."""
    lexical_hits: int
    """How many content words of the question a returned excerpt contains."""
    fused: tuple[Hit, ...]
    """The whole fused list of fragments, as the store scored it."""
    dense: tuple[Hit, ...] = ()
    bm25: tuple[Hit, ...] = ()


def search_generation(
    generation: StoredGeneration,
    request: SearchRequest,
    *,
    store: VectorStore,
    embedder: Embedder,
    threshold: float | None,
    depth: int | None = None,
) -> Found:
    """Answer a question from one generation; `threshold` None means the embedder's default.

    With a `depth`, the two branches come along, that many fragments each.
    Raises the faults of `Embedder`, `VectorStore` and `checked_vector`, and changes nothing.
    """
    text = render_query_text(request)
    query = HybridQuery(
        text=text,
        vector=_query_vector(embedder, text),
        filter=make_filter(request, generation.key),
        branches=depth is not None,
        depth=depth or BRANCH,
    )
    answer = store.query(generation, query)
    units = group_by_unit(answer.fused)[: request.top_n]
    excerpts = [fragment.text for unit in units for fragment in unit.fragments]
    hits = lexical_hits(request.query, excerpts, language=generation.language)
    confidence = judge(
        found=bool(units),
        best_dense=answer.best_dense,
        threshold=embedder.default_threshold if threshold is None else threshold,
        lexical_hits=hits,
    )
    return Found(
        units=units,
        confidence=confidence,
        best_dense=answer.best_dense,
        lexical_hits=hits,
        fused=answer.fused,
        dense=answer.dense,
        bm25=answer.bm25,
    )


@lru_cache(maxsize=512)
def _query_vector(embedder: Embedder, text: str) -> tuple[float, ...]:
    """Embed a question once a process: exams, comparisons and harnesses ask the same again."""
    return checked_vector(embedder.embed_query(text), dimension=embedder.dimension)
