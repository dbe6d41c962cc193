"""Vectors kept in the database by embedder and text, so that nothing is embedded twice."""

from __future__ import annotations

import sys
from array import array
from collections.abc import Collection, Iterator, Mapping, Sequence
from datetime import datetime
from typing import Final

from publishing.domain.vectors import checked_vector
from publishing.leases import Hold
from publishing.models import EmbeddingRecord
from publishing.ports import Embedder

Text = tuple[str, str]
"""A text's digest and the text."""

BATCH: Final = 16
BATCH_CHARS: Final = 8_000
"""Texts and their characters a call: seconds of the bundled model, so the lease is renewed."""
LOOK_UP: Final = 500
"""Values in one `IN`, below SQLite's limit of variables."""


def embed_missing(texts: Sequence[Text], *, embedder: Embedder, hold: Hold) -> int:
    """Embed what the table lacks, save each batch at once, and give how many were embedded.

    Raises `EmbedderUnavailable`, `VectorRefused`, `LeaseLost`.
    """
    distinct = dict(texts)
    known = _touch(embedder.id, list(distinct), at=hold.clock())
    missing = [text for text in distinct.items() if text[0] not in known]
    hold.keep(progress_done=len(known), progress_total=len(distinct))
    done = len(known)
    for batch in _batches(missing):
        _embed(batch, embedder=embedder, at=hold.clock())
        done += len(batch)
        hold.keep(progress_done=done)
    return len(missing)


def read(*, embedder: Embedder, hashes: Collection[str]) -> Mapping[str, Sequence[float]]:
    """Give the vectors kept for these texts, by digest; a missing one is left out."""
    rows = EmbeddingRecord.objects.filter(embedder=embedder.id, content_hash__in=hashes)
    return {row.content_hash: _unpacked(bytes(row.vector)) for row in rows}


def _batches(texts: Sequence[Text]) -> Iterator[Sequence[Text]]:
    batch: list[Text] = []
    size = 0
    for text in texts:
        if batch and (len(batch) == BATCH or size + len(text[1]) > BATCH_CHARS):
            yield batch
            batch, size = [], 0
        batch.append(text)
        size += len(text[1])
    if batch:
        yield batch


def _touch(embedder: str, hashes: Sequence[str], *, at: datetime) -> set[str]:
    """Note that a build wants these vectors, and give those that exist."""
    known: set[str] = set()
    for start in range(0, len(hashes), LOOK_UP):
        rows = EmbeddingRecord.objects.filter(
            embedder=embedder, content_hash__in=hashes[start : start + LOOK_UP]
        )
        rows.update(used_at=at)
        known.update(rows.values_list("content_hash", flat=True))
    return known


def _embed(batch: Sequence[Text], *, embedder: Embedder, at: datetime) -> None:
    found = embedder.embed_documents([text for _, text in batch])
    padded = [*found, *([None] * (len(batch) - len(found)))]
    EmbeddingRecord.objects.bulk_create(
        (
            EmbeddingRecord(
                embedder=embedder.id,
                content_hash=digest,
                vector=_packed(checked_vector(vector, dimension=embedder.dimension)),
                used_at=at,
            )
            for (digest, _), vector in zip(batch, padded, strict=True)
        ),
        ignore_conflicts=True,
    )


def _packed(vector: Sequence[float]) -> bytes:
    numbers = array("f", vector)
    if sys.byteorder == "big":
        numbers.byteswap()
    return numbers.tobytes()


def _unpacked(data: bytes) -> Sequence[float]:
    numbers = array("f", data)
    if sys.byteorder == "big":
        numbers.byteswap()
    return numbers
