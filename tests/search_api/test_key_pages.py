"""API keys in the admin: made by those who may, shown once, ended, never edited."""

from __future__ import annotations

import re

import pytest
from django.urls import reverse
from django.utils import timezone

from evidence.models import Workspace
from search_api import keys
from search_api.models import ApiKey, KeyRole

pytestmark = pytest.mark.django_db

ADD = "admin:search_api_apikey_add"
LIST = "admin:search_api_apikey_changelist"
VALID = {
    "label": "harness",
    "role": "reader",
    "workspaces": ["clinica", "altra"],
    "expires_at": "",
}


@pytest.fixture(autouse=True)
def registered():
    for slug in ("altra", "clinica", "terza"):
        Workspace.objects.create(slug=slug, title=slug.title(), language="it")


def test_a_new_key_is_shown_in_the_answer_and_never_again(admin_client):
    page = admin_client.post(reverse(ADD), VALID)
    [token] = re.findall(r"tht_[a-z0-9]{8}_[\w-]{43}", page.content.decode())
    row = ApiKey.objects.get()
    assert (row.workspaces, row.role, row.label) == (["altra", "clinica"], "reader", "harness")
    assert keys.check(token, now=row.created_at) == row
    assert "no-store" in page["Cache-Control"]
    for name, given in ((LIST, ()), ("admin:search_api_apikey_change", (row.pk,))):
        again = admin_client.get(reverse(name, args=given)).content.decode()
        assert token not in again
        assert row.digest not in again


@pytest.mark.parametrize(
    "wrong",
    [
        {"workspaces": []},
        {"workspaces": ["no-such"]},
        {"workspaces": ["clinica", "\0"]},
        {"role": "approver"},
        {"expires_at": "2001-01-01T00:00"},
        {"expires_at": "soon"},
        {"label": "x" * 101},
        {"label": "a\0b"},
    ],
)
def test_a_wrong_form_makes_no_key_and_keeps_what_was_typed(admin_client, wrong):
    page = admin_client.post(reverse(ADD), VALID | wrong)
    assert page.status_code == 200
    assert 'role="alert"' in page.content.decode()
    assert not ApiKey.objects.exists()


def test_only_those_who_may_add_keys_reach_the_form(client, django_user_model):
    client.force_login(django_user_model.objects.create_user("ada", is_staff=True))
    assert client.get(reverse(ADD)).status_code == 403
    assert client.post(reverse(ADD), VALID).status_code == 403
    assert not ApiKey.objects.exists()


def test_chosen_keys_are_ended_in_one_go(admin_client):
    row = keys.create(workspaces=["a"], role=KeyRole.READER, now=timezone.now()).row
    chosen = {"action": "end", "_selected_action": [row.pk]}
    admin_client.post(reverse(LIST), chosen)
    row.refresh_from_db()
    assert row.revoked_at is not None


def test_a_key_is_neither_edited_nor_deleted_even_by_a_superuser(admin_client):
    row = keys.create(workspaces=["a"], role=KeyRole.READER, now=timezone.now()).row
    change = reverse("admin:search_api_apikey_change", args=(row.pk,))
    assert admin_client.post(change, VALID | {"role": "writer"}).status_code == 403
    delete = reverse("admin:search_api_apikey_delete", args=(row.pk,))
    assert admin_client.post(delete, {"post": "yes"}).status_code == 403
    row.refresh_from_db()
    assert row.role == "reader"
