"""Settings that evidence reads without Django: typed, with defaults, and clear refusals."""

from __future__ import annotations

from pathlib import Path

import pytest

from evidence import environment, offline
from evidence.environment import EvidenceEnv, PiSettings, SettingInvalid


@pytest.fixture(autouse=True)
def _nothing_set(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in EvidenceEnv.model_fields:
        monkeypatch.delenv(f"PORTAL_{name.upper()}", raising=False)


def test_nothing_has_to_be_set() -> None:
    settings = offline.settings()
    assert (settings.restructurer, settings.restructure_concurrency) == ("rules", 4)
    assert settings.pi == PiSettings()


def test_what_is_set_reaches_pi(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PORTAL_PI_EXECUTABLE", "/opt/pi")
    monkeypatch.setenv("PORTAL_PI_PROVIDER", "openai")
    monkeypatch.setenv("PORTAL_PI_MODEL", "m-35b:low")
    monkeypatch.setenv("PORTAL_PI_TIMEOUT_S", "2.5")
    monkeypatch.setenv("PORTAL_PI_ENV", " OPENAI_API_KEY, ,HTTPS_PROXY")
    monkeypatch.setenv("PORTAL_PI_AGENT_DIR", "agent")
    assert offline.settings().pi == PiSettings(
        executable="/opt/pi",
        provider="openai",
        model="m-35b:low",
        timeout_s=2.5,
        env=("OPENAI_API_KEY", "HTTPS_PROXY"),
        agent_dir=Path.cwd() / "agent",
    )


def test_an_empty_agent_folder_is_none(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PORTAL_PI_AGENT_DIR", "")
    assert offline.settings().pi.agent_dir is None


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("PORTAL_PI_MODEL", "@cf/a-model"),
        ("PORTAL_PI_PROVIDER", "--tools"),
        ("PORTAL_PI_TIMEOUT_S", "soon"),
        ("PORTAL_PI_TIMEOUT_S", "0"),
        ("PORTAL_PI_TIMEOUT_S", "nan"),
        ("PORTAL_PI_TIMEOUT_S", "90000"),
        ("PORTAL_PI_ENV", "A KEY"),
        ("PORTAL_PI_ENV", "KEY=value"),
        ("PORTAL_PI_EXECUTABLE", ""),
        ("PORTAL_RESTRUCTURER", "gpt"),
        ("PORTAL_RESTRUCTURE_CONCURRENCY", "0"),
    ],
)
def test_what_cannot_be_used_is_refused_by_name(
    monkeypatch: pytest.MonkeyPatch, name: str, value: str
) -> None:
    monkeypatch.setenv(name, value)
    with pytest.raises(SettingInvalid, match=name):
        environment.load(EvidenceEnv, {})
