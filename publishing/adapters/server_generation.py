"""One generation inside a shared collection: counted, read back, proven to be what was written."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final
from uuid import UUID

from evidence.messages import Message, gettext_noop
from publishing.adapters import server_requests as ask
from publishing.adapters.server_answers import Counted, Page
from publishing.adapters.server_api import QdrantApi
from publishing.adapters.server_filters import of_generation
from publishing.domain.digests import PointsDigest, PointsSummary, canonical
from publishing.domain.payload import FragmentPayload, parse_payload
from publishing.ports import Beat, StoredGeneration, VectorStoreUnavailable

_BOTH: Final = (ask.DENSE, ask.SPARSE)
_INCOMPLETE: Final = gettext_noop("The vector store does not hold what was written.")


def incomplete() -> VectorStoreUnavailable:
    """Give the fault of a generation that is not there, or not whole."""
    return VectorStoreUnavailable(Message(_INCOMPLETE))


def check_whole(api: QdrantApi, generation: StoredGeneration, *, until: float) -> None:
    """Raise `VectorStoreUnavailable` unless all points, or any where none are known, are there."""
    found, expected = count(api, generation, until=until), generation.point_count
    if found == 0 if expected is None else found != expected:
        raise incomplete()


def summary(api: QdrantApi, generation: StoredGeneration, *, beat: Beat) -> PointsSummary:
    """Read count and digest back, and prove that every point has both its vectors."""
    digest = PointsDigest()
    for point_id, payload in _read_back(api, generation, beat=beat):
        digest.add(point_id, canonical(payload.as_json()))
    found = digest.summary()
    is_gone = found.count == 0 and generation.point_count != 0
    if is_gone or found.count != count(api, generation, vectors=_BOTH):
        raise incomplete()
    return found


def prove(
    api: QdrantApi,
    generation: StoredGeneration,
    written: PointsSummary,
    ids: set[UUID],
    *,
    beat: Beat,
) -> PointsSummary:
    """Remove what an earlier build left, and read back that exactly these points stand."""
    digest = PointsDigest()
    stale: list[UUID] = []
    for point_id, payload in _read_back(api, generation, beat=beat):
        if point_id in ids:
            digest.add(point_id, canonical(payload.as_json()))
        else:
            stale.append(point_id)
    for start in range(0, len(stale), ask.PAGE):
        doomed = stale[start : start + ask.PAGE]
        beat()
        api.write(ask.delete_points(generation.collection, doomed))
    found = digest.summary()
    counts = {count(api, generation), count(api, generation, vectors=_BOTH)}
    if found != written or counts != {found.count}:
        raise incomplete()
    return found


def count(
    api: QdrantApi,
    generation: StoredGeneration,
    *,
    vectors: Sequence[str] = (),
    until: float | None = None,
) -> int:
    """Count the generation's points, and of them only those that have these vectors."""
    filter_ = of_generation(generation, vectors=vectors)
    call = ask.count(generation.collection, filter_)
    return api.send(call, until=until).as_(Counted).count


def _read_back(
    api: QdrantApi, generation: StoredGeneration, *, beat: Beat
) -> Iterator[tuple[UUID, FragmentPayload]]:
    filter_ = of_generation(generation)
    offset: str | int | None = None
    while True:
        beat()
        page = api.send(ask.scroll(generation.collection, filter_, offset=offset)).as_(Page)
        for record in page.points:
            yield UUID(str(record.id)), parse_payload(record.payload)
        offset = page.following
        if offset is None:
            return
