"""Texts behind mirror rows, read from Git by blob."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from evidence import wiring
from evidence.domain.codec import parse_curated_markdown
from evidence.domain.units import CuratedEvidence
from evidence.faults import CuratorFault
from evidence.models import SourceRecord, UnitRecord


@dataclass(frozen=True, slots=True)
class UnitFile:
    """A unit's row with its file: the text, and the unit or the fault that reading it gave."""

    record: UnitRecord
    text: str
    unit: CuratedEvidence | None
    fault: CuratorFault | None = None


def unit_files(records: Sequence[UnitRecord]) -> tuple[UnitFile, ...]:
    """Read the files of units of one workspace at once; broken ones keep their fault."""
    if not records:
        return ()
    texts = _texts(records[0].workspace.slug, (record.blob for record in records))
    return tuple(_unit_file(record, texts[record.blob]) for record in records)


def unit_file(record: UnitRecord) -> UnitFile:
    """Read the file of one unit."""
    return unit_files([record])[0]


def source_bytes(record: SourceRecord) -> bytes | None:
    """Give the bytes of a source, or None when it was removed."""
    if not record.blob:
        return None
    return wiring.repository(record.workspace.slug).blobs([record.blob])[record.blob]


def _texts(slug: str, blobs: Iterable[str]) -> Mapping[str, str]:
    found = wiring.repository(slug).blobs(blobs)
    # A file that is not UTF-8 is shown as far as it goes; its finding says what is wrong.
    return {blob: data.decode("utf-8", "replace") for blob, data in found.items()}


def _unit_file(record: UnitRecord, text: str) -> UnitFile:
    try:
        return UnitFile(record, text, parse_curated_markdown(text, path=record.path))
    except CuratorFault as fault:
        return UnitFile(record, text, None, fault)
