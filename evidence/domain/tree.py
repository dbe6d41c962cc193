"""A workspace's files as one immutable value, and a change to them as another."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType

from evidence.domain.workspace import WorkspaceFile

WORKSPACE_FILE = "workspace.yaml"
MANIFEST_PATH = "manifest.yaml"
EVALUATION_PATH = "evaluation.yaml"
DISMISSALS_PATH = "dismissals.yaml"
MAX_FILES = 20_000
MAX_BYTES = 512 * 1024 * 1024


@dataclass(frozen=True, slots=True)
class RefusedPath:
    """A path that was left out of a tree, and the finding code that says why."""

    path: str
    code: str


@dataclass(frozen=True, slots=True)
class EvidenceTree:
    """Everything a workspace says at one moment (spec 30, Reading).

    `files` maps POSIX paths relative to `evidence/` to bytes. `workspace` is None when
    `workspace.yaml` is missing (`workspace_yaml` is None) or does not parse.
    """

    workspace: WorkspaceFile | None
    workspace_yaml: bytes | None
    files: Mapping[str, bytes]
    refused: tuple[RefusedPath, ...] = ()

    def under(self, prefix: str) -> dict[str, bytes]:
        """Give the files below a folder such as `curated/`, in path order."""
        return {path: self.files[path] for path in sorted(self.files) if path.startswith(prefix)}

    def content_digest(self) -> str:
        """Give the `sha256:<hex>` that an approval is bound to (spec 50, Payload keys)."""
        hashes = {f"evidence/{path}": sha256_hex(data) for path, data in self.files.items()}
        if self.workspace_yaml is not None:
            hashes[WORKSPACE_FILE] = sha256_hex(self.workspace_yaml)
        return content_digest(hashes)


@dataclass(frozen=True, slots=True)
class ChangeSet:
    """New bytes, or None for a deletion, by path relative to `evidence/`; becomes one commit."""

    changes: Mapping[str, bytes | None] = field(default_factory=dict)

    def __post_init__(self) -> None:
        """Freeze the mapping in path order."""
        frozen = MappingProxyType({path: self.changes[path] for path in sorted(self.changes)})
        object.__setattr__(self, "changes", frozen)

    def __bool__(self) -> bool:
        """Tell whether there is anything to do."""
        return bool(self.changes)

    def apply(self, tree: EvidenceTree) -> EvidenceTree:
        """Give the tree after the change."""
        files = dict(tree.files)
        for path, data in self.changes.items():
            if data is None:
                files.pop(path, None)
            else:
                files[path] = data
        return EvidenceTree(tree.workspace, tree.workspace_yaml, files, tree.refused)

    def without_no_ops(self, tree: EvidenceTree) -> ChangeSet:
        """Leave out what would not change a byte of the tree."""
        return ChangeSet(
            {path: data for path, data in self.changes.items() if tree.files.get(path) != data}
        )


def sha256_hex(data: bytes) -> str:
    """Give the plain 64 hex digits of the SHA-256 of some bytes."""
    return hashlib.sha256(data).hexdigest()


def content_digest(hashes: Mapping[str, str]) -> str:
    """Give `sha256:<hex>` over the sorted lines `<path> NUL <sha256 of bytes>`."""
    lines = "".join(f"{path}\0{hashes[path]}\n" for path in sorted(hashes))
    return f"sha256:{sha256_hex(lines.encode())}"
