"""The outside world of `publishing`: embedders and vector stores, and the faults they raise."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from typing import Final, Protocol
from uuid import UUID

from evidence.faults import OperatorFault, OutsideFault
from publishing.domain.digests import PointsSummary
from publishing.domain.languages import LanguageUnsupported
from publishing.domain.payload import MalformedPayload
from publishing.domain.points import GenerationKey, Point
from publishing.domain.query import EvidenceFilter, SearchRequest
from publishing.domain.scoring import Hit
from publishing.domain.vectors import VectorRefused

__all__ = [
    "Beat",
    "Bm25Unsupported",
    "Census",
    "CollectionIncompatible",
    "CollectionState",
    "Embedder",
    "EmbedderRefused",
    "EmbedderUnavailable",
    "Hit",
    "HybridAnswer",
    "HybridQuery",
    "LanguageUnsupported",
    "MalformedPayload",
    "OpenQuestions",
    "QuestionLog",
    "RecentQuestions",
    "StoredGeneration",
    "VectorRefused",
    "VectorStore",
    "VectorStoreRefused",
    "VectorStoreUnavailable",
    "no_beat",
]

Beat = Callable[[], object]
"""Called every few seconds by what may last; renews the lease, and raises when it is lost."""


def no_beat() -> None:
    """Do nothing: nobody holds a lease."""


class EmbedderUnavailable(OutsideFault):
    """No vector could be had now."""

    code = "embedder_unavailable"


class EmbedderRefused(OperatorFault):
    """The embedder understands a request and will not do it: a wrong key, an unknown model."""

    code = "embedder_refused"


class VectorStoreUnavailable(OutsideFault):
    """The store does not answer, or a sealed folder is damaged or gone."""

    code = "vector_store_unavailable"


class VectorStoreRefused(OperatorFault):
    """The store understands a request and will not do it: a wrong key, a limit of its own."""

    code = "vector_store_refused"


class CollectionIncompatible(OperatorFault):
    """The collection exists with vectors that are not ours to change."""

    code = "collection_incompatible"


class Bm25Unsupported(OperatorFault):
    """The server or the collection cannot do BM25, so nothing is answered."""

    code = "bm25_unsupported"


class Embedder(Protocol):
    """Turns texts into vectors of one space."""

    default_threshold: float
    """The best similarity below which an answer may be weak, where no exam measured one."""

    @property
    def id(self) -> str:
        """Give `provider/model/revision`. May ask the embedder, and raise what it raises."""
        ...

    @property
    def dimension(self) -> int:
        """Give the size of its vectors. May ask the embedder, and raise what it raises."""
        ...

    def __hash__(self) -> int:
        """Be a key of a cache of vectors; two embedders of one id need not be equal."""
        ...

    def embed_documents(self, texts: Sequence[str]) -> list[list[float]]:
        """Give one vector of `dimension` floats a text.

        Raises `EmbedderUnavailable`, `EmbedderRefused`, `VectorRefused`.
        """
        ...

    def embed_query(self, text: str) -> list[float]:
        """Give the vector of a question. Raises what `embed_documents` raises."""
        ...


class CollectionState(StrEnum):
    """What a collection is to us (spec 50, Collection contract)."""

    MISSING = "missing"
    COMPATIBLE = "compatible"
    UPGRADEABLE = "upgradeable"
    INCOMPATIBLE = "incompatible"


@dataclass(frozen=True, slots=True)
class StoredGeneration:
    """Everything a store must know to write or read one generation."""

    id: UUID
    workspace: str
    revision: str
    attempt: int
    collection: str
    dimension: int
    language: str
    avg_len: int
    fusion: str = "rrf"
    prefetch: int = 20
    point_count: int | None = None
    """How many points it has, once that is known: a shared collection with others has no answer."""

    @property
    def key(self) -> GenerationKey:
        """Give what the points of this generation have in common."""
        return GenerationKey(
            id=self.id, workspace=self.workspace, revision=self.revision, language=self.language
        )


BRANCH: Final = 20
"""How many fragments of a branch count for its ranks (spec 50, Evaluation)."""


@dataclass(frozen=True, slots=True)
class HybridQuery:
    """One question to one generation, rendered once: both branches get the same text and filter."""

    text: str
    vector: Sequence[float]
    filter: EvidenceFilter
    branches: bool = False
    """Ask for the dense and the BM25 branch too, as evaluation and the console do."""
    depth: int = BRANCH
    """How many fragments of each branch; more than `BRANCH` only for a look at a single unit."""


@dataclass(frozen=True, slots=True)
class HybridAnswer:
    """The fused list, whole, as the engine scored it; best similarity; branches when asked."""

    fused: tuple[Hit, ...]
    best_dense: float | None
    dense: tuple[Hit, ...] = ()
    bm25: tuple[Hit, ...] = ()


@dataclass(frozen=True, slots=True)
class Census:
    """What stands in a collection, whoever wrote it (spec 70, `tht vector inspect`)."""

    state: CollectionState
    dimension: int | None = None
    """Size of the unnamed dense vector; None without one."""
    has_bm25: bool = False
    counts: Mapping[str, int] = field(default_factory=dict)
    """Points by `record_kind`; those without one stand under the empty name."""
    sample_ids: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """The first ids of each kind, at most five, in the store's order."""

    def as_json(self) -> dict[str, object]:
        """Give `{"state", "dimension", "bm25", "counts", "sample_ids"}`."""
        return {
            "state": self.state.value,
            "dimension": self.dimension,
            "bm25": self.has_bm25,
            "counts": dict(self.counts),
            "sample_ids": {kind: list(ids) for kind, ids in self.sample_ids.items()},
        }


SAMPLE: Final = 5
"""How many ids of each kind a census shows."""
QUESTION_S: Final = 1.5
"""How long a server may take for a question: its caller hears `unavailable` within two seconds."""
EXAM_S: Final = 30.0
"""How long a server may take for a question that nobody waits for, as those of an exam."""


class VectorStore(Protocol):
    """Keeps generations of points and answers hybrid queries; a search never changes it."""

    def count_terms(self, language: str, texts: Sequence[str]) -> list[int]:
        """Give the number of distinct BM25 terms of each text, as this store counts them.

        Called before anything is embedded or written; their median is a generation's `avg_len`.
        Raises `LanguageUnsupported`.
        """
        ...

    def inspect(self, generation: StoredGeneration) -> CollectionState:
        """Tell what the collection is to this generation, without changing anything."""
        ...

    def census(self, generation: StoredGeneration) -> Census:
        """Tell what stands where this generation is or would be, without changing anything."""
        ...

    def build(
        self,
        generation: StoredGeneration,
        points: Iterable[Sequence[Point]],
        *,
        beat: Beat = no_beat,
    ) -> PointsSummary:
        """Write batches of points, make them durable, and give count and digest as read back.

        Writing the same points again changes nothing. What `points` or `beat` raises ends the
        build. Raises `CollectionIncompatible`,
        `Bm25Unsupported`, `LanguageUnsupported`, `VectorStoreUnavailable`, `VectorStoreRefused`.
        """
        ...

    def summary(self, generation: StoredGeneration, *, beat: Beat = no_beat) -> PointsSummary:
        """Read count and digest of what is stored. Raises `VectorStoreUnavailable`."""
        ...

    def query(self, generation: StoredGeneration, query: HybridQuery) -> HybridAnswer:
        """Answer a question without changing anything. Raises the faults above and no others."""
        ...

    def delete(self, generation: StoredGeneration) -> None:
        """Remove this generation's points and nothing else; a missing one is fine."""
        ...


@dataclass(frozen=True, slots=True)
class RecentQuestions:
    """What was asked lately, each question once, the last asked first; they may be personal."""

    days: int
    """How many days it looked back: what was wanted, or as many as are kept."""
    questions: tuple[SearchRequest, ...] = ()
    distinct: int = 0
    """How many different ones there were, given or not."""
    unrepeatable: int = 0
    """How many searches are not kept whole, so that they cannot be asked again as they were."""
    until: datetime | None = None
    """When the oldest of them is to be forgotten."""
    off: str = ""
    """Name of the setting that keeps questions from being kept; empty where they are."""


class QuestionLog(Protocol):
    """Who knows what people asked: the search API, which this package does not import."""

    def recent(self, workspace: str, *, now: datetime, days: int, most: int) -> RecentQuestions:
        """Give at most `most` questions of the last days, without the revision they pinned."""
        ...


class OpenQuestions(Protocol):
    """Who keeps the questions that found little: the search API, which is told what joins an exam.

    Equal words count as one question, whatever their case and spacing; unknown ones are fine.
    """

    def examined(self, workspace: str, questions: Sequence[str], *, by: str) -> None:
        """Learn that the exam asks what these questions ask."""
        ...

    def off_topic(self, workspace: str, questions: Sequence[str], *, by: str) -> None:
        """Learn that the workspace is not meant to answer these questions."""
        ...
