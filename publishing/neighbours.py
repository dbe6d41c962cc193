"""Units that look like duplicates: what a release adds or changes, and what lies very close to it.

Each fragment of such a unit is asked of the candidate by its own vector, so the cost follows the
change and not the corpus. Two units that share no purpose never answer one question together.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from evidence.domain.codec import parse_curated_markdown
from evidence.domain.tree import EvidenceTree
from publishing import vectors
from publishing.domain.duplicates import ALIKE, Comparison, Pair
from publishing.domain.points import DraftPoint, draft_points
from publishing.domain.query import EvidenceFilter
from publishing.ports import Beat, Embedder, HybridQuery, StoredGeneration, VectorStore

MOST: Final = 200
"""How many fragments are compared; a larger release is told how many were left out."""


@dataclass(frozen=True, slots=True)
class Candidate:
    """The generation to ask: its tree, and where its points and vectors are."""

    generation: StoredGeneration
    tree: EvidenceTree
    store: VectorStore
    embedder: Embedder


def find(candidate: Candidate, *, paths: Collection[str], beat: Beat) -> Comparison:
    """Give the units very close to those in these files of the candidate, below `evidence/`.

    A pair of which both are new stands once. Raises the faults of the store, and what `beat` does.
    """
    drafts = [draft for path in sorted(paths) for draft in _drafts(candidate, path)]
    compared = drafts[:MOST]
    kept = vectors.read(
        embedder=candidate.embedder, hashes={draft.content_hash for draft in compared}
    )
    best: dict[tuple[str, str], Pair] = {}
    for draft in compared:
        beat()
        vector = kept.get(draft.content_hash)
        for pair in _pairs(candidate, draft, vector) if vector is not None else ():
            key = (min(pair["unit"], pair["neighbour"]), max(pair["unit"], pair["neighbour"]))
            if key not in best or best[key]["similarity"] < pair["similarity"]:
                best[key] = pair
    pairs = sorted(best.values(), key=lambda pair: (-pair["similarity"], pair["unit"]))
    return Comparison(pairs=pairs, compared=len(compared), fragments=len(drafts))


def _drafts(candidate: Candidate, path: str) -> Sequence[DraftPoint]:
    unit = parse_curated_markdown(candidate.tree.files[path].decode(), path=path)
    return draft_points(unit, path=path, key=candidate.generation.key)


def _pairs(candidate: Candidate, draft: DraftPoint, vector: Sequence[float]) -> Iterator[Pair]:
    """Give the other units among the closest fragments, for each purpose of this one."""
    own = draft.payload.evidence_id
    for purpose in draft.payload.purposes:
        key = candidate.generation.key
        query = HybridQuery(
            text=draft.text,
            vector=vector,
            filter=EvidenceFilter(key.workspace, key.revision, key.id, purpose),
            branches=True,
        )
        for hit in candidate.store.query(candidate.generation, query).dense:
            other = hit.payload.evidence_id
            if hit.score >= ALIKE and other != own:
                yield Pair(unit=own, neighbour=other, similarity=round(hit.score, 4))
