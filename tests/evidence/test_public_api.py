from __future__ import annotations

import subprocess
import sys

import evidence

# Spec 10, Public API.
PROMISED = {
    *("CuratedEvidence", "EvidenceKind", "EvidencePurpose", "EvidenceScope", "EvidenceProvenance"),
    *("ReviewItem", "GlossaryPayload", "DomainPayload", "EnumPayload", "ExamplePayload"),
    *("MappingPayload", "NormalizationPayload", "FormulaPayload", "ReferencePayload"),
    *("parse_curated_markdown", "dump_curated_markdown", "load_curated_tree"),
}


def test_everything_promised_is_there() -> None:
    assert set(evidence.__all__) >= PROMISED
    assert all(hasattr(evidence, name) for name in evidence.__all__)


def test_the_package_needs_no_django() -> None:
    code = "import sys, evidence; sys.exit(any(name.startswith('django') for name in sys.modules))"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
