"""What is known, and how people change it. Importing this package needs no Django (spec 10)."""

from evidence.domain.codec import (
    UnitTooLarge,
    dump_curated_markdown,
    parse_curated_markdown,
)
from evidence.domain.manifest import dump_manifest
from evidence.domain.payloads import (
    DomainPayload,
    EnumPayload,
    EnumValue,
    ExamplePayload,
    FormulaPayload,
    GlossaryPayload,
    MappingPayload,
    MappingTarget,
    NormalizationPayload,
    NormalizationRule,
    ReferencePayload,
)
from evidence.domain.units import (
    CuratedEvidence,
    EvidenceKind,
    EvidenceProvenance,
    EvidencePurpose,
    EvidenceScope,
    ReviewItem,
    UnitInvalid,
    build_unit,
)
from evidence.reading import load_curated_tree, load_manifest, validate_workspace_evidence

__all__ = [
    "CuratedEvidence",
    "DomainPayload",
    "EnumPayload",
    "EnumValue",
    "EvidenceKind",
    "EvidenceProvenance",
    "EvidencePurpose",
    "EvidenceScope",
    "ExamplePayload",
    "FormulaPayload",
    "GlossaryPayload",
    "MappingPayload",
    "MappingTarget",
    "NormalizationPayload",
    "NormalizationRule",
    "ReferencePayload",
    "ReviewItem",
    "UnitInvalid",
    "UnitTooLarge",
    "build_unit",
    "dump_curated_markdown",
    "dump_manifest",
    "load_curated_tree",
    "load_manifest",
    "parse_curated_markdown",
    "validate_workspace_evidence",
]
