"""Write many rows at once on any database, and only texts that every database takes."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from typing import TypeVar

from django.db.models import Model, QuerySet

Item = TypeVar("Item")
Row = TypeVar("Row", bound=Model)

BATCH = 500
INDEXED_BYTES = 1_000
"""PostgreSQL indexes no value above 2,704 bytes; names of files are at most this long."""


def upsert(rows: QuerySet[Row], made: Sequence[Row], *, unique: str) -> None:
    """Insert rows or replace what they say, keeping the primary keys that pages link to.

    A row is known by its workspace and the column `unique`; `made` get their primary keys.
    """
    fields = rows.model._meta.concrete_fields  # noqa: SLF001 (Django's public API)
    columns = {field.name for field in fields if not field.primary_key}
    written = sorted(columns - {"workspace", unique})
    for batch in batches(made):
        for row in batch:
            row.pk = None
        rows.bulk_create(
            batch,
            update_conflicts=True,
            unique_fields=["workspace", unique],
            update_fields=written,
        )


def delete_at(rows: QuerySet[Row], paths: Collection[str]) -> None:
    """Delete the rows of these paths."""
    for batch in batches(sorted(paths)):
        rows.filter(path__in=batch).delete()


def delete_others(rows: QuerySet[Row], kept: Collection[str]) -> None:
    """Delete the rows of all paths but these."""
    stored = set(rows.order_by().values_list("path", flat=True))
    delete_at(rows, stored - set(kept))


def batches(items: Sequence[Item]) -> Iterator[Sequence[Item]]:
    """Cut a sequence into pieces that fit into one statement."""
    return (items[start : start + BATCH] for start in range(0, len(items), BATCH))


def indexable(text: str) -> str:
    """Give a text that every database can index; a longer one names no file that may be here."""
    whole = storable(text)
    return whole if len(whole.encode()) <= INDEXED_BYTES else whole[: INDEXED_BYTES // 4]


def storable(text: str) -> str:
    """Give a text that PostgreSQL takes: no NUL, no half characters (spec 90, PostgreSQL)."""
    return text.replace("\0", "\ufffd").encode("utf-8", "replace").decode()
