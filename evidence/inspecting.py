"""Read changed files of a revision once and say what each is by itself."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from evidence.changed_files import Changed
from evidence.domain.inspection import (
    DismissalsInspection,
    EvaluationInspection,
    ManifestInspection,
    SourceInspection,
    WorkspaceInspection,
    inspect_dismissals,
    inspect_evaluation,
    inspect_manifest,
    inspect_source,
    inspect_workspace,
)
from evidence.domain.paths import Place, place_of
from evidence.domain.tree import DISMISSALS_PATH, EVALUATION_PATH, MANIFEST_PATH, sha256_hex
from evidence.domain.unit_inspection import UnitInspection, inspect_unit
from evidence.domain.workspace import WorkspaceFile
from evidence.ports import Entry, Repository


@dataclass(frozen=True, slots=True)
class Content:
    """The bytes of one file, and how Git and a digest name them."""

    blob: str
    data: bytes

    @property
    def sha256(self) -> str:
        """Give the 64 hex digits of the bytes."""
        return sha256_hex(self.data)


@dataclass(frozen=True, slots=True)
class Inspected:
    """Changed files by path, inspected; None stands for one that is gone.

    `manifest`, `evaluation` and `dismissals` are None when they did not change;
    `workspace_yaml` and `workspace` are always those of the revision.
    """

    contents: Mapping[str, Content | None]
    units: Mapping[str, UnitInspection | None]
    sources: Mapping[str, SourceInspection | None]
    manifest: ManifestInspection | None
    evaluation: EvaluationInspection | None
    dismissals: DismissalsInspection | None
    workspace_yaml: bytes | None
    workspace: WorkspaceInspection


def inspect_changed(
    repository: Repository, changed: Changed, workspace_yaml: bytes | None
) -> Inspected:
    """Read and inspect; `workspace_yaml` is the mirrored one, used unless everything changed."""
    contents = read_contents(repository, changed.files)
    if changed.everything:
        workspace_yaml = _data(read_contents(repository, {"": changed.workspace})[""])
    workspace = inspect_workspace(workspace_yaml)
    of_place = {path: place_of(path) for path in contents}
    return Inspected(
        contents=contents,
        units={
            path: inspect_unit(path, content.data) if content else None
            for path, content in contents.items()
            if of_place[path] is Place.UNIT
        },
        sources={
            path: inspect_source(path, content.data, workspace.workspace) if content else None
            for path, content in contents.items()
            if of_place[path] is Place.SOURCE
        },
        manifest=(
            inspect_manifest(_data(contents.get(MANIFEST_PATH)))
            if changed.everything or MANIFEST_PATH in contents
            else None
        ),
        evaluation=(
            inspect_evaluation(_data(contents.get(EVALUATION_PATH)))
            if changed.everything or EVALUATION_PATH in contents
            else None
        ),
        dismissals=(
            inspect_dismissals(_data(contents.get(DISMISSALS_PATH)))
            if changed.everything or DISMISSALS_PATH in contents
            else None
        ),
        workspace_yaml=workspace_yaml,
        workspace=workspace,
    )


def read_contents(
    repository: Repository, files: Mapping[str, Entry | None]
) -> dict[str, Content | None]:
    """Read the bytes of many files with one process."""
    blobs = repository.blobs(entry.blob for entry in files.values() if entry)
    return {
        path: Content(entry.blob, blobs[entry.blob]) if entry else None
        for path, entry in files.items()
    }


def inspect_sources(
    repository: Repository, blobs: Mapping[str, str], workspace: WorkspaceFile | None
) -> dict[str, SourceInspection]:
    """Inspect unchanged sources again by blob: excerpts are looked up in their text."""
    data = repository.blobs(blobs.values())
    return {path: inspect_source(path, data[blob], workspace) for path, blob in blobs.items()}


def inspect_units(repository: Repository, blobs: Mapping[str, str]) -> dict[str, UnitInspection]:
    """Inspect unchanged units again by blob: what they cite or where they are listed changed."""
    data = repository.blobs(blobs.values())
    return {path: inspect_unit(path, data[blob]) for path, blob in blobs.items()}


def _data(content: Content | None) -> bytes | None:
    return content.data if content else None
