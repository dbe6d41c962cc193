"""Every setting of the portal, typed: from the environment, with a default or a clear error."""

from __future__ import annotations

import os
import secrets
from functools import cached_property
from pathlib import Path
from typing import Final, Literal
from urllib.parse import urlsplit

from pydantic import Field, field_validator

from evidence import environment
from evidence.environment import PREFIX, EvidenceEnv, Names, SettingInvalid
from evidence.messages import Message, gettext_noop
from publishing.environment import PublishingEnv

SECRETS: Final = frozenset(
    {
        "secret_key",
        "database_url",
        "broker_url",
        "qdrant_api_key",
        "embedder_api_key",
        "hook_secret",
    }
)
"""Settings whose value is never shown; URLs are here because they may carry a password."""


class Env(EvidenceEnv, PublishingEnv):
    """The settings of one process (spec 70, Settings), those of the packages among them."""

    profile: Literal["embedded", "server"] = Field(
        "embedded",
        description="`embedded` runs everything on one machine; `server` is for production.",
    )
    debug: bool = Field(default=False, description="Django's debug pages; never in production.")
    secret_key: str = Field("", description="Made once in PORTAL_HOME by the embedded profile.")
    allowed_hosts: Names = Field(
        ("127.0.0.1", "localhost", "[::1]"), description="Host names the portal answers to."
    )
    bind: str = Field("127.0.0.1:8000", description="Address and port of the web process.")
    sign_in: Literal["password"] = Field("password", description="How people sign in.")
    database_url: str = Field("", description="`postgresql://…`; SQLite in PORTAL_HOME when empty.")
    broker_url: str = Field("", description="`redis://…`; the embedded Valkey when empty.")
    git_paths: Names = Field((), description="Folders that local repositories may be added from.")
    search_log_days: int = Field(
        30, ge=1, le=3_650, description="Days that searches and gaps are kept."
    )
    search_log_text: bool = Field(
        default=True,
        description="Whether the text of questions is kept; without it no gaps show, and no "
        "release is tried on them.",
    )
    rate_limit: int = Field(
        600, ge=1, le=1_000_000, description="Requests a minute and API key, per web process."
    )

    @field_validator("allowed_hosts", "git_paths", mode="before")
    @classmethod
    def _split(cls, value: object) -> object:
        return environment.split(value)

    @field_validator("bind")
    @classmethod
    def _address(cls, value: str) -> str:
        host, _, port = value.rpartition(":")
        if not host or not port.isdigit() or not 0 < int(port) < 65536:
            raise ValueError("takes <address>:<port>, such as 127.0.0.1:8000")
        return value

    @field_validator("broker_url")
    @classmethod
    def _redis(cls, value: str) -> str:
        if value and urlsplit(value).scheme not in {"redis", "rediss"}:
            raise ValueError("takes redis://<address>:<port>/<number>")
        return value

    @cached_property
    def django_secret_key(self) -> str:
        """Give the configured key, or the one kept in PORTAL_HOME, made at the first use."""
        if self.secret_key or self.profile == "server":
            return self.secret_key
        return _kept_secret(self.home / "secret_key")


def _kept_secret(path: Path) -> str:
    path.parent.mkdir(parents=True, exist_ok=True)
    try:
        descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    except FileExistsError:
        return path.read_text().strip()
    with os.fdopen(descriptor, "w") as file:
        file.write(secrets.token_urlsafe(64))
    return path.read_text().strip()


def _from_files() -> dict[str, str]:
    """Read `PORTAL_<NAME>_FILE` for every secret, as Docker and systemd hand them over."""
    found = {}
    for name in SECRETS & set(Env.model_fields):
        variable = f"{PREFIX}{name.upper()}_FILE"
        if path := os.environ.get(variable):
            try:
                found[name] = Path(path).read_text(encoding="utf-8").strip()
            except (OSError, UnicodeDecodeError) as error:
                raise SettingInvalid(
                    Message(
                        gettext_noop("%(variable)s names a file that cannot be read: %(error)s"),
                        variable=variable,
                        error=error,
                    )
                ) from error
    return found


def load() -> Env:
    """Give the settings of this process. Raises `SettingInvalid`, which names the variable."""
    return environment.load(Env, _from_files())


def shown(env: Env) -> dict[str, str]:
    """Give every variable with the value in force, secrets masked, for `tht config`."""
    return {
        PREFIX + name.upper(): ("(set)" if getattr(env, name) else "")
        if name in SECRETS
        else _as_text(getattr(env, name))
        for name in Env.model_fields
    }


def _as_text(value: object) -> str:
    if value is None:
        return ""
    return ",".join(map(str, value)) if isinstance(value, tuple) else str(value)
