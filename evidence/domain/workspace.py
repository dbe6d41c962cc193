"""`workspace.yaml`: what curators decide about their knowledge base (spec 30, Workspace file)."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Annotated, Literal

from pydantic import AfterValidator, BeforeValidator, Field

from evidence.domain.file_models import (
    FileModel,
    Number,
    Truth,
    Version,
    Words,
    empty_list,
    empty_section,
    read_model,
)
from evidence.domain.problems import FieldRefused
from evidence.faults import CuratorFault
from evidence.messages import Message, gettext_noop

_PLACEHOLDER = re.compile(r"\$\{(WORKSPACE_[A-Z0-9_]{1,80})\}")
_SLUG = re.compile(r"[a-z0-9]+(?:-[a-z0-9]+)*\Z")
_LANGUAGE = re.compile(r"[a-z]{2,3}\Z")

SourceFormat = Literal["md", "markdown", "txt", "sql.md", "yaml", "yml", "json", "py", "sql"]
DEFAULT_FORMATS: tuple[SourceFormat, ...] = ("md", "markdown", "txt", "sql.md")


class WorkspaceInvalid(CuratorFault):
    """`workspace.yaml` does not say what it must; the message names the field."""

    code = "workspace_invalid"
    path = "workspace.yaml"
    hint = gettext_noop("Correct workspace.yaml.")


class PlaceholderMissing(CuratorFault):
    """A `${WORKSPACE_…}` that nobody set; the message names it and never shows a value."""

    code = "workspace_variable_missing"
    hint = gettext_noop("Set the variable in the portal's environment.")


def _slug(text: str) -> str:
    if not _SLUG.match(text):
        template = gettext_noop("“%(slug)s” is not a slug such as clinica-demo.")
        raise FieldRefused(Message(template, slug=text))
    return text


def _language(text: str) -> str:
    if not _LANGUAGE.match(text):
        template = gettext_noop("“%(text)s” is not a language tag such as it or en.")
        raise FieldRefused(Message(template, text=text))
    return text


def _without_placeholder(text: str) -> str:
    if "${" in text:
        template = gettext_noop("Variables may stand in the collection and the model only.")
        raise FieldRefused(Message(template))
    return text


def _with_known_placeholders(text: str) -> str:
    if "${" in _PLACEHOLDER.sub("", text):
        template = gettext_noop("Only variables whose name begins with WORKSPACE_ may stand here.")
        raise FieldRefused(Message(template))
    return text


Plain = Annotated[Words, AfterValidator(_without_placeholder)]
Expandable = Annotated[Words, AfterValidator(_with_known_placeholders)]


class EvidenceSettings(FileModel):
    """What counts as a source; without `review_after_months` no unit is ever called stale."""

    layout: Literal["curated-v1"] = "curated-v1"
    source_formats: Annotated[
        tuple[SourceFormat, ...], Field(strict=False, min_length=1, max_length=20)
    ] = DEFAULT_FORMATS
    exclude: Annotated[
        tuple[Plain, ...], Field(strict=False, max_length=100), BeforeValidator(empty_list)
    ] = ()
    review_after_months: Annotated[Number, Field(ge=1, le=1_200)] | None = None


class PublicationSettings(FileModel):
    """Who may approve, and how many generations stay."""

    require_distinct_approver: Truth = True
    retained_generations: Annotated[Number, Field(ge=1, le=50)] = 3


class RetrievalSettings(FileModel):
    """How the two branches of a search are fused (spec 50, Hybrid query)."""

    fusion: Literal["rrf", "dbsf"] = "rrf"
    prefetch: Annotated[Number, Field(ge=1, le=1_000)] = 20


class VectorSettings(FileModel):
    """The collection of a shared server; None means the workspace's slug."""

    collection: Expandable | None = None


class EmbeddingSettings(FileModel):
    """The embedder; None means the portal's setting."""

    provider: Plain | None = None
    model: Expandable | None = None


class WorkspaceFile(FileModel):
    """The whole file. It decides nothing about security, secrets or hosts."""

    schema_version: Version
    slug: Annotated[Words, Field(max_length=80), AfterValidator(_slug)]
    title: Plain
    language: Annotated[Words, AfterValidator(_language)]
    evidence: Annotated[EvidenceSettings, BeforeValidator(empty_section)] = EvidenceSettings()
    publication: Annotated[PublicationSettings, BeforeValidator(empty_section)] = (
        PublicationSettings()
    )
    retrieval: Annotated[RetrievalSettings, BeforeValidator(empty_section)] = RetrievalSettings()
    vectors: Annotated[VectorSettings, BeforeValidator(empty_section)] = VectorSettings()
    embeddings: Annotated[EmbeddingSettings, BeforeValidator(empty_section)] = EmbeddingSettings()

    def collection(self, environment: Mapping[str, str]) -> str:
        """Give the collection's name, variables expanded. Raises `PlaceholderMissing`."""
        return expand(self.vectors.collection or self.slug, environment)


def parse_workspace(text: str) -> WorkspaceFile:
    """Read `workspace.yaml`. Raises `WorkspaceInvalid`, for broken YAML too."""
    return read_model(WorkspaceFile, text, WorkspaceInvalid)


def expand(text: str, environment: Mapping[str, str]) -> str:
    """Replace each `${WORKSPACE_…}` by its value. Raises `PlaceholderMissing`, naming it."""
    for name in _PLACEHOLDER.findall(text):
        if not environment.get(name):
            message = Message(gettext_noop("The variable %(name)s is not set."), name=name)
            raise PlaceholderMissing(message)
    return _PLACEHOLDER.sub(lambda match: environment[match[1]], text)
