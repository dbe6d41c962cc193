"""From fragments to points: ids, payloads, vectors and the digest of them all (spec 50)."""

from __future__ import annotations

import hashlib
import unicodedata
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from uuid import UUID, uuid5

from evidence.domain.fragments import MAX_CHUNK_CHARS, Fragment, render_fragments
from evidence.domain.units import CuratedEvidence
from publishing.domain.digests import PointsDigest, PointsSummary, canonical
from publishing.domain.payload import FragmentPayload
from publishing.domain.vectors import checked_vector


@dataclass(frozen=True, slots=True)
class GenerationKey:
    """What every point of one generation has in common."""

    id: UUID
    workspace: str
    revision: str
    language: str
    """The workspace's language, for units that name none."""


@dataclass(frozen=True, slots=True)
class Point:
    """One fragment as a store takes it: id, dense vector, the text for BM25, the payload."""

    id: UUID
    dense: tuple[float, ...]
    text: str
    payload: FragmentPayload


@dataclass(frozen=True, slots=True)
class DraftPoint:
    """A point that still waits for its vector; `content_hash` finds it among the vectors kept."""

    id: UUID
    payload: FragmentPayload

    @property
    def text(self) -> str:
        """Give the text to embed."""
        return self.payload.text

    @property
    def content_hash(self) -> str:
        """Give `sha256:` and the digest of the text."""
        return self.payload.content_hash

    def with_vector(self, vector: Sequence[float] | None, *, dimension: int) -> Point:
        """Give the finished point. Raises `VectorRefused`."""
        dense = checked_vector(vector, dimension=dimension)
        return Point(id=self.id, dense=dense, text=self.text, payload=self.payload)


def draft_points(
    unit: CuratedEvidence,
    *,
    path: str,
    key: GenerationKey,
    max_chunk_chars: int = MAX_CHUNK_CHARS,
) -> tuple[DraftPoint, ...]:
    """Give one draft a fragment of the unit, in ordinal order; `path` is relative to `evidence/`.

    Raises `AtomicContentTooLarge` as `render_fragments` does.
    """
    fragments = render_fragments(unit, max_chunk_chars=max_chunk_chars)
    payloads = (_payload(unit, fragment, path=path, key=key) for fragment in fragments)
    return tuple(
        DraftPoint(id=uuid5(key.id, payload.record_key), payload=payload) for payload in payloads
    )


def content_hash(text: str) -> str:
    """Give `sha256:` and the hexadecimal SHA-256 of the UTF-8 text."""
    return "sha256:" + hashlib.sha256(text.encode()).hexdigest()


def comparable(value: str) -> str:
    """Give a scope value as filters compare it: NFC, trimmed, case kept."""
    return unicodedata.normalize("NFC", value).strip()


def points_digest(points: Iterable[tuple[UUID, FragmentPayload]]) -> PointsSummary:
    """Give what a store must give back after points with these ids and payloads were written."""
    digest = PointsDigest()
    for point_id, payload in points:
        digest.add(point_id, canonical(payload.as_json()))
    return digest.summary()


def _payload(
    unit: CuratedEvidence, fragment: Fragment, *, path: str, key: GenerationKey
) -> FragmentPayload:
    return FragmentPayload(
        record_key=f"{unit.id}#{fragment.ordinal}",
        workspace_id=key.workspace,
        workspace_revision=key.revision,
        vector_generation=key.id,
        document_id=unit.id,
        content_hash=content_hash(fragment.text),
        evidence_id=unit.id,
        evidence_kind=unit.kind,
        purposes=tuple(unit.purposes),
        concepts=tuple(comparable(value) for value in unit.scope.concepts),
        tables=tuple(comparable(value) for value in unit.scope.tables),
        columns=tuple(comparable(value) for value in unit.scope.columns),
        language=unit.language or key.language,
        ordinal=fragment.ordinal,
        title=unit.title,
        text=fragment.text,
        source_file=unit.provenance.source_file,
        source_sha256=unit.provenance.source_sha256,
        path=path,
    )
