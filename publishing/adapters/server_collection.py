"""A shared collection: what it is to us, what publication may add to it, what stands in it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from http import HTTPStatus
from typing import Final

from evidence.messages import Message, gettext_noop
from publishing.adapters import server_requests as ask
from publishing.adapters.server_answers import Collection, Counted, Page
from publishing.adapters.server_api import QdrantApi
from publishing.adapters.server_filters import Json, of_another_kind, of_kind, of_no_kind
from publishing.ports import (
    SAMPLE,
    Bm25Unsupported,
    Census,
    CollectionIncompatible,
    CollectionState,
    VectorStoreUnavailable,
)

_MISSING: Final = gettext_noop("The collection %(name)s does not exist.")
_INCOMPATIBLE: Final = gettext_noop(
    "The collection %(name)s holds other vectors than an unnamed one of %(dimension)s numbers"
    " with Cosine, or another bm25 than one with IDF; nothing was changed."
)
_NO_BM25: Final = gettext_noop("The collection %(name)s has no bm25 vector.")
_NOT_ADDED: Final = gettext_noop("The bm25 vector could not be added to the collection %(name)s.")


def read(api: QdrantApi, name: str, *, until: float | None = None) -> Collection | None:
    """Give a collection's configuration, or None when it does not exist."""
    answer = api.send(ask.collection(name), until=until)
    if answer.status == HTTPStatus.NOT_FOUND:
        return None
    return answer.as_(Collection)


def state(found: Collection | None, dimension: int) -> CollectionState:
    """Tell what a collection is to vectors of this size."""
    return found.state(dimension) if found else CollectionState.MISSING


def check(found: Collection | None, name: str, *, dimension: int) -> Collection:
    """Give the collection that evidence can be searched in.

    Raises `VectorStoreUnavailable` when it is missing, `CollectionIncompatible`, and
    `Bm25Unsupported` when it lacks the sparse vector.
    """
    if found is None:
        raise VectorStoreUnavailable(Message(_MISSING, name=name))
    match found.state(dimension):
        case CollectionState.INCOMPATIBLE:
            raise CollectionIncompatible(Message(_INCOMPATIBLE, name=name, dimension=dimension))
        case CollectionState.UPGRADEABLE:
            raise Bm25Unsupported(Message(_NO_BM25, name=name))
    return found


def prepare(api: QdrantApi, name: str, *, dimension: int) -> None:
    """Make a collection fit for evidence by adding what is absent; only a build calls this.

    Raises `CollectionIncompatible` before anything is changed, and `Bm25Unsupported`.
    """
    api.check_version()
    found = read(api, name)
    match state(found, dimension):
        case CollectionState.MISSING:
            found = _created(api, name, dimension=dimension)
        case CollectionState.UPGRADEABLE:
            found = _upgraded(api, name, dimension=dimension)
    ready = check(found, name, dimension=dimension)
    for field in ask.INDEXES:
        if field not in ready.payload_schema:
            api.write(ask.add_index(name, field))


def _created(api: QdrantApi, name: str, *, dimension: int) -> Collection | None:
    """Create a collection; when another worker was quicker, what is there now decides."""
    answer = api.send(ask.create_collection(name, dimension=dimension))
    found = read(api, name)
    if found is None:
        answer.as_(bool)  # raises why it could not be created
    return found


def _upgraded(api: QdrantApi, name: str, *, dimension: int) -> Collection | None:
    """Add the sparse vector, and look whether it is there: not the server's word decides."""
    api.send(ask.add_bm25(name))
    found = read(api, name)
    if state(found, dimension) is CollectionState.UPGRADEABLE:
        raise Bm25Unsupported(Message(_NOT_ADDED, name=name))
    return found


def census(api: QdrantApi, name: str, *, dimension: int) -> Census:
    """Count the records of every kind and show some ids, needing no index and changing nothing."""
    found = read(api, name)
    if found is None:
        return Census(state=CollectionState.MISSING)
    counts = _counts(api, name)
    return Census(
        state=found.state(dimension),
        dimension=found.dimension,
        has_bm25=found.bm25 is not None,
        counts=counts,
        sample_ids={kind: _sample(api, name, _of(kind, counts)) for kind in counts},
    )


def _counts(api: QdrantApi, name: str) -> dict[str, int]:
    """Count kind by kind: a record of none of the known kinds makes its own kind known."""
    counts: dict[str, int] = {}
    while kind := _another_kind(api, name, list(counts)):
        counts[kind] = _count(api, name, of_kind(kind))
    if without := _count(api, name, of_no_kind(list(counts))):
        counts[""] = without
    return dict(sorted(counts.items()))


def _another_kind(api: QdrantApi, name: str, known: Sequence[str]) -> str:
    """Give a kind that is not known yet, or nothing; a list or a number is no kind."""
    offset: str | int | None = None
    while True:
        call = ask.scroll(name, of_another_kind(known), offset=offset)
        page = api.send(call).as_(Page)
        for record in page.points:
            kind = (record.payload or {}).get("record_kind")
            if isinstance(kind, str) and kind:
                return kind
        offset = page.following
        if offset is None:
            return ""


def _of(kind: str, kinds: Iterable[str]) -> Json:
    return of_kind(kind) if kind else of_no_kind([one for one in kinds if one])


def _count(api: QdrantApi, name: str, filter_: Json) -> int:
    return api.send(ask.count(name, filter_)).as_(Counted).count


def _sample(api: QdrantApi, name: str, filter_: Json) -> tuple[str, ...]:
    page = api.send(ask.scroll(name, filter_, limit=SAMPLE)).as_(Page)
    return tuple(str(record.id) for record in page.points)
