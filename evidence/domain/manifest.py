"""`manifest.yaml`: which source produced which units (spec 20, Manifest)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from itertools import chain
from typing import Annotated

from pydantic import AfterValidator, BeforeValidator, Field

from evidence.domain.file_models import (
    MAX_FILE_CHARS,
    Digest,
    FileModel,
    Version,
    Words,
    empty_list,
    empty_section,
    read_model,
)
from evidence.domain.identifiers import EvidenceId
from evidence.domain.normalization import decode_utf8
from evidence.domain.paths import SOURCE_FOLDER
from evidence.domain.plain_manifest import PlainManifest, read_plain, write_plain
from evidence.domain.problems import FieldRefused
from evidence.domain.text import Line
from evidence.domain.tree import MANIFEST_PATH, EvidenceTree
from evidence.domain.yaml_writer import write_yaml
from evidence.faults import CuratorFault
from evidence.messages import Message, gettext_noop

PIPELINE_VERSION = "evidence-authoring-v1"


class ManifestInvalid(CuratorFault):
    """The manifest is broken; its code is `multiple_sources` for a unit under two sources."""

    code = "manifest_invalid"
    path = "manifest.yaml"
    hint = gettext_noop("Correct manifest.yaml, or restore it from Git.")


def _source_path(path: str) -> str:
    if not path.startswith(SOURCE_FOLDER) or len(path) > 1_000:
        template = gettext_noop("“%(path)s” is not a file under source/.")
        raise FieldRefused(Message(template, path=path))
    return path


SourcePath = Annotated[Line, AfterValidator(_source_path)]
UnitIds = Annotated[tuple[EvidenceId, ...], Field(strict=False), BeforeValidator(empty_list)]


class ManifestSource(FileModel):
    """What one source gave: the hash of its normalized text and the ids of its units."""

    sha256: Digest
    units: UnitIds = ()


Sources = Annotated[Mapping[SourcePath, ManifestSource], BeforeValidator(empty_section)]


class Manifest(FileModel):
    """All prepared sources by path, and the units whose source is gone."""

    pipeline_version: Words = PIPELINE_VERSION
    sources: Sources = Field(default_factory=dict)
    orphans: UnitIds = ()

    def owners(self) -> dict[str, str | None]:
        """Give for every listed id the path of its source, or None for an orphan."""
        owners: dict[str, str | None] = dict.fromkeys(self.orphans)
        for path, source in self.sources.items():
            owners.update(dict.fromkeys(source.units, path))
        return owners


class ManifestFile(FileModel):
    """The shape of the file itself: both versions must stand in it."""

    schema_version: Version
    pipeline_version: Words
    sources: Sources = Field(default_factory=dict)
    orphans: UnitIds = ()


def parse_manifest(text: str) -> Manifest:
    """Read a manifest; its lists may come in any order. Raises `ManifestInvalid`.

    Another `pipeline_version` is read as it stands: who asks decides what it means.
    """
    plain = read_plain(text) if len(text) <= MAX_FILE_CHARS else None
    if plain is not None:
        manifest = _of_plain(plain)
    else:
        file = read_model(ManifestFile, text, ManifestInvalid)
        manifest = Manifest(
            pipeline_version=file.pipeline_version, sources=file.sources, orphans=file.orphans
        )
    _refuse_repeated_units(manifest)
    return manifest


def manifest_of(tree: EvidenceTree) -> Manifest:
    """Give the manifest of a tree, empty when there is none. Raises `ManifestInvalid`."""
    data = tree.files.get(MANIFEST_PATH)
    return Manifest() if data is None else parse_manifest(decode_utf8(data, path=MANIFEST_PATH))


def dump_manifest(manifest: Manifest) -> str:
    """Write a manifest, keys and lists sorted; parsing the text gives the same text again."""
    sources = {
        path: (source.sha256, tuple(sorted(source.units)))
        for path, source in sorted(manifest.sources.items())
    }
    plain = PlainManifest(manifest.pipeline_version, sources, tuple(sorted(manifest.orphans)))
    return write_plain(plain) or _write_strictly(plain)


def _write_strictly(manifest: PlainManifest) -> str:
    return write_yaml(
        {
            "schema_version": 1,
            "pipeline_version": manifest.pipeline_version,
            "sources": {
                path: {"sha256": sha256, "units": units}
                for path, (sha256, units) in manifest.sources.items()
            },
            "orphans": manifest.orphans,
        }
    )


def _of_plain(plain: PlainManifest) -> Manifest:
    """Give the model without validating it: the language of plain manifests holds no bad value."""
    sources = {
        path: ManifestSource.model_construct(sha256=sha256, units=units)
        for path, (sha256, units) in plain.sources.items()
    }
    return Manifest.model_construct(
        pipeline_version=plain.pipeline_version, sources=sources, orphans=plain.orphans
    )


def _refuse_repeated_units(manifest: Manifest) -> None:
    units = [source.units for source in manifest.sources.values()]
    listed = Counter(chain(chain.from_iterable(units), manifest.orphans))
    if len(listed) == listed.total():
        return
    under = Counter(chain.from_iterable(map(set, units)))
    for evidence_id in _repeated(under):
        template = gettext_noop("%(id)s is listed under more than one source.")
        raise ManifestInvalid(Message(template, id=evidence_id), code="multiple_sources")
    for evidence_id in _repeated(listed):
        raise ManifestInvalid(Message(gettext_noop("%(id)s is listed twice."), id=evidence_id))


def _repeated(counts: Counter[str]) -> Iterable[str]:
    return sorted(unit for unit, count in counts.items() if count > 1)
