"""What was found out about single files, so that only those that changed are looked at again.

A memory is a value: a preparation takes the last one and gives the next. Each entry holds for one
path and one digest of bytes under one `workspace.yaml`; a file with other bytes is unknown. It says
nothing that cannot be found out again from the files, and a report made with it equals the one
`validate` makes of the files alone.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from evidence.domain.findings import ValidationFinding
from evidence.domain.inspection import SourceInspection
from evidence.domain.likeness import Likeness, likeness_of
from evidence.domain.subjects import Subject, subject_of
from evidence.domain.tree import EvidenceTree, sha256_hex
from evidence.domain.unit_inspection import UnitInspection

Findings = tuple[ValidationFinding, ...]


@dataclass(frozen=True, slots=True)
class KnownSource:
    """A source without its text; `digest` is that of its bytes, `sha256` as in an inspection."""

    digest: str
    accepted: bool
    sha256: str | None
    findings: Findings

    def at(self, path: str) -> SourceInspection:
        """Give the inspection without text, which is all that a manifest is compared with."""
        return SourceInspection(path, self.accepted, None, self.sha256, self.findings)


@dataclass(frozen=True, slots=True)
class KnownUnit:
    """What other files are compared with of a unit; `cited` is empty when it does not parse.

    `supported_by` is the hash of the source that was found to hold its excerpts, and `said` a
    digest of what it says of its subject; both are empty until somebody had to know.
    """

    digest: str
    evidence_id: str
    cited: str
    review_items: int
    findings: Findings
    subject: Subject | None = None
    likeness: Likeness | None = None
    supported_by: str = ""
    said: str = ""


@dataclass(frozen=True, slots=True)
class Memory:
    """Entries by path; `context` names the `workspace.yaml` under which they hold."""

    context: str = ""
    units: Mapping[str, KnownUnit] = field(default_factory=dict)
    sources: Mapping[str, KnownSource] = field(default_factory=dict)

    def under(self, context: str) -> Memory:
        """Give this memory where it holds, else an empty one."""
        return self if self.context == context else Memory(context)

    def source(self, path: str, digest: str) -> KnownSource | None:
        """Give what is known of a source with these bytes."""
        known = self.sources.get(path)
        return known if known is not None and known.digest == digest else None

    def unit(self, path: str, digest: str) -> KnownUnit | None:
        """Give what is known of a unit with these bytes."""
        known = self.units.get(path)
        return known if known is not None and known.digest == digest else None


NOTHING_KNOWN = Memory()


def context_of(tree: EvidenceTree) -> str:
    """Name what every inspection depends on beside its own file: formats, patterns, language."""
    parsed = "parsed" if tree.workspace else "broken"
    return f"{parsed} {sha256_hex(tree.workspace_yaml or b'')}"


def known_source(inspection: SourceInspection, digest: str) -> KnownSource:
    """Keep what matters of an inspected source."""
    return KnownSource(digest, inspection.accepted, inspection.sha256, inspection.findings)


def known_unit(inspection: UnitInspection, digest: str, *, language: str) -> KnownUnit:
    """Keep what matters of an inspected unit; `language` is the workspace's."""
    unit = inspection.unit
    if unit is None:
        return KnownUnit(digest, inspection.evidence_id, "", 0, inspection.findings)
    return KnownUnit(
        digest=digest,
        evidence_id=unit.id,
        cited=unit.provenance.source_file,
        review_items=len(unit.review_items),
        findings=inspection.findings,
        subject=subject_of(unit, language=language),
        likeness=likeness_of(inspection),
    )
