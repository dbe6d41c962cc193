"""What a preparation starts from: the sources, the manifest, what changed, the units concerned."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass

from evidence.domain.formats import is_accepted, render_source
from evidence.domain.inspection import MAX_SOURCE_BYTES
from evidence.domain.manifest import PIPELINE_VERSION, Manifest, manifest_of
from evidence.domain.memory import NOTHING_KNOWN, Memory, context_of
from evidence.domain.normalization import InvalidUtf8, decode_utf8, normalize_source, source_hash
from evidence.domain.paths import SOURCE_FOLDER
from evidence.domain.source_changes import SourceChanges, compare_sources
from evidence.domain.tree import MANIFEST_PATH, WORKSPACE_FILE, EvidenceTree, sha256_hex
from evidence.domain.unit_files import UnitFiles
from evidence.domain.units import CuratedEvidence
from evidence.domain.workspace import WorkspaceFile, parse_workspace
from evidence.faults import CuratorFault
from evidence.messages import Message, gettext_noop
from evidence.ports import RestructureRequest

Units = tuple[CuratedEvidence, ...]


class PreparationRefused(CuratorFault):
    """The workspace is not in a state to be prepared; the code says why, `path` where."""

    code = "preparation_refused"


@dataclass(frozen=True, slots=True)
class SourceText:
    """A source as restructurers read it (`text`), and the hash of its normalized file."""

    text: str
    sha256: str


@dataclass(frozen=True, slots=True)
class Situation:
    """A tree compared with its manifest; `moved` holds the units of renamed sources, relinked.

    `hashes` are those of the normalized sources, `digests` those of their bytes.
    """

    tree: EvidenceTree
    language: str
    manifest: Manifest
    hashes: Mapping[str, str]
    digests: Mapping[str, str]
    changes: SourceChanges
    files: UnitFiles
    moved: Mapping[str, Units]
    asked: tuple[str, ...]

    @property
    def orphaned(self) -> tuple[str, ...]:
        """Give the ids of the existing units whose source was removed."""
        lost = (self.manifest.sources[path].units for path in self.changes.removed)
        return tuple(sorted(each for units in lost for each in units if each in self.files.paths))

    def requests(self) -> tuple[RestructureRequest, ...]:
        """Give one request for every source that must be restructured, in path order."""
        adopted = self._adoptable() if self.asked else {}
        return tuple(
            RestructureRequest(
                source_file=path,
                source_sha256=self.hashes[path],
                normalized_text=read_source(path, self.tree.files[path]).text,
                language=self.language,
                previous_units=self._previous(path) + adopted.get(path, ()),
            )
            for path in self.asked
        )

    def _previous(self, path: str) -> Units:
        if path in self.moved:
            return self.moved[path]
        listed = self.manifest.sources.get(path)
        return tuple(self._units(listed.units if listed else ()))

    def _adoptable(self) -> dict[str, Units]:
        """Give, by source, units that no source of the manifest lists but that name one.

        They were written by hand, or their source is back: asking as if there were none would
        produce each of them twice.
        """
        owners = self.manifest.owners()
        by_source: dict[str, Units] = {}
        for evidence_id in self.files.paths:
            if owners.get(evidence_id) is None:
                for unit in self._readable(evidence_id):
                    path = unit.provenance.source_file
                    by_source[path] = (*by_source.get(path, ()), unit)
        return by_source

    def _readable(self, evidence_id: str) -> Iterator[CuratedEvidence]:
        try:
            yield self.files.unit(evidence_id)
        except CuratorFault:  # validation reports it; it is no unit of any source until repaired
            return

    def _units(self, ids: Collection[str]) -> Iterator[CuratedEvidence]:
        return (self.files.unit(each) for each in ids if each in self.files.paths)


def situation_of(
    tree: EvidenceTree,
    *,
    upgrade: bool,
    only: Collection[str] | None,
    known: Memory = NOTHING_KNOWN,
) -> Situation:
    """Compare a tree with its manifest; of sources that are `known` only the bytes are hashed.

    Raises `PreparationRefused` (`workspace_missing`, `pipeline_version_mismatch`, or the code of a
    refused path), `WorkspaceInvalid`, `ManifestInvalid`, or the fault of a source or unit that
    cannot be read.
    """
    _refuse_strangers(tree)
    workspace, manifest = workspace_of(tree), manifest_of(tree)
    if not upgrade:
        _refuse_other_pipeline(manifest)
    digests = {path: sha256_hex(data) for path, data in tree.under(SOURCE_FOLDER).items()}
    hashes = dict(_hashes(tree, workspace, digests, known.under(context_of(tree))))
    wanted = None if upgrade else only
    changes = compare_sources(hashes, manifest, reprocess=upgrade, only=wanted)
    files = UnitFiles.of(tree)
    return Situation(
        tree=tree,
        language=workspace.language,
        manifest=manifest,
        hashes=hashes,
        digests=digests,
        changes=changes,
        files=files,
        moved=_moved(changes, manifest, files),
        asked=tuple(
            sorted({*changes.new, *changes.changed, *(changes.old_paths if upgrade else ())})
        ),
    )


def _refuse_strangers(tree: EvidenceTree) -> None:
    for refused in tree.refused:  # a file that could not be read must not count as removed
        message = Message(gettext_noop("%(path)s may not lie there."), path=refused.path)
        raise PreparationRefused(message, code=refused.code, path=refused.path)


def _refuse_other_pipeline(manifest: Manifest) -> None:
    if manifest.pipeline_version != PIPELINE_VERSION:
        template = gettext_noop("The manifest was written by pipeline %(found)s, this is %(ours)s.")
        raise PreparationRefused(
            Message(template, found=manifest.pipeline_version, ours=PIPELINE_VERSION),
            code="pipeline_version_mismatch",
            path=MANIFEST_PATH,
            hint=gettext_noop("Prepare with --upgrade, which reprocesses every source."),
        )


def _moved(changes: SourceChanges, manifest: Manifest, files: UnitFiles) -> dict[str, Units]:
    return {
        path: tuple(_relinked(files, manifest.sources[old].units, path))
        for path, old in changes.old_paths.items()
    }


def workspace_of(tree: EvidenceTree) -> WorkspaceFile:
    """Give the workspace file of a tree. Raises `PreparationRefused` or `WorkspaceInvalid`."""
    if tree.workspace is not None:
        return tree.workspace
    if tree.workspace_yaml is None:
        message = gettext_noop("There is no workspace.yaml, so this is no workspace folder.")
        raise PreparationRefused(message, code="workspace_missing", path=WORKSPACE_FILE)
    return parse_workspace(decode_utf8(tree.workspace_yaml))


def _hashes(
    tree: EvidenceTree, workspace: WorkspaceFile, digests: Mapping[str, str], known: Memory
) -> Iterator[tuple[str, str]]:
    for path, digest in digests.items():
        source = known.source(path, digest)
        if source is not None and source.sha256 is not None:
            yield path, source.sha256
        elif is_accepted(path, workspace):
            yield path, read_source(path, tree.files[path]).sha256


def read_source(path: str, data: bytes) -> SourceText:
    """Give a source's rendered text and hash.

    Raises `InvalidUtf8`, or `PreparationRefused` (`source_too_large`), with the path.
    """
    if len(data) > MAX_SOURCE_BYTES:
        template = gettext_noop("The source holds %(size)s bytes; at most %(limit)s are allowed.")
        message = Message(template, size=len(data), limit=MAX_SOURCE_BYTES)
        raise PreparationRefused(message, code="source_too_large", path=path)
    try:
        text = normalize_source(data)
    except InvalidUtf8 as fault:
        fault.path = path
        raise
    return SourceText(text=render_source(path, text), sha256=source_hash(text))


def _relinked(files: UnitFiles, ids: Collection[str], path: str) -> Iterator[CuratedEvidence]:
    for evidence_id in ids:
        if evidence_id in files.paths:
            unit = files.unit(evidence_id)
            provenance = unit.provenance.model_copy(update={"source_file": path})
            yield unit.model_copy(update={"provenance": provenance})
