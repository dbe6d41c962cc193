"""What evidence reads from the environment of its process; the portal's settings build on it."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Annotated, Any, Final, Literal, TypeVar

from pydantic import BaseModel, ConfigDict, Field, ValidationError, field_validator
from pydantic_settings import BaseSettings, NoDecode, SettingsConfigDict

from evidence.faults import OperatorFault
from evidence.messages import Message, gettext_noop

PREFIX: Final = "PORTAL_"
CHECKOUT: Final = Path(__file__).resolve().parent.parent
MAX_PI_TIMEOUT_S: Final = 3_600
_VARIABLE = re.compile(r"[A-Za-z_][A-Za-z0-9_]*\Z")

Names = Annotated[tuple[str, ...], NoDecode]
"""A comma-separated list."""

Settings = TypeVar("Settings", bound=BaseSettings)


class SettingInvalid(OperatorFault):
    """A setting cannot be used; the message names the variable and what it takes."""

    code = "setting_invalid"


class PiSettings(BaseModel):
    """How Pi is started (spec 20, Pi). `env` names variables that it may inherit."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    executable: str = "pi"
    provider: str = ""
    model: str = ""
    timeout_s: float = 180.0
    env: tuple[str, ...] = ()
    agent_dir: Path | None = None


class EvidenceEnv(BaseSettings):
    """The settings that evidence needs with and without the portal (spec 70, Settings)."""

    model_config = SettingsConfigDict(env_prefix=PREFIX, frozen=True, extra="ignore")

    home: Path = Field(CHECKOUT / "var", description="Where all state lives.")
    restructurer: Literal["rules", "pi"] = Field(
        "rules", description="What turns a note into units: our rules, or a model through Pi."
    )
    restructure_concurrency: int = Field(
        4, ge=1, le=32, description="Restructurer calls side by side."
    )
    pi_executable: str = Field(
        "pi", min_length=1, description="The Pi command line, 0.73.1 or newer: a name or a path."
    )
    pi_provider: str = Field("", description="Pi's `--provider`; Pi's own default when empty.")
    pi_model: str = Field("", description="Pi's `--model`; Pi's own default when empty.")
    pi_timeout_s: float = Field(
        180, ge=1, le=MAX_PI_TIMEOUT_S, description="Seconds that Pi may take for one source."
    )
    pi_env: Names = Field((), description="Variables that Pi may see, such as `OPENAI_API_KEY`.")
    pi_agent_dir: Path | None = Field(
        None, description="Pi's own configuration folder; a new empty one for each call when unset."
    )

    @field_validator("pi_env", mode="before")
    @classmethod
    def _split_names(cls, value: object) -> object:
        return split(value)

    @field_validator("pi_env")
    @classmethod
    def _names_of_variables(cls, names: tuple[str, ...]) -> tuple[str, ...]:
        for name in names:
            if not _VARIABLE.match(name):
                raise ValueError(f"takes names of variables, which “{name}” is not")
        return names

    @field_validator("pi_provider", "pi_model")
    @classmethod
    def _no_other_argument(cls, value: str) -> str:
        if value.startswith(("@", "-")):  # Pi reads `@x` as a file (spec 90, Pi)
            raise ValueError("may not begin with @ or -; write <provider>/<model> instead")
        return value

    @field_validator("pi_agent_dir", mode="before")
    @classmethod
    def _unset_when_empty(cls, value: object) -> object:
        return value or None

    @field_validator("home", "pi_agent_dir")
    @classmethod
    def _absolute(cls, value: Path | None) -> Path | None:
        return value.expanduser().absolute() if value else None

    @property
    def pi(self) -> PiSettings:
        """Give what concerns Pi as one value."""
        return PiSettings(
            executable=self.pi_executable,
            provider=self.pi_provider,
            model=self.pi_model,
            timeout_s=self.pi_timeout_s,
            env=self.pi_env,
            agent_dir=self.pi_agent_dir,
        )


def split(value: object) -> object:
    """Give the parts of a comma-separated list, or a value of another type as it is."""
    if isinstance(value, str):
        return tuple(part.strip() for part in value.split(",") if part.strip())
    return value


def load(settings: type[Settings], given: dict[str, Any]) -> Settings:
    """Read settings from the environment, or from `given` where a name is there.

    Raises `SettingInvalid`, which names the variable.
    """
    try:
        return settings(**given)
    except ValidationError as error:
        first = error.errors()[0]
        raise SettingInvalid(
            Message(
                gettext_noop("%(variable)s cannot be used: %(reason)s (%(count)s wrong in all)."),
                variable=PREFIX + str(first["loc"][0]).upper(),
                reason=first["msg"],
                count=error.error_count(),
            ),
            hint=gettext_noop("`tht config` lists every setting with what it takes."),
        ) from None
