"""What validation found: one finding, the report, and every code of the specification."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum

from evidence.domain.credentials import find_credentials
from evidence.faults import Fault
from evidence.messages import Message, gettext_noop

MAX_FINDINGS = 1_000
MAX_MESSAGE_CHARS = 500

ERROR_CODES = frozenset(
    {
        "workspace_missing",
        "workspace_invalid",
        "unit_invalid",
        "unit_path_mismatch",
        "unit_too_large",
        "invalid_utf8",
        "kind_directory_mismatch",
        "duplicate_id",
        "multiple_sources",
        "unit_not_in_manifest",
        "manifest_missing",
        "manifest_invalid",
        "manifest_unit_missing",
        "pipeline_version_mismatch",
        "source_missing",
        "source_hash_mismatch",
        "source_not_prepared",
        "source_type_unsupported",
        "source_too_large",
        "source_unreadable",
        "excerpt_not_found",
        "credential_detected",
        "atomic_content_too_large",
        "evaluation_missing",
        "evaluation_invalid",
        "evaluation_unknown_id",
        "symlink_refused",
        "path_refused",
    }
)
BLOCKING_CODES = frozenset({"review_item_open", "orphaned_unit"})
WARNING_CODES = frozenset(
    {
        "near_duplicate",
        "conflicting_formula",
        "conflicting_enum",
        "conflicting_term",
        "personal_data_suspected",
        "hidden_text",
        "dialect_uncertain",
        "dismissals_invalid",
    }
)


class Severity(StrEnum):
    """How bad a finding is; a warning alone never blocks."""

    ERROR = "error"
    WARNING = "warning"


def severity_of(code: str) -> Severity:
    """Give the severity of a known code. Raises `KeyError` for one that the specification lacks."""
    if code in ERROR_CODES:
        return Severity.ERROR
    if code in BLOCKING_CODES or code in WARNING_CODES:
        return Severity.WARNING
    raise KeyError(code)


@dataclass(frozen=True, slots=True)
class ValidationFinding:
    """One thing to repair or to know; `path` is relative to `evidence/` (or `workspace.yaml`)."""

    severity: Severity
    code: str
    path: str
    message: Message

    @property
    def sort_key(self) -> tuple[bool, str, str, str]:
        """Order errors first, then by path, code and words."""
        return (self.severity is not Severity.ERROR, self.path, self.code, str(self.message))

    def as_json(self) -> dict[str, str]:
        """Give the four fields as plain text."""
        return {
            "severity": self.severity.value,
            "code": self.code,
            "path": self.path,
            "message": str(self.message),
        }


def finding(code: str, path: str, template: str, /, **values: object) -> ValidationFinding:
    """Make a finding whose severity follows from its code."""
    return ValidationFinding(
        severity_of(code), code, path, presentable(Message(template, **values))
    )


def finding_of(fault: Fault, path: str) -> ValidationFinding:
    """Turn one broken file's fault into its finding, with its line where it has one."""
    message = fault.message
    if fault.line is not None:
        template = gettext_noop("Line %(line)s: %(problem)s")
        message = Message(template, line=fault.line, problem=fault.message)
    return ValidationFinding(severity_of(fault.code), fault.code, path, presentable(message))


def presentable(message: Message) -> Message:
    """Give a message of at most 500 characters that repeats no credential of the file.

    One that had to be cut is no longer translatable.
    """
    if find_credentials(message):
        return Message(gettext_noop("The details are left out: they hold a password or a key."))
    if len(message) <= MAX_MESSAGE_CHARS:
        return message
    return Message(f"{message[: MAX_MESSAGE_CHARS - 1]}…")


@dataclass(frozen=True, slots=True)
class ValidationReport:
    """Everything one validation says; `omitted` counts findings beyond the first 1,000.

    `errors` counts all of them, omitted ones too.
    """

    findings: tuple[ValidationFinding, ...]
    omitted: int = 0
    open_review_items: int = 0
    orphans: int = 0
    errors: int = 0

    @property
    def publishable(self) -> bool:
        """Tell whether nothing blocks: no error, no open review item, no orphan."""
        broken = any(found.severity is Severity.ERROR for found in self.findings)
        return not (broken or self.open_review_items or self.orphans)

    def as_json(self) -> dict[str, object]:
        """Give the object that `tht evidence validate --json` prints (spec 70, Command line)."""
        return {
            "publishable": self.publishable,
            "findings": [found.as_json() for found in self.findings],
            "omitted": self.omitted,
            "open_review_items": self.open_review_items,
            "orphans": self.orphans,
        }


def report_of(
    findings: Iterable[ValidationFinding], *, open_review_items: int, orphans: int
) -> ValidationReport:
    """Sort, count and bound findings: errors come first, so none is omitted for a warning."""
    ordered = sorted(findings, key=lambda found: found.sort_key)
    return ValidationReport(
        findings=tuple(ordered[:MAX_FINDINGS]),
        omitted=max(0, len(ordered) - MAX_FINDINGS),
        open_review_items=open_review_items,
        orphans=orphans,
        errors=sum(found.severity is Severity.ERROR for found in ordered),
    )
