"""What stands in the collection of a workspace, before and after its first publication."""

from __future__ import annotations

import os
from typing import Final
from uuid import UUID

from evidence import overview as evidence_overview
from publishing import generations, wiring
from publishing.ports import Census, StoredGeneration

_NOBODY: Final = UUID(int=0)


def census(workspace: str) -> Census:
    """Count what stands where the workspace's evidence is, or would be; nothing is changed.

    Raises `WorkspaceUnknown`, `WorkspaceInvalid`, and the faults of store and embedder.
    """
    live = generations.active(workspace)
    return wiring.store().census(live.stored if live else _planned(workspace))


def _planned(workspace: str) -> StoredGeneration:
    """Give a generation that nobody built, as the head's `workspace.yaml` would have it."""
    head = evidence_overview.workspace(workspace).head
    file = evidence_overview.workspace_file(workspace, head)
    return StoredGeneration(
        id=_NOBODY,
        workspace=workspace,
        revision=head,
        attempt=0,
        collection=file.collection(os.environ),
        dimension=wiring.embedder_for(file).dimension,
        language=file.language,
        avg_len=1,
    )
