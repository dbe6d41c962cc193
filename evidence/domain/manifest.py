"""`manifest.yaml`: which source produced which units (spec 20, Manifest)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import Annotated

from pydantic import Field, ValidationError

from evidence.domain.codec import read_yaml_mapping, write_yaml
from evidence.domain.scalars import (
    Digest,
    EvidenceIdText,
    FileModel,
    SourcePath,
    Version,
    first_problem,
)
from evidence.faults import CuratorFault
from evidence.messages import Message, gettext_noop

PIPELINE_VERSION = "evidence-authoring-v1"

UnitIds = Annotated[tuple[EvidenceIdText, ...], Field(strict=False)]


class ManifestInvalid(CuratorFault):
    """The manifest is broken; code `multiple_sources` when a unit stands under two sources."""

    code = "manifest_invalid"
    hint = gettext_noop("Correct manifest.yaml, or restore it from Git.")


class ManifestSource(FileModel):
    """What one source gave: the hash of its normalized text and the ids of its units."""

    sha256: Digest
    units: UnitIds = ()


class Manifest(FileModel):
    """All prepared sources by path, and the units whose source is gone."""

    pipeline_version: Annotated[str, Field(min_length=1, max_length=100)] = PIPELINE_VERSION
    sources: Mapping[SourcePath, ManifestSource] = Field(default_factory=dict)
    orphans: UnitIds = ()

    def owners(self) -> dict[str, str | None]:
        """Give for every listed id its source's path, or None for an orphan."""
        owners: dict[str, str | None] = dict.fromkeys(self.orphans)
        for path, source in self.sources.items():
            owners.update(dict.fromkeys(source.units, path))
        return owners


class ManifestFile(FileModel):
    """The file's own shape: both versions must stand in it."""

    schema_version: Version
    pipeline_version: Annotated[str, Field(min_length=1, max_length=100)]
    sources: Mapping[SourcePath, ManifestSource] = Field(default_factory=dict)
    orphans: UnitIds = ()


def parse_manifest(text: str) -> Manifest:
    """Read a manifest; lists may come in any order. Raises `ManifestInvalid`.

    Another `pipeline_version` is read as it is: whoever asks decides (spec 20, Manifest).
    """
    try:
        file = ManifestFile.model_validate(read_yaml_mapping(text))
    except ValidationError as error:
        raise ManifestInvalid(first_problem(error)) from error
    except CuratorFault as fault:
        raise ManifestInvalid(fault.message, line=fault.line, column=fault.column) from fault
    manifest = Manifest(
        pipeline_version=file.pipeline_version, sources=file.sources, orphans=file.orphans
    )
    _refuse_repeated_units(manifest)
    return manifest


def dump_manifest(manifest: Manifest) -> str:
    """Write a manifest, keys and lists sorted; `parse_manifest` gives an equal one back."""
    sources = {
        path: {
            "sha256": manifest.sources[path].sha256,
            "units": sorted(manifest.sources[path].units),
        }
        for path in sorted(manifest.sources)
    }
    return write_yaml(
        {
            "schema_version": 1,
            "pipeline_version": manifest.pipeline_version,
            "sources": sources,
            "orphans": sorted(manifest.orphans),
        }
    )


def _refuse_repeated_units(manifest: Manifest) -> None:
    under: Counter[str] = Counter()
    for path, source in manifest.sources.items():
        _refuse_twice(source.units, path)
        under.update(source.units)
    for evidence_id, count in under.items():
        if count > 1:
            message = gettext_noop("%(id)s is listed under more than one source.")
            raise ManifestInvalid(Message(message, id=evidence_id), code="multiple_sources")
    _refuse_twice(manifest.orphans, "orphans")
    _refuse_twice((*under, *manifest.orphans), "orphans")


def _refuse_twice(units: tuple[str, ...], where: str) -> None:
    for evidence_id, count in Counter(units).items():
        if count > 1:
            message = gettext_noop("%(id)s is listed twice under %(where)s.")
            raise ManifestInvalid(Message(message, id=evidence_id, where=where))
