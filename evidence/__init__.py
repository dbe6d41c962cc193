"""What is known, and how people change it. Importing this package needs no Django (spec 10)."""

from evidence.domain.codec import (
    UnitTooLarge,
    dump_curated_markdown,
    parse_curated_markdown,
)
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
    "parse_curated_markdown",
]
