"""From a revision's files to stored points: fragments, vectors, one candidate generation."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Final

from evidence.domain.codec import parse_curated_markdown
from evidence.domain.tree import EvidenceTree
from evidence.faults import OperatorFault
from evidence.messages import Message, gettext_noop
from publishing import vectors
from publishing.domain.confidence import average_length
from publishing.domain.digests import PointsSummary
from publishing.domain.points import (
    DraftPoint,
    Point,
    draft_points,
    points_digest,
)
from publishing.generations import stored
from publishing.leases import Hold
from publishing.ports import Embedder, StoredGeneration, VectorStore

CURATED: Final = "curated/"
BATCH: Final = 256


class TreeRefused(OperatorFault):
    """The revision's files are not the approved ones, or hold paths that are never published."""

    code = "tree_refused"


class BuildIncomplete(OperatorFault):
    """The store read back other points than those written to it."""

    code = "build_incomplete"


@dataclass(frozen=True, slots=True)
class Built:
    """A candidate in the store; `embedded_count` is how many texts needed the embedder."""

    stored: StoredGeneration
    embedder: str
    unit_count: int
    embedded_count: int
    summary: PointsSummary

    def as_columns(self) -> dict[str, object]:
        """Give what a generation's row keeps of its build."""
        return {
            "embedder": self.embedder,
            "dimension": self.stored.dimension,
            "avg_len": self.stored.avg_len,
            "unit_count": self.unit_count,
            "embedded_count": self.embedded_count,
            "point_count": self.summary.count,
            "points_digest": self.summary.digest,
            "progress_done": 0,
            "progress_total": 0,
            "error_code": "",
            "error_message": "",
        }


def build(*, hold: Hold, tree: EvidenceTree, store: VectorStore, embedder: Embedder) -> Built:
    """Write all fragments of the tree to the store as the held generation (spec 50, Build).

    Progress and the lease are kept batch by batch; texts embedded once are never embedded again.
    Raises `TreeRefused`, `BuildIncomplete`, `LeaseLost`, and the faults of units, store, embedder.
    """
    check_tree(tree, hold)
    key = stored(hold.generation)
    drafts, unit_count = _drafts(tree, hold, key)
    lengths = store.count_terms(key.language, [draft.text for draft in drafts])
    embedded = vectors.embed_missing(
        [(draft.content_hash, draft.text) for draft in drafts], embedder=embedder, hold=hold
    )
    plan = replace(key, dimension=embedder.dimension, avg_len=average_length(lengths))
    batches = _batches(drafts, embedder=embedder, hold=hold)
    written = store.build(plan, batches, beat=hold.keep)
    _check_written(written, points_digest((draft.id, draft.payload) for draft in drafts))
    return Built(
        stored=plan,
        embedder=embedder.id,
        unit_count=unit_count,
        embedded_count=embedded,
        summary=written,
    )


def check_tree(tree: EvidenceTree, hold: Hold) -> None:
    """Refuse a tree with refused paths or other content than the generation was made for."""
    if tree.refused:
        raise TreeRefused(
            Message(gettext_noop("The revision holds a path that is never published.")),
            path=tree.refused[0].path,
        )
    if tree.content_digest() != hold.generation.content_digest:
        raise TreeRefused(
            Message(gettext_noop("The revision's files differ from what was approved."))
        )


def _drafts(
    tree: EvidenceTree, hold: Hold, key: StoredGeneration
) -> tuple[Sequence[DraftPoint], int]:
    drafts: list[DraftPoint] = []
    paths = [path for path in tree.under(CURATED) if path.endswith(".md")]
    for number, path in enumerate(paths):
        unit = parse_curated_markdown(tree.files[path].decode(), path=path)
        drafts += draft_points(unit, path=path, key=key.key)
        if number % BATCH == 0:
            hold.keep()
    return drafts, len(paths)


def _batches(
    drafts: Sequence[DraftPoint], *, embedder: Embedder, hold: Hold
) -> Iterator[Sequence[Point]]:
    for start in range(0, len(drafts), BATCH):
        batch = drafts[start : start + BATCH]
        hold.keep()
        kept = vectors.read(embedder=embedder, hashes={draft.content_hash for draft in batch})
        yield [
            draft.with_vector(kept.get(draft.content_hash), dimension=embedder.dimension)
            for draft in batch
        ]


def _check_written(written: PointsSummary, expected: PointsSummary) -> None:
    if written != expected:
        raise BuildIncomplete(
            Message(
                gettext_noop("The store read back %(written)s of %(expected)s fragments written."),
                written=written.count,
                expected=expected.count,
            )
        )
