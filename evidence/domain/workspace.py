"""`workspace.yaml`: what curators decide about their knowledge base (spec 30, Workspace file)."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Annotated, Literal

from pydantic import Field, ValidationError, field_validator

from evidence.domain.codec import read_yaml_mapping
from evidence.domain.scalars import FileModel, Number, PlainText, Truth, Version, first_problem
from evidence.faults import CuratorFault
from evidence.messages import Message, gettext_noop

DEFAULT_FORMATS = ("md", "markdown", "txt", "sql.md")
MAX_WORKSPACE_BYTES = 64 * 1024
PLACEHOLDER = re.compile(r"\$\{(WORKSPACE_[A-Z0-9_]{1,80})\}")

SourceFormat = Literal["md", "markdown", "txt", "sql.md"]


class WorkspaceInvalid(CuratorFault):
    """`workspace.yaml` does not say what it must; the message names the field."""

    code = "workspace_invalid"
    hint = gettext_noop("Correct workspace.yaml.")


class PlaceholderMissing(WorkspaceInvalid):
    """A `${WORKSPACE_…}` that the operator did not set; the message names it, never a value."""

    code = "workspace_variable_missing"


def no_placeholder(value: str) -> str:
    """Refuse `${…}` where it may not stand."""
    if "${" in value:
        raise ValueError(gettext_noop("A variable may stand in vectors and embeddings only."))
    return value


def known_placeholders(value: str) -> str:
    """Refuse a `${…}` whose name does not begin with `WORKSPACE_`."""
    if "$" in PLACEHOLDER.sub("", value):
        raise ValueError(gettext_noop("Only variables named ${WORKSPACE_…} may stand here."))
    return value


class EvidenceSettings(FileModel):
    """What counts as a source; `review_after_months` None never calls a unit stale."""

    layout: Literal["curated-v1"] = "curated-v1"
    source_formats: Annotated[
        tuple[SourceFormat, ...], Field(strict=False, min_length=1, max_length=20)
    ] = DEFAULT_FORMATS
    exclude: Annotated[tuple[PlainText, ...], Field(strict=False, max_length=100)] = ()
    review_after_months: Annotated[Number, Field(ge=1, le=1200)] | None = None


class PublicationSettings(FileModel):
    """Who may approve, and how many generations stay."""

    require_distinct_approver: Truth = True
    retained_generations: Annotated[Number, Field(ge=1, le=50)] = 3


class RetrievalSettings(FileModel):
    """How the two branches of a search are fused (spec 50, Hybrid query)."""

    fusion: Literal["rrf", "dbsf"] = "rrf"
    prefetch: Annotated[Number, Field(ge=1, le=1000)] = 20


class VectorSettings(FileModel):
    """The collection of a shared server; None means the workspace's slug."""

    collection: PlainText | None = None

    _placeholders = field_validator("collection")(known_placeholders)


class EmbeddingSettings(FileModel):
    """The embedder; None means the portal's setting."""

    provider: PlainText | None = None
    model: PlainText | None = None

    _no_placeholder = field_validator("provider")(no_placeholder)
    _placeholders = field_validator("model")(known_placeholders)


class WorkspaceFile(FileModel):
    """The whole file. It decides nothing about security, secrets or hosts."""

    schema_version: Version
    slug: Annotated[str, Field(pattern=r"^[a-z0-9]+(-[a-z0-9]+)*$", max_length=80)]
    title: PlainText
    language: Annotated[str, Field(pattern=r"^[a-z]{2,3}$")]
    evidence: EvidenceSettings = EvidenceSettings()
    publication: PublicationSettings = PublicationSettings()
    retrieval: RetrievalSettings = RetrievalSettings()
    vectors: VectorSettings = VectorSettings()
    embeddings: EmbeddingSettings = EmbeddingSettings()

    _no_placeholder = field_validator("title")(no_placeholder)

    def collection(self, environment: Mapping[str, str]) -> str:
        """Give the collection's name, variables expanded. Raises `PlaceholderMissing`."""
        return expand(self.vectors.collection or self.slug, environment)


def parse_workspace(text: str) -> WorkspaceFile:
    """Read `workspace.yaml`. Raises `WorkspaceInvalid` (also for broken YAML)."""
    try:
        return WorkspaceFile.model_validate(read_yaml_mapping(text))
    except ValidationError as error:
        raise WorkspaceInvalid(first_problem(error)) from error
    except CuratorFault as fault:
        raise WorkspaceInvalid(fault.message, line=fault.line, column=fault.column) from fault


def expand(text: str, environment: Mapping[str, str]) -> str:
    """Replace each `${WORKSPACE_…}` by its value. Raises `PlaceholderMissing`, naming it."""
    for name in PLACEHOLDER.findall(text):
        if not environment.get(name):
            message = Message(gettext_noop("The variable %(name)s is not set."), name=name)
            raise PlaceholderMissing(message)
    return PLACEHOLDER.sub(lambda match: environment[match[1]], text)
