"""How a curator resolves a unit: retire it, or relink an orphan (spec 20, Resolution)."""

from __future__ import annotations

from evidence.domain.formats import is_accepted, render_source
from evidence.domain.manifest import Manifest, ManifestSource, dump_manifest, manifest_of
from evidence.domain.normalization import contains_excerpt, normalize_source, source_hash
from evidence.domain.tree import MANIFEST_PATH, ChangeSet, EvidenceTree
from evidence.domain.unit_files import UnitFiles
from evidence.faults import CuratorFault
from evidence.messages import Message, gettext_noop


class ResolutionRefused(CuratorFault):
    """A unit cannot be resolved in the way that was asked for; the code says why."""

    code = "resolution_refused"


def retire(tree: EvidenceTree, evidence_id: str) -> ChangeSet:
    """Give the change that removes a unit's file and its entry in the manifest.

    Raises `ResolutionRefused` (`evidence_unknown`) when there is neither, and `ManifestInvalid`.
    """
    manifest = manifest_of(tree)
    path = UnitFiles.of(tree).paths.get(evidence_id)
    if path is None and evidence_id not in manifest.owners():
        raise _refused("evidence_unknown", gettext_noop("There is no unit %(id)s."), evidence_id)
    changes: dict[str, bytes | None] = {MANIFEST_PATH: _dumped(_without(manifest, evidence_id))}
    if path is not None:
        changes[path] = None
    return ChangeSet(changes).without_no_ops(tree)


def relink(tree: EvidenceTree, evidence_id: str, source: str) -> ChangeSet:
    """Give the change that makes a prepared source the origin of an orphan.

    Raises `ResolutionRefused`: `evidence_unknown`, `not_an_orphan`, `source_missing`,
    `source_not_prepared` or `excerpt_not_found`.
    """
    manifest, files = manifest_of(tree), UnitFiles.of(tree)
    if evidence_id not in files.paths:
        raise _refused("evidence_unknown", gettext_noop("There is no unit %(id)s."), evidence_id)
    if evidence_id not in manifest.orphans:
        raise _refused("not_an_orphan", gettext_noop("%(id)s is no orphan."), evidence_id)
    text, digest = _prepared_source(tree, manifest, source)
    unit = files.unit(evidence_id)
    if not all(contains_excerpt(text, each) for each in unit.provenance.supporting_excerpts):
        template = gettext_noop("%(source)s does not hold every excerpt of %(id)s.")
        raise _refused("excerpt_not_found", template, evidence_id, source=source)
    place = {"source_file": source, "source_sha256": digest}
    provenance = unit.provenance.model_copy(update=place)
    after = _with(_without(manifest, evidence_id), evidence_id, source)
    changes = files.writing(unit.model_copy(update={"provenance": provenance}))
    return ChangeSet({**changes, MANIFEST_PATH: _dumped(after)}).without_no_ops(tree)


def _prepared_source(tree: EvidenceTree, manifest: Manifest, source: str) -> tuple[str, str]:
    """Give the rendered text and the hash of a source that the manifest knows as it is now."""
    if source not in tree.files or not is_accepted(source, tree.workspace):
        template = gettext_noop("There is no source %(source)s.")
        raise _refused("source_missing", template, source=source)
    normalized = normalize_source(tree.files[source])
    digest, listed = source_hash(normalized), manifest.sources.get(source)
    if listed is None or listed.sha256 != digest:
        template = gettext_noop("%(source)s must be prepared first.")
        raise _refused("source_not_prepared", template, source=source)
    return render_source(source, normalized), digest


def _dumped(manifest: Manifest) -> bytes:
    return dump_manifest(manifest).encode()


def _without(manifest: Manifest, evidence_id: str) -> Manifest:
    sources = {
        path: source.model_copy(
            update={"units": tuple(each for each in source.units if each != evidence_id)}
        )
        for path, source in manifest.sources.items()
    }
    orphans = tuple(each for each in manifest.orphans if each != evidence_id)
    return manifest.model_copy(update={"sources": sources, "orphans": orphans})


def _with(manifest: Manifest, evidence_id: str, source: str) -> Manifest:
    entry = manifest.sources[source]
    extended = ManifestSource(sha256=entry.sha256, units=(*entry.units, evidence_id))
    return manifest.model_copy(update={"sources": {**manifest.sources, source: extended}})


def _refused(
    code: str, template: str, evidence_id: str = "", *, source: str = ""
) -> ResolutionRefused:
    message = Message(template, id=evidence_id, source=source)
    return ResolutionRefused(message, code=code, path=source)
