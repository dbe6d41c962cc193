"""What a Qdrant server answers, as far as we read it; anything else is no answer."""

from __future__ import annotations

from typing import Annotated
from uuid import UUID

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, FiniteFloat

from publishing.ports import CollectionState

_DENSE = ""
_SPARSE = "bm25"


class Answered(BaseModel):
    """A part of an answer; the server may say more than we read."""

    model_config = ConfigDict(frozen=True, extra="ignore")


class Version(Answered):
    """The answer of the root: `1.18.2`, or `1.18.2-dev`."""

    version: str = Field(pattern=r"^\d+\.\d+\.")

    @property
    def release(self) -> tuple[int, int]:
        """Give major and minor as numbers."""
        major, minor, *_ = self.version.split(".")
        return int(major), int(minor)


class DenseParams(Answered):
    """How a dense vector is stored."""

    size: int
    distance: str
    datatype: str | None = None
    multivector_config: object = None

    def holds(self, dimension: int) -> bool:
        """Tell whether our vectors fit: size, Cosine, one vector a point, fractions kept."""
        return (
            (self.size, self.distance) == (dimension, "Cosine")
            and self.multivector_config is None
            and self.datatype != "uint8"
        )


class SparseIndex(Answered):
    """How a sparse vector is indexed."""

    datatype: str | None = None


class SparseParams(Answered):
    """How a sparse vector is stored."""

    modifier: str | None = None
    index: SparseIndex | None = None

    @property
    def is_bm25(self) -> bool:
        """Tell whether it weighs by IDF and keeps whole weights."""
        datatype = self.index.datatype if self.index else None
        return self.modifier == "idf" and datatype in (None, "float32")


def _by_name(vectors: object) -> object:
    """Give the one unnamed vector under its name, the empty one."""
    if isinstance(vectors, dict) and isinstance(vectors.get("size"), int):
        return {_DENSE: vectors}
    return vectors


class Params(Answered):
    """The vectors of a collection, by name."""

    vectors: Annotated[dict[str, DenseParams], BeforeValidator(_by_name)] = {}
    sparse_vectors: dict[str, SparseParams] | None = None


class Config(Answered):
    """The configuration of a collection."""

    params: Params


class Index(Answered):
    """One payload index."""

    data_type: str


class Collection(Answered):
    """A collection's configuration and indexes."""

    config: Config
    payload_schema: dict[str, Index] = {}

    @property
    def dimension(self) -> int | None:
        """Give the size of the unnamed dense vector, if there is one."""
        dense = self.config.params.vectors.get(_DENSE)
        return dense.size if dense else None

    @property
    def bm25(self) -> SparseParams | None:
        """Give the sparse vector of that name, if there is one."""
        return (self.config.params.sparse_vectors or {}).get(_SPARSE)

    def state(self, dimension: int) -> CollectionState:
        """Tell what the collection is to vectors of this size (spec 50, Collection contract)."""
        vectors = self.config.params.vectors
        dense = vectors.get(_DENSE)
        is_ours = len(vectors) == 1 and dense is not None and dense.holds(dimension)
        if not is_ours or (self.bm25 is not None and not self.bm25.is_bm25):
            return CollectionState.INCOMPATIBLE
        return CollectionState.UPGRADEABLE if self.bm25 is None else CollectionState.COMPATIBLE


class Written(Answered):
    """How a write ended."""

    status: str


class Counted(Answered):
    """How many points there are."""

    count: int = Field(ge=0)


class Record(Answered):
    """One stored point; ours have UUIDs, those of others may have numbers."""

    id: UUID | int
    payload: dict[str, object] | None = None


class Page(Answered):
    """Some points, and where the next page begins."""

    points: tuple[Record, ...]
    next_page_offset: UUID | int | None = None

    @property
    def following(self) -> str | int | None:
        """Give the next page's first id as JSON, or None at the end."""
        offset = self.next_page_offset
        return str(offset) if isinstance(offset, UUID) else offset


class Scored(Answered):
    """One point that was found."""

    score: FiniteFloat
    payload: dict[str, object] | None = None


class Found(Answered):
    """The answer to one query of a batch."""

    points: tuple[Scored, ...]
