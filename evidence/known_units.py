"""Which ids a workspace ever had: asked of Git, where nothing is forgotten."""

from __future__ import annotations

from collections.abc import Iterable

from evidence import plugged
from evidence.domain.identifiers import ID_PREFIX, unit_path
from evidence.domain.paths import EVIDENCE_FOLDER
from evidence.domain.units import EvidenceKind
from evidence.models import Workspace


def known(*, workspace: str, revision: str, evidence_ids: Iterable[str]) -> frozenset[str]:
    """Give those of the ids that a revision has, or that the history of the workspace had.

    The history is walked only for an id that the revision has not. Raises `WorkspaceUnknown`,
    `RevisionUnknown`, `RepositoryBroken`.
    """
    row, wanted = Workspace.named(workspace), frozenset(evidence_ids)
    if not wanted:
        return wanted
    repository = plugged.repository(workspace)
    paths = [
        EVIDENCE_FOLDER + unit_path(kind, each) for each in sorted(wanted) for kind in EvidenceKind
    ]
    found = _ids(entry.path for entry in repository.entries(revision, paths))
    if wanted <= found:
        return wanted
    return wanted & (found | _ids(repository.last_changes(repository.head(row.branch))))


def _ids(paths: Iterable[str]) -> frozenset[str]:
    names = (path.rpartition("/")[2] for path in paths)
    return frozenset(ID_PREFIX + name.removesuffix(".md") for name in names)
