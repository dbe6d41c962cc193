"""The two outcomes of a search, and the code behind each fault (spec 60, Outcome)."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from types import MappingProxyType
from typing import Final
from uuid import UUID

from evidence.faults import Fault
from evidence.messages import Message, gettext_noop
from publishing.domain.confidence import Confidence
from publishing.domain.scoring import UnitHit
from publishing.ports import (
    Bm25Unsupported,
    CollectionIncompatible,
    EmbedderRefused,
    EmbedderUnavailable,
    LanguageUnsupported,
    MalformedPayload,
    VectorRefused,
    VectorStoreRefused,
    VectorStoreUnavailable,
)


class UnavailableCode(StrEnum):
    """Why there is no answer (spec 60, Outcome)."""

    NO_ACTIVE_GENERATION = "no_active_generation"
    REVISION_MISMATCH = "revision_mismatch"
    VECTOR_STORE_UNAVAILABLE = "vector_store_unavailable"
    COLLECTION_INCOMPATIBLE = "collection_incompatible"
    BM25_UNSUPPORTED = "bm25_unsupported"
    EMBEDDER_UNAVAILABLE = "embedder_unavailable"
    MALFORMED_PAYLOAD = "malformed_payload"


_C = UnavailableCode
RETRIABLE: Final = frozenset({_C.VECTOR_STORE_UNAVAILABLE, _C.EMBEDDER_UNAVAILABLE})
MESSAGES: Final = MappingProxyType(
    {
        _C.NO_ACTIVE_GENERATION: gettext_noop("Nothing is published in this workspace."),
        _C.REVISION_MISMATCH: gettext_noop("Another revision than the asked one is published."),
        _C.VECTOR_STORE_UNAVAILABLE: gettext_noop("The vector store does not answer now."),
        _C.COLLECTION_INCOMPATIBLE: gettext_noop("The collection cannot hold this evidence."),
        _C.BM25_UNSUPPORTED: gettext_noop("The vector store cannot search by words."),
        _C.EMBEDDER_UNAVAILABLE: gettext_noop("The embedder does not answer now."),
        _C.MALFORMED_PAYLOAD: gettext_noop("The vector store gave back something malformed."),
    }
)
"""Bounded sentences without internals; what really happened is in the log."""
_CODES: Final[tuple[tuple[type[Fault], UnavailableCode], ...]] = (
    (VectorStoreUnavailable, _C.VECTOR_STORE_UNAVAILABLE),
    (VectorStoreRefused, _C.VECTOR_STORE_UNAVAILABLE),
    (CollectionIncompatible, _C.COLLECTION_INCOMPATIBLE),
    (Bm25Unsupported, _C.BM25_UNSUPPORTED),
    (LanguageUnsupported, _C.BM25_UNSUPPORTED),
    (EmbedderUnavailable, _C.EMBEDDER_UNAVAILABLE),
    (EmbedderRefused, _C.EMBEDDER_UNAVAILABLE),
    (VectorRefused, _C.EMBEDDER_UNAVAILABLE),
    (MalformedPayload, _C.MALFORMED_PAYLOAD),
)
SEARCH_FAULTS: Final = tuple(fault for fault, _ in _CODES)
"""Everything that a store or an embedder may raise for a question."""


@dataclass(frozen=True, slots=True)
class Available:
    """An answer from one generation; no result at all is a good answer."""

    generation: UUID
    revision: str
    confidence: Confidence
    results: tuple[UnitHit, ...]
    best_dense: float | None
    """The best similarity and the lexical hits are what the confidence rests on."""
    lexical_hits: int


@dataclass(frozen=True, slots=True)
class Unavailable:
    """No answer, why, and whether asking again may help."""

    code: UnavailableCode
    message: Message
    retriable: bool


Outcome = Available | Unavailable


def unavailable(code: UnavailableCode) -> Unavailable:
    """Give the outcome for a code, with its message."""
    return Unavailable(code=code, message=Message(MESSAGES[code]), retriable=code in RETRIABLE)


def unavailable_for(fault: Fault) -> Unavailable:
    """Give the outcome for one of the `SEARCH_FAULTS`."""
    return unavailable(next(code for kind, code in _CODES if isinstance(fault, kind)))
