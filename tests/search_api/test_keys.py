"""API keys: shown once, found fast, ended at once, rotated with an overlap."""

from __future__ import annotations

import hashlib
from datetime import UTC, datetime, timedelta

import pytest

from search_api import keys
from search_api.models import ApiKey, KeyRole

NOW = datetime(2026, 12, 1, 9, 0, tzinfo=UTC)
HOUR = timedelta(hours=1)

pytestmark = pytest.mark.django_db


def make(workspaces=("clinica",), role=KeyRole.READER, **more) -> keys.NewKey:
    return keys.create(workspaces=workspaces, role=role, now=NOW, **more)


def test_a_new_key_is_found_by_its_token():
    new = make(label="harness")
    assert keys.check(new.token, now=NOW) == new.row
    assert new.token.startswith(f"tht_{new.row.prefix}_")


def test_only_the_digest_of_the_secret_is_stored():
    new = make()
    secret = new.token.split("_", 2)[2]
    stored = ApiKey.objects.values().get()
    assert stored["digest"] == hashlib.sha256(secret.encode()).hexdigest()
    assert secret not in repr(stored)
    assert secret not in repr(new)


@pytest.mark.parametrize(
    "spoil",
    [
        lambda token: token[:-1] + ("a" if token[-1] != "a" else "b"),
        lambda token: token + "a",
        lambda token: token.replace("tht_", "tht-"),
        lambda token: token.upper(),
        lambda token: f"tht_00000000_{token.split('_', 2)[2]}",
        lambda token: "",
        lambda token: "tht__",
        lambda token: token + "\n",
        lambda token: "tht_" + "é" * 8 + "_" + "x" * 43,
        lambda token: "\0" * 60,
    ],
)
def test_anything_but_the_token_is_refused(spoil):
    token = make().token
    with pytest.raises(keys.KeyRefused):
        keys.check(spoil(token), now=NOW)


def test_what_is_not_shaped_like_a_key_costs_no_query(django_assert_num_queries):
    with django_assert_num_queries(0), pytest.raises(keys.KeyRefused):
        keys.check("Bearer nonsense", now=NOW)


def test_a_wrong_secret_costs_one_query_and_writes_nothing(django_assert_num_queries):
    prefix = make().row.prefix
    with django_assert_num_queries(1), pytest.raises(keys.KeyRefused):
        keys.check(f"tht_{prefix}_{'x' * 43}", now=NOW)
    assert ApiKey.objects.get().last_used_at is None


def test_the_last_use_is_written_once_a_minute(django_assert_num_queries):
    token = make().token
    with django_assert_num_queries(2):
        keys.check(token, now=NOW)
    with django_assert_num_queries(1):
        keys.check(token, now=NOW + timedelta(seconds=59))
    assert ApiKey.objects.get().last_used_at == NOW
    keys.check(token, now=NOW + timedelta(seconds=61))
    assert ApiKey.objects.get().last_used_at == NOW + timedelta(seconds=61)


def test_an_expired_key_is_refused_from_its_last_instant_on():
    token = make(expires_at=NOW + HOUR).token
    assert keys.check(token, now=NOW + HOUR - timedelta(seconds=1)).is_valid(NOW)
    with pytest.raises(keys.KeyRefused):
        keys.check(token, now=NOW + HOUR)


def test_a_revoked_key_is_refused_at_once():
    new = make()
    keys.revoke(prefix=new.row.prefix, now=NOW)
    with pytest.raises(keys.KeyRefused):
        keys.check(new.token, now=NOW)


def test_revoking_again_keeps_the_first_time():
    prefix = make().row.prefix
    keys.revoke(prefix=prefix, now=NOW)
    assert keys.revoke(prefix=prefix, now=NOW + HOUR).revoked_at == NOW


def test_a_rotated_key_works_until_the_overlap_is_over():
    old = make(label="harness", workspaces=["b", "a"], role=KeyRole.WRITER)
    new = keys.rotate(prefix=old.row.prefix, now=NOW, overlap=HOUR)
    assert keys.check(old.token, now=NOW).replaced_by == new.row
    with pytest.raises(keys.KeyRefused):
        keys.check(old.token, now=NOW + HOUR)
    row = keys.check(new.token, now=NOW + HOUR)
    assert (row.role, row.workspaces, row.label) == ("writer", ["a", "b"], "harness")


def test_rotation_never_makes_a_key_live_longer():
    ends = NOW + HOUR
    old = make(expires_at=ends)
    new = keys.rotate(prefix=old.row.prefix, now=NOW)
    assert new.row.expires_at == ends
    assert ApiKey.objects.get(pk=old.row.pk).expires_at == ends


def test_a_key_is_rotated_once():
    prefix = make().row.prefix
    keys.rotate(prefix=prefix, now=NOW)
    with pytest.raises(keys.KeyUnusable):
        keys.rotate(prefix=prefix, now=NOW)
    assert ApiKey.objects.count() == 2


def test_a_dead_key_is_not_rotated_back_to_life():
    prefix = make().row.prefix
    keys.revoke(prefix=prefix, now=NOW)
    with pytest.raises(keys.KeyUnusable):
        keys.rotate(prefix=prefix, now=NOW)


@pytest.mark.parametrize("workspaces", [[], ["Clinica"], ["a", "b c"], ["é"], ["x"] * 51 + ["\0"]])
def test_a_key_needs_workspaces_that_can_exist(workspaces):
    with pytest.raises(keys.KeyUnusable):
        make(workspaces=workspaces)


def test_a_key_cannot_be_born_dead():
    with pytest.raises(keys.KeyUnusable):
        make(expires_at=NOW)


@pytest.mark.parametrize("prefix", ["", "zzzzzzzz", "\0", "é"])
@pytest.mark.parametrize("step", [keys.revoke, keys.rotate])
def test_an_unknown_prefix_is_named_and_changes_nothing(step, prefix):
    make()
    with pytest.raises(keys.KeyNotFound):
        step(prefix=prefix, now=NOW)
    assert ApiKey.objects.filter(revoked_at=None).count() == 1
