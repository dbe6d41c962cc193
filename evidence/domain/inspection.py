"""What can be said of one file alone; the same bytes at the same path always give the same."""

from __future__ import annotations

from dataclasses import dataclass

from evidence.domain.dismissals import Dismissals, DismissalsInvalid, parse_dismissals
from evidence.domain.findings import ValidationFinding, finding, finding_of
from evidence.domain.formats import is_accepted, is_excluded, render_source
from evidence.domain.manifest import PIPELINE_VERSION, Manifest, ManifestInvalid, parse_manifest
from evidence.domain.normalization import InvalidUtf8, decode_utf8, normalize_source, source_hash
from evidence.domain.paths import Place, place_of
from evidence.domain.questions import EvaluationInvalid, EvaluationSet, parse_evaluation
from evidence.domain.sections import SourceUnreadable
from evidence.domain.text_findings import credentials_of, newly_suspected, suspicions_of
from evidence.domain.tree import (
    DISMISSALS_PATH,
    EVALUATION_PATH,
    MANIFEST_PATH,
    WORKSPACE_FILE,
)
from evidence.domain.workspace import WorkspaceFile, WorkspaceInvalid, parse_workspace
from evidence.messages import gettext_noop

MAX_SOURCE_BYTES = 1024 * 1024

Findings = tuple[ValidationFinding, ...]


@dataclass(frozen=True, slots=True)
class SourceInspection:
    """A file under `source/`; one that is not `accepted` counts as removed.

    `sha256` is that of the normalized text and `text` what excerpts are looked up in; both are
    None when the file cannot be read.
    """

    path: str
    accepted: bool
    text: str | None
    sha256: str | None
    findings: Findings


@dataclass(frozen=True, slots=True)
class ManifestInspection:
    """The manifest, None when it is missing or broken."""

    manifest: Manifest | None
    findings: Findings


@dataclass(frozen=True, slots=True)
class EvaluationInspection:
    """The evaluation set, None when it is missing or broken."""

    evaluation: EvaluationSet | None
    findings: Findings


@dataclass(frozen=True, slots=True)
class DismissalsInspection:
    """The dismissed warnings, none when the file is missing or broken."""

    dismissals: Dismissals
    findings: Findings


@dataclass(frozen=True, slots=True)
class WorkspaceInspection:
    """The workspace file, None when it is missing or broken."""

    workspace: WorkspaceFile | None
    findings: Findings

    @property
    def language(self) -> str:
        """Give the workspace's language, empty while its file is broken."""
        return self.workspace.language if self.workspace else ""


def inspect_source(path: str, data: bytes, workspace: WorkspaceFile | None) -> SourceInspection:
    """Read one source and judge it; the workspace's `evidence:` section matters too."""
    if not is_accepted(path, workspace):
        findings: Findings = ()
        if place_of(path) is Place.SOURCE and not is_excluded(path, workspace):
            template = gettext_noop("This type of file is not a source of this workspace.")
            findings = (finding("source_type_unsupported", path, template),)
        return SourceInspection(path, False, None, None, findings)
    if len(data) > MAX_SOURCE_BYTES:
        template = gettext_noop("The file holds %(size)s bytes; at most %(limit)s are allowed.")
        large = finding("source_too_large", path, template, size=len(data), limit=MAX_SOURCE_BYTES)
        return SourceInspection(path, True, None, None, (large,))
    try:
        text = normalize_source(data)
    except InvalidUtf8 as fault:
        return SourceInspection(path, True, None, None, (finding_of(fault, path),))
    suspicions = tuple(suspicions_of(path, text))
    try:
        rendered = render_source(path, text)
    except SourceUnreadable as fault:
        return SourceInspection(path, True, None, None, (finding_of(fault, path), *suspicions))
    if rendered != text:
        suspicions += newly_suspected(path, rendered, suspicions)
    return SourceInspection(path, True, rendered, source_hash(text), suspicions)


def inspect_manifest(data: bytes | None) -> ManifestInspection:
    """Read the manifest; `data` is None when there is none."""
    if data is None:
        missing = finding("manifest_missing", MANIFEST_PATH, gettext_noop("There is no manifest."))
        return ManifestInspection(None, (missing,))
    try:
        manifest = parse_manifest(decode_utf8(data))
    except (ManifestInvalid, InvalidUtf8) as fault:
        return ManifestInspection(None, (finding_of(fault, MANIFEST_PATH),))
    if manifest.pipeline_version == PIPELINE_VERSION:
        return ManifestInspection(manifest, ())
    other = finding(
        "pipeline_version_mismatch",
        MANIFEST_PATH,
        gettext_noop("Prepared by pipeline %(found)s; this is %(ours)s. Prepare with --upgrade."),
        found=manifest.pipeline_version,
        ours=PIPELINE_VERSION,
    )
    return ManifestInspection(manifest, (other,))


def inspect_evaluation(data: bytes | None) -> EvaluationInspection:
    """Read the evaluation set; `data` is None when there is none."""
    path = EVALUATION_PATH
    if data is None:
        template = gettext_noop("There is no evaluation set: nothing could be published.")
        return EvaluationInspection(None, (finding("evaluation_missing", path, template),))
    try:
        text = decode_utf8(data)
        return EvaluationInspection(parse_evaluation(text), tuple(credentials_of(path, text)))
    except (EvaluationInvalid, InvalidUtf8) as fault:
        return EvaluationInspection(None, (finding_of(fault, path),))


def inspect_dismissals(data: bytes | None) -> DismissalsInspection:
    """Read the dismissals; `data` is None when there is no such file: then there are none."""
    path = DISMISSALS_PATH
    if data is None:
        return DismissalsInspection(frozenset(), ())
    try:
        text = decode_utf8(data)
        return DismissalsInspection(parse_dismissals(text), tuple(credentials_of(path, text)))
    except (DismissalsInvalid, InvalidUtf8) as fault:
        return DismissalsInspection(frozenset(), (finding_of(fault, path),))


def inspect_workspace(data: bytes | None) -> WorkspaceInspection:
    """Read `workspace.yaml`; `data` is None when there is none."""
    path = WORKSPACE_FILE
    if data is None:
        template = gettext_noop("There is no workspace.yaml in this folder.")
        return WorkspaceInspection(None, (finding("workspace_missing", path, template),))
    try:
        text = decode_utf8(data)
        return WorkspaceInspection(parse_workspace(text), tuple(credentials_of(path, text)))
    except (WorkspaceInvalid, InvalidUtf8) as fault:
        return WorkspaceInspection(None, (finding_of(fault, path),))
