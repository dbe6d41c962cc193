"""When each unit was last changed in Git; called by `mirror` alone."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime

from evidence.models import UnitRecord, Workspace
from evidence.ports import Repository
from evidence.projection import Projection
from evidence.row_writing import BATCH, batches, storable


def read_dates(
    repository: Repository, projection: Projection, *, everything: bool
) -> Mapping[str, datetime]:
    """Give the last change of each unit's path that the new commits touched.

    `everything` looks at the whole history; so does a mirror that lacks a date. One walk of Git.
    """
    workspace = projection.known.workspace
    dateless = UnitRecord.objects.filter(workspace=workspace, changed_at=None)
    after = None if everything or dateless.exists() else workspace.mirrored_commit
    return repository.last_changes(projection.head, after=after)


def write_dates(workspace: Workspace, dates: Mapping[str, datetime]) -> None:
    """Keep these dates for the units that are there."""
    # A name that no database takes is refused, so no unit has it.
    paths = sorted(path for path in dates if storable(path) == path)
    for batch in batches(paths):
        rows = list(
            UnitRecord.objects.filter(workspace=workspace, path__in=batch).only("pk", "path")
        )
        for row in rows:
            row.changed_at = dates[row.path]
        UnitRecord.objects.bulk_update(rows, ["changed_at"], batch_size=BATCH)
