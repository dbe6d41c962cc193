"""Signed-in people of each group, and a mirrored workspace."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from django.contrib.auth.models import Group, User
from django.test import Client

from evidence import mirror
from evidence.models import PreparationRun, Workspace
from evidence.proposed import standing_of
from tests.makers import a_corpus, a_workspace

SignIn = Callable[[str], Client]


def seen(run: PreparationRun) -> dict[str, str]:
    """Give what the page of a proposal, as it is now, sends along with a decision."""
    return {"seen": standing_of(PreparationRun.objects.get(pk=run.pk))}


@pytest.fixture
def sign_in(db: None) -> SignIn:
    """Give a client signed in as somebody of a group."""

    def as_one_of(group: str) -> Client:
        user = User.objects.create_user(
            username=group.lower(), email=f"{group.lower()}@example.org", is_staff=True
        )
        user.groups.add(Group.objects.get(name=group))
        client = Client(headers={"accept-language": "en"})
        client.force_login(user)
        return client

    return as_one_of


@pytest.fixture
def reader(sign_in: SignIn) -> Client:
    return sign_in("Readers")


@pytest.fixture
def curator(sign_in: SignIn) -> Client:
    return sign_in("Curators")


@pytest.fixture
def owner(db: None) -> Client:
    """Give a client signed in as a superuser."""
    client = Client()
    client.force_login(User.objects.create_superuser("owner"))
    return client


@pytest.fixture
def workspace(portal_home: Path, db: None) -> Workspace:
    """Give a workspace with two units of two notes, all in order."""
    made = a_workspace(a_corpus(2))
    mirror.sync_workspace(made.slug)
    return Workspace.named(made.slug)
