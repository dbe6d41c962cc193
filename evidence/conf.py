"""The settings of evidence as one frozen value."""

from __future__ import annotations

from pathlib import Path

from django.conf import settings
from pydantic import BaseModel, ConfigDict, Field

from evidence.environment import PiSettings


class EvidenceSettings(BaseModel):
    """What an operator decides about repositories and restructurers (spec 70, Settings)."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    home: Path
    restructurer: str = "rules"
    restructure_concurrency: int = Field(4, ge=1, le=32)
    git_paths: tuple[str, ...] = ()
    pi: PiSettings = PiSettings()
    lease_s: int = 600
    """How long a silent worker keeps a preparation; it renews after each source."""
    max_tries: int = 3
    """How often a preparation that kills its worker is tried before it fails."""

    @property
    def repositories(self) -> Path:
        """Give the folder of the bare repositories, one `<slug>.git` a workspace (spec 30)."""
        return self.home / "repositories"

    def repository_path(self, slug: str) -> Path:
        """Give the place of one workspace's repository."""
        return self.repositories / f"{slug}.git"


def current() -> EvidenceSettings:
    """Give the settings in force; a test that changes `settings.EVIDENCE` is seen at once."""
    return EvidenceSettings.model_validate(settings.EVIDENCE)
