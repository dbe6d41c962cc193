"""Every setting has a default, takes what it says, and names its variable when it does not."""

from __future__ import annotations

from pathlib import Path

import pytest

from evidence.environment import PREFIX, SettingInvalid
from portal import env
from portal.env import Env

REFUSED = {
    "restructurer": "magic",
    "restructure_concurrency": "0",
    "pi_executable": "",
    "pi_provider": "@secrets",
    "pi_model": "--help",
    "pi_timeout_s": "soon",
    "pi_env": "OPENAI_API_KEY,A=B",
    "profile": "cloud",
    "debug": "perhaps",
    "bind": "8000",
    "sign_in": "trust",
    "broker_url": "amqp://guest@localhost",
    "vectors": "faiss",
    "embedder": "word2vec",
    "rate_limit": "-1",
    "qdrant_url": "localhost:6333",
    "embedder_url": "https://user:canary@models.example/v1",
    "embedder_model": "m" * 121,
    "search_log_days": "-1",
    "search_log_text": "perhaps",
}
ANY_TEXT = {"home", "secret_key", "allowed_hosts", "git_paths", "pi_agent_dir"} | {
    "qdrant_api_key",
    "embedder_api_key",
}
CHECKED_ELSEWHERE = {"database_url"}


@pytest.fixture(autouse=True)
def _no_settings(monkeypatch, tmp_path):
    for name in Env.model_fields:
        monkeypatch.delenv(PREFIX + name.upper(), raising=False)
    monkeypatch.setenv("PORTAL_HOME", str(tmp_path / "home"))


@pytest.mark.parametrize(("name", "value"), REFUSED.items())
def test_a_value_that_cannot_be_used_is_refused_by_the_name_of_its_variable(
    monkeypatch, name, value
):
    variable = PREFIX + name.upper()
    monkeypatch.setenv(variable, value)
    with pytest.raises(SettingInvalid) as refused:
        env.load()
    assert str(refused.value.message).startswith(f"{variable} cannot be used: ")
    assert "(1 wrong in all)" in str(refused.value.message)
    assert refused.value.hint


def test_every_setting_is_tried_with_a_bad_value_or_takes_any_text():
    tried = REFUSED.keys() | ANY_TEXT | CHECKED_ELSEWHERE
    assert set(Env.model_fields) <= tried


def test_every_setting_says_what_it_is_for():
    assert all(field.description for field in Env.model_fields.values())


@pytest.mark.parametrize(
    "address",
    [
        "ftp://q",
        "//q",
        "http://",
        "http://:6333",
        "http://q:0",
        "http://q:99999",
        "http://q?api-key=x",
        "http://q#x",
        "http://[::1",
        "http://a b",
    ],
)
def test_an_address_that_nobody_could_call_is_refused(monkeypatch, address):
    monkeypatch.setenv("PORTAL_QDRANT_URL", address)
    with pytest.raises(SettingInvalid, match="PORTAL_QDRANT_URL"):
        env.load()


@pytest.mark.parametrize(
    "address", ["http://127.0.0.1:6333", "https://q.example/qdrant", "http://[::1]:6333"]
)
def test_an_address_that_can_be_called_is_taken(monkeypatch, address):
    monkeypatch.setenv("PORTAL_QDRANT_URL", address)
    assert env.load().qdrant_url == address


@pytest.mark.parametrize(
    ("given", "missing"),
    [
        ({"VECTORS": "server"}, "PORTAL_QDRANT_URL"),
        ({"EMBEDDER": "openai", "EMBEDDER_MODEL": "m"}, "PORTAL_EMBEDDER_URL"),
        ({"EMBEDDER": "openai", "EMBEDDER_URL": "http://m/v1"}, "PORTAL_EMBEDDER_MODEL"),
    ],
)
def test_a_server_that_is_chosen_and_not_named_is_refused(monkeypatch, given, missing):
    for name, value in given.items():
        monkeypatch.setenv(PREFIX + name, value)
    with pytest.raises(SettingInvalid, match=f"{missing} cannot be used: .* is needed"):
        env.load()


def test_several_wrong_settings_are_counted(monkeypatch):
    monkeypatch.setenv("PORTAL_BIND", "nowhere")
    monkeypatch.setenv("PORTAL_DEBUG", "perhaps")
    with pytest.raises(SettingInvalid, match=r"\(2 wrong in all\)"):
        env.load()


@pytest.mark.parametrize(
    "address", ["", "localhost", ":8000", "127.0.0.1:", "127.0.0.1:0", "127.0.0.1:65536", "a:²"]
)
def test_an_address_without_a_host_and_a_real_port_is_refused(monkeypatch, address):
    monkeypatch.setenv("PORTAL_BIND", address)
    with pytest.raises(SettingInvalid, match="PORTAL_BIND"):
        env.load()


def test_without_a_single_variable_there_is_a_default_for_everything(monkeypatch):
    monkeypatch.delenv("PORTAL_HOME")
    found = env.load()
    assert found.home == Path(__file__).resolve().parents[2] / "var"
    assert found.bind == "127.0.0.1:8000"
    assert (found.profile, found.debug, found.database_url) == ("embedded", False, "")


def test_lists_are_split_at_commas_and_a_home_is_made_absolute(monkeypatch):
    monkeypatch.setenv("PORTAL_ALLOWED_HOSTS", " portal.example , 127.0.0.1,")
    monkeypatch.setenv("PORTAL_HOME", "~/portal")
    found = env.load()
    assert found.allowed_hosts == ("portal.example", "127.0.0.1")
    assert found.home == Path.home() / "portal"


@pytest.mark.parametrize("name", sorted(env.SECRETS & set(Env.model_fields)))
def test_a_secret_may_come_from_a_file_and_is_never_shown(monkeypatch, tmp_path, name):
    (tmp_path / "secret").write_text("redis://:hidden@localhost/0\n")
    monkeypatch.setenv(f"{PREFIX}{name.upper()}_FILE", str(tmp_path / "secret"))
    found = env.load()
    assert getattr(found, name) == "redis://:hidden@localhost/0"
    assert env.shown(found)[PREFIX + name.upper()] == "(set)"
    assert "hidden" not in str(env.shown(found))


def test_a_secret_file_that_is_not_there_is_refused_by_the_name_of_its_variable(
    monkeypatch, tmp_path
):
    monkeypatch.setenv("PORTAL_SECRET_KEY_FILE", str(tmp_path / "nothing"))
    with pytest.raises(SettingInvalid, match="PORTAL_SECRET_KEY_FILE names a file"):
        env.load()


def test_a_secret_file_that_is_not_text_is_refused(monkeypatch, tmp_path):
    (tmp_path / "secret").write_bytes(b"\xff\xfe")
    monkeypatch.setenv("PORTAL_SECRET_KEY_FILE", str(tmp_path / "secret"))
    with pytest.raises(SettingInvalid, match="PORTAL_SECRET_KEY_FILE"):
        env.load()


def test_a_refused_secret_is_not_repeated_in_the_message(monkeypatch):
    monkeypatch.setenv("PORTAL_BROKER_URL", "amqp://:canary@localhost")
    with pytest.raises(SettingInvalid) as refused:
        env.load()
    assert "canary" not in str(refused.value.message)


def test_the_embedded_profile_makes_its_secret_key_once_and_only_its_owner_reads_it():
    found = env.load()
    key = found.django_secret_key
    assert len(key) >= 50
    assert (found.home / "secret_key").stat().st_mode & 0o777 == 0o600
    assert env.load().django_secret_key == key


def test_the_server_profile_makes_no_key_of_its_own(monkeypatch):
    monkeypatch.setenv("PORTAL_PROFILE", "server")
    found = env.load()
    assert found.django_secret_key == ""
    assert not found.home.exists()
