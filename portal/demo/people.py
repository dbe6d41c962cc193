"""The demo's people: a curator and an approver to sign in as, and the author of its notes."""

from __future__ import annotations

import json
import os
import secrets
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

from django.contrib.auth.hashers import make_password
from django.contrib.auth.models import Group, User

from evidence.ports import Actor

AUTHOR: Final = Actor("demo", "Demo", "demo@portal.invalid")
CURATOR: Final = Actor("curatrice", "Chiara Curatrice", "curatrice@portal.invalid")
APPROVER: Final = Actor("approvatore", "Aldo Approvatore", "approvatore@portal.invalid")
SIGN_INS: Final = {CURATOR: "Curators", APPROVER: "Approvers"}


class Secrets:
    """The passwords and the API key made at the first run, kept in a file only its owner reads."""

    def __init__(self, path: Path) -> None:
        """Read the file, or make it (0600) with fresh passwords."""
        self._path = path
        if not path.exists():
            made = {actor.username: secrets.token_urlsafe(9) for actor in SIGN_INS}
            self._write({"passwords": made, "key": ""})
        self._content: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))

    @property
    def passwords(self) -> Mapping[str, str]:
        """Give the passwords by user name."""
        return dict(self._content["passwords"])

    @property
    def key(self) -> str:
        """Give the API key, or "" before there is one."""
        return str(self._content["key"])

    def keep_key(self, token: str) -> None:
        """Keep a new API key."""
        self._content["key"] = token
        self._write(self._content)

    def _write(self, content: Mapping[str, Any]) -> None:
        fresh = self._path.with_suffix(".new")
        fresh.unlink(missing_ok=True)
        descriptor = os.open(fresh, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        with os.fdopen(descriptor, "w", encoding="utf-8") as file:
            json.dump(content, file, indent=2)
        fresh.replace(self._path)


def ensure(home: Path) -> Secrets:
    """Create whoever is missing and give their secrets; safe to repeat."""
    kept = Secrets(home / "demo-users")
    for actor, group in SIGN_INS.items():
        user = _create(actor, kept.passwords[actor.username])
        user.groups.add(Group.objects.get(name=group))
    _create(AUTHOR, None)
    return kept


def _create(actor: Actor, password: str | None) -> User:
    """Give the user of that name, made if there is none; no password means no sign-in."""
    first, _space, last = actor.name.partition(" ")
    user, _made = User.objects.get_or_create(
        username=actor.username,
        defaults={
            "first_name": first,
            "last_name": last,
            "email": actor.email,
            "is_staff": password is not None,
            "password": make_password(password),
        },
    )
    return user
